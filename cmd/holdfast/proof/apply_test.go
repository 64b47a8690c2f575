//go:build sandbox

package proof

import (
	"context"
	"errors"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// dryRun has the server look at the changes and returns them as it would store
// them; none where it refuses one.
func (t *trial) dryRun(ctx context.Context, changes []change) ([]change, error) {
	var out []change
	for _, c := range changes {
		is, err := t.send(ctx, c, true)
		if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, change{c.was, is})
	}
	return out, nil
}

// send makes the object, or patches it where it exists, and returns it as the
// server stores it.
func (t *trial) send(ctx context.Context, c change, dry bool) (client.Object, error) {
	is, ok := c.is.DeepCopyObject().(client.Object)
	if !ok {
		return nil, fmt.Errorf("a copy of a %T is none", c.is)
	}
	is.SetManagedFields(nil)
	if c.was == nil {
		var opts []client.CreateOption
		if dry {
			opts = append(opts, client.DryRunAll)
		}
		return is, t.admin.Create(ctx, is, opts...)
	}
	is.SetGeneration(c.was.GetGeneration()) // the server counts it
	is.SetManagedFields(c.was.GetManagedFields())
	var opts []client.PatchOption
	if dry {
		opts = append(opts, client.DryRunAll)
	}
	return is, t.admin.Patch(ctx, is, client.MergeFrom(c.was), opts...)
}

// apply does the changes, one after the other without a pause.
func (t *trial) apply(ctx context.Context, changes []change) error {
	for _, c := range changes {
		if _, err := t.send(ctx, c, false); err != nil {
			return fmt.Errorf("%s %s: %w", kindName(c.is), c.is.GetName(), err)
		}
	}
	return nil
}

// remove has the server delete what the trial made, without waiting for it.
func (t *trial) remove(ctx context.Context) {
	all := []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: t.scene.id}}}
	for _, q := range t.scene.queues {
		all = append(all, q)
	}
	for _, c := range t.scene.cohorts {
		all = append(all, c)
	}
	// Jobs first: their pods need not end before the namespace's other objects do.
	err := t.admin.DeleteAllOf(ctx, &batchv1.Job{}, client.InNamespace(t.scene.id), client.PropagationPolicy(metav1.DeletePropagationBackground))
	for _, o := range all {
		err = errors.Join(err, client.IgnoreNotFound(t.admin.Delete(ctx, o)))
	}
	if err != nil {
		t.log("%s is not removed: %v", t.scene.id, err)
	}
}

// owns reports whether an object without a namespace is the scene's.
func (s *scene) owns(name string) bool { return strings.HasPrefix(name, s.id+"-") }

// objects are all of the world's that a preview may need.
func (s *state) objects() []client.Object {
	var out []client.Object
	for _, o := range s.cohorts {
		out = append(out, o)
	}
	for _, o := range s.queues {
		out = append(out, o)
	}
	for _, o := range s.locals {
		out = append(out, o)
	}
	for _, o := range s.workloads {
		out = append(out, o)
	}
	return out
}

// behind says what of the world the console has not seen yet; empty: nothing.
func behind(snap *store.Snapshot, now *state) string {
	for _, w := range now.workloads {
		row := snap.WorkloadByKey(world.Key{Namespace: w.Namespace, Name: w.Name})
		if row == nil || row.ResourceVersion != w.ResourceVersion {
			return "Workload " + w.Name
		}
	}
	for _, q := range now.queues {
		if row := snap.ClusterQueue(q.Name); row == nil || row.ResourceVersion != q.ResourceVersion {
			return "ClusterQueue " + q.Name
		}
	}
	for _, l := range now.locals {
		if row := snap.LocalQueue(world.Key{Namespace: l.Namespace, Name: l.Name}); row == nil || row.ResourceVersion != l.ResourceVersion {
			return "LocalQueue " + l.Name
		}
	}
	for _, c := range now.cohorts {
		if row := snap.Cohort(c.Name); row == nil || row.ResourceVersion != c.ResourceVersion {
			return "Cohort " + c.Name
		}
	}
	return ""
}
