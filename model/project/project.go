// Package project turns Kueue's typed objects into the small rows of package
// world. Nothing of an object survives in its row but copied or interned
// strings, so the object can be collected at once. All text is made safe to
// draw on the way. The functions are pure and safe for concurrent use.
package project

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unique"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// Row returns the row of a Kueue object of version v1beta2, or of a Namespace,
// LimitRange, RuntimeClass or PriorityClass. It fails for any other type.
func Row(obj runtime.Object) (any, error) {
	switch o := obj.(type) {
	case *kueue.Workload:
		return Workload(o), nil
	case *kueue.ClusterQueue:
		return ClusterQueue(o), nil
	case *kueue.LocalQueue:
		return LocalQueue(o), nil
	case *kueue.Cohort:
		return Cohort(o), nil
	case *kueue.ResourceFlavor:
		return Flavor(o), nil
	case *kueue.AdmissionCheck:
		return Check(o), nil
	case *kueue.WorkloadPriorityClass:
		return &world.PriorityClass{Meta: meta(&o.ObjectMeta), Value: o.Value}, nil
	case *corev1.LimitRange:
		return &world.LimitRange{Meta: meta(&o.ObjectMeta), Limits: o.Spec.Limits}, nil
	case *nodev1.RuntimeClass:
		return runtimeClass(o), nil
	case *schedulingv1.PriorityClass:
		return &world.PodPriorityClass{Meta: meta(&o.ObjectMeta), Value: o.Value}, nil
	case *kueue.Topology:
		return topology(o), nil
	case *corev1.Namespace:
		return &world.Namespace{Meta: meta(&o.ObjectMeta), Labels: o.Labels}, nil
	}
	return nil, fmt.Errorf("no row is made from a %T", obj)
}

// intern cleans s and shares one copy of it among all rows.
func intern[S ~string](s S) string {
	if s == "" {
		return ""
	}
	return unique.Make(text.Clean(string(s))).Value()
}

func meta(m *metav1.ObjectMeta) world.Meta {
	tool, as := Owned(m)
	return world.Meta{
		Key:             world.Key{Namespace: intern(m.Namespace), Name: text.Clean(m.Name)},
		UID:             m.UID,
		ResourceVersion: m.ResourceVersion,
		Generation:      m.Generation,
		Created:         m.CreationTimestamp.Time,
		ManagedBy:       tool,
		ManagedAs:       intern(as),
		Deleting:        m.DeletionTimestamp != nil,
	}
}

func conditions(in []metav1.Condition) world.Conditions {
	if len(in) == 0 {
		return nil
	}
	out := make(world.Conditions, 0, len(in))
	for i := range in {
		c := &in[i]
		out = append(out, world.Condition{
			Type: intern(c.Type), Status: intern(c.Status), Reason: intern(c.Reason), Message: intern(c.Message),
			At: c.LastTransitionTime.Time, ObservedGeneration: c.ObservedGeneration,
		})
	}
	return out
}

// ParseHold reads the value of the hold annotation. A record that cannot be read
// has Problem set to the reason.
func ParseHold(raw string) *world.HoldRecord {
	r := &world.HoldRecord{}
	if err := json.Unmarshal([]byte(raw), r); err != nil {
		return &world.HoldRecord{Problem: text.Clean("the hold record is not readable: " + err.Error())}
	}
	if r.Version != 1 {
		return &world.HoldRecord{Version: r.Version, Problem: fmt.Sprintf("the hold record has version %d, this program reads version 1", r.Version)}
	}
	switch r.Previous {
	case world.StopNone, world.StopHold, world.StopHoldAndDrain:
	default:
		return &world.HoldRecord{Version: 1, Problem: text.Clean(fmt.Sprintf("the hold record names a previous stopPolicy %q that Kueue does not know", r.Previous))}
	}
	r.By, r.Reason = text.Clean(r.By), text.Clean(r.Reason)
	return r
}

func stopPolicy(p *kueue.StopPolicy) world.StopPolicy {
	if p == nil || *p == "" {
		return world.StopNone
	}
	return world.StopPolicy(intern(*p))
}

func sortUses(us []world.Use) []world.Use {
	slices.SortFunc(us, func(a, b world.Use) int {
		switch {
		case a.FlavorResource == b.FlavorResource:
			return 0
		case a.Less(b.FlavorResource):
			return -1
		}
		return 1
	})
	return us
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}
