package actions

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kueue/apis/kueue/v1beta1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/convert"
	"cli.holdfast.dev/holdfast/model/impact"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// NotComputed is what Plan.Unknown says until Preview has an answer.
const NotComputed = "Who will be admitted or preempted because of this change is not computed."

// Preview returns the plan with what Kueue will do when it is carried out
// (Options.Impact): with Impact set, and with a stronger question where somebody
// may lose what they have. A plan that changes nothing for Kueue's scheduler, and
// any where nobody computes it, comes back as it is. It blocks until the answer is
// there or ctx ends, and changes nothing; progress may be nil.
func (d *Desk) Preview(ctx context.Context, p Plan, progress func(impact.Progress)) Plan {
	if d.opts.Impact == nil || len(p.Edits) == 0 {
		return p
	}
	r := d.opts.Impact(ctx, p.Edits, progress)
	p.Impact = &r
	p.Unknown = slices.DeleteFunc(slices.Clone(p.Unknown), func(s string) bool { return strings.HasPrefix(s, NotComputed) })
	if r.NotComputed != "" {
		p.Unknown = append(p.Unknown, text.Clean(NotComputed+" "+r.NotComputed))
	}
	if p.Confirm.Level < ConfirmName && mayHurt(p.Action, &r) {
		p.Confirm = Confirm{ConfirmName, p.Subject.Name}
	}
	return p
}

// mayHurt reports whether somebody may lose quota. An answer that is not whole
// excludes nothing; only a hold by itself starts nobody who could take it from
// others.
func mayHurt(a Action, r *impact.Result) bool {
	whole := r.NotComputed == "" && r.Bounded == "" && len(r.Restless) == 0
	return len(r.Preempted)+len(r.Evicted) > 0 || !whole && a != Hold
}

// willBe adds the object to the plan's edits as the server's dry-run shows it, and
// says that what follows from it is not computed yet. What Kueue's scheduler reads
// of an object is not in its metadata or status: where only those change, nothing
// follows.
func (p *Plan) willBe(ref world.Ref, live, after *unstructured.Unstructured) {
	if sameSpec(live, after) {
		return
	}
	p.Unknown = append(p.Unknown, NotComputed)
	o, err := hubOf(after)
	if err != nil {
		p.Unknown = append(p.Unknown, text.Clean(fmt.Sprintf("%s cannot be read for a preview: %v", ref, err)))
		return
	}
	p.Edits = append(p.Edits, impact.Edit{Kind: ref.Kind, Key: ref.Key, Object: o})
}

func sameSpec(a, b *unstructured.Unstructured) bool {
	rest := func(o *unstructured.Unstructured) map[string]any {
		out := map[string]any{}
		for k, v := range o.Object {
			if k != "metadata" && k != "status" {
				out[k] = v
			}
		}
		return out
	}
	return len(mergeDiff(rest(a), rest(b))) == 0
}

// hubOf reads the server's JSON as an object of version v1beta2.
func hubOf(o *unstructured.Unstructured) (runtime.Object, error) {
	if world.Kind(o.GetKind()) == world.KindWorkload {
		w, _, err := workloadOf(o)
		return w, err
	}
	out := blank(o.GetAPIVersion(), world.Kind(o.GetKind()))
	if out == nil {
		return nil, fmt.Errorf("%s %s is not known", o.GetAPIVersion(), o.GetKind())
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, out); err != nil {
		return nil, err
	}
	return convert.ToHub(out)
}

// blank returns a new object of the version and kind, of those whose change a
// preview can be of; nil for others.
func blank(apiVersion string, k world.Kind) runtime.Object {
	old, latest := v1beta1.SchemeGroupVersion.String(), kueue.SchemeGroupVersion.String()
	objects := map[world.Kind]map[string]runtime.Object{
		world.KindClusterQueue:          {old: &v1beta1.ClusterQueue{}, latest: &kueue.ClusterQueue{}},
		world.KindLocalQueue:            {old: &v1beta1.LocalQueue{}, latest: &kueue.LocalQueue{}},
		world.KindCohort:                {old: &v1beta1.Cohort{}, latest: &kueue.Cohort{}},
		world.KindResourceFlavor:        {old: &v1beta1.ResourceFlavor{}, latest: &kueue.ResourceFlavor{}},
		world.KindAdmissionCheck:        {old: &v1beta1.AdmissionCheck{}, latest: &kueue.AdmissionCheck{}},
		world.KindWorkloadPriorityClass: {old: &v1beta1.WorkloadPriorityClass{}, latest: &kueue.WorkloadPriorityClass{}},
	}
	return objects[k][apiVersion]
}
