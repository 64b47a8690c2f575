package actions

import (
	"context"
	"fmt"
	"os/exec"
	"sort"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"cli.holdfast.dev/holdfast/model/impact"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// Offline stands in for a Desk where there is no cluster but a file of its
// objects: it tells what the file holds and refuses everything else. It is safe
// for concurrent use and never blocks.
type Offline struct {
	Name     string // of the file
	Snapshot *store.Snapshot
	Events   []world.Event
	Pods     []world.Pod
	Nodes    []world.Node
	// HasPods, HasNodes and HasEvents say that the file holds such objects at all.
	HasPods, HasNodes, HasEvents bool
	ReadAt                       time.Time
}

func (o *Offline) refuse() error {
	return &Problem{What: o.why(), Do: "Open the console on the cluster itself to change anything."}
}

func (o *Offline) why() string {
	return fmt.Sprintf("this is the file %s, not a cluster: nothing can be changed", o.Name)
}

// May refuses everything.
func (o *Offline) May(world.Ref, Action) (ok bool, why string) { return false, o.why() }

// Granted is never so: there is no server that could have said it.
func (o *Offline) Granted(world.Ref) bool { return false }

// PlanHold refuses.
func (o *Offline) PlanHold(context.Context, world.Ref, bool, string) (Plan, error) {
	return Plan{}, o.refuse()
}

// PlanResume refuses.
func (o *Offline) PlanResume(context.Context, world.Ref) (Plan, error) { return Plan{}, o.refuse() }

// PlanDeactivate refuses.
func (o *Offline) PlanDeactivate(context.Context, world.Ref, string) (Plan, error) {
	return Plan{}, o.refuse()
}

// PlanReactivate refuses.
func (o *Offline) PlanReactivate(context.Context, world.Ref, string) (Plan, error) {
	return Plan{}, o.refuse()
}

// PlanPriority refuses.
func (o *Offline) PlanPriority(context.Context, world.Ref, string, string) (Plan, error) {
	return Plan{}, o.refuse()
}

// ReadFile refuses: what it holds could not be applied.
func (o *Offline) ReadFile(context.Context, string) (File, error) { return File{}, o.refuse() }

// PlanSeveral refuses.
func (o *Offline) PlanSeveral(context.Context, Several) (Plan, error) { return Plan{}, o.refuse() }

// PlanFile refuses.
func (o *Offline) PlanFile(context.Context, File) (Plan, error) { return Plan{}, o.refuse() }

// Preview returns the plan as it is: there is never one.
func (o *Offline) Preview(_ context.Context, p Plan, _ func(impact.Progress)) Plan { return p }

// PlanExport refuses: there is a file already.
func (o *Offline) PlanExport(context.Context, Scope) (Plan, error) { return Plan{}, o.refuse() }

// OpenEdit refuses.
func (o *Offline) OpenEdit(context.Context, world.Ref) (Draft, error) { return Draft{}, o.refuse() }

// PlanEdit refuses.
func (o *Offline) PlanEdit(context.Context, Draft) (Plan, error) { return Plan{}, o.refuse() }

// RenewDraft refuses: there is never a draft.
func (o *Offline) RenewDraft(context.Context, Draft) (Draft, error) { return Draft{}, o.refuse() }

// AnnotateDraft refuses: there is never a draft.
func (o *Offline) AnnotateDraft(Draft, error) error { return o.refuse() }

// LeaveDraft does nothing: there is never a draft.
func (o *Offline) LeaveDraft(Draft) {}

// CloseDraft refuses: there is never a draft.
func (o *Offline) CloseDraft(Draft) error { return o.refuse() }

// EditorCommand is never asked for, since there is no draft.
func (o *Offline) EditorCommand(Draft) *exec.Cmd { return exec.Command("false") }

// Execute refuses.
func (o *Offline) Execute(context.Context, Plan, string) (Result, error) {
	return Result{}, o.refuse()
}

// Detail tells what the file holds of the object: its conditions, its events and,
// of a Workload, its pods, of a ResourceFlavor, its nodes.
func (o *Offline) Detail(_ context.Context, ref world.Ref) (Detail, error) {
	out := Detail{ReadAt: o.ReadAt, YAML: []string{"The text of the object is in " + o.Name + "."}}
	meta, conds, ok := o.find(ref)
	if !ok {
		return Detail{}, &Problem{What: ref.String() + " is not in " + o.Name, Do: "Press Esc to go back."}
	}
	out.Timeline = append(out.Timeline, Entry{At: meta.Created, Kind: "object", Type: "created"})
	for _, c := range conds {
		out.Timeline = append(out.Timeline, Entry{At: c.At, Kind: "condition", Type: c.Type + "=" + c.Status, Reason: c.Reason, Text: c.Message})
	}
	if !o.HasEvents {
		out.EventsUnknown = "the file holds no events"
	}
	for _, e := range o.Events {
		if e.Kind == ref.Kind && e.Object == ref.Key && (e.ObjectUID == "" || ref.UID == "" || e.ObjectUID == ref.UID) {
			out.Timeline = append(out.Timeline, Entry{At: e.At, Kind: "event", Type: e.Type, Reason: e.Reason, Text: e.Message, Count: e.Count})
		}
	}
	sort.SliceStable(out.Timeline, func(i, j int) bool { return out.Timeline[i].At.Before(out.Timeline[j].At) })
	if w := o.Snapshot.WorkloadByKey(ref.Key); ref.Kind == world.KindWorkload && w != nil {
		out.Pods, out.PodsUnknown = tied(w, o.Pods)
		if !o.HasPods {
			out.PodsUnknown = "the file holds no pods"
		}
	}
	if f := o.Snapshot.Flavor(ref.Name); ref.Kind == world.KindResourceFlavor && f != nil && len(f.NodeLabels) > 0 {
		want := labels.SelectorFromSet(f.NodeLabels)
		for _, n := range o.Nodes {
			if want.Matches(labels.Set(n.Labels)) {
				out.Nodes = append(out.Nodes, n)
			}
		}
		if !o.HasNodes {
			out.NodesUnknown = "the file holds no nodes"
		}
	}
	return out, nil
}

func (o *Offline) find(ref world.Ref) (world.Meta, world.Conditions, bool) {
	switch ref.Kind {
	case world.KindWorkload:
		if w := o.Snapshot.WorkloadByKey(ref.Key); w != nil {
			return w.Meta, w.Conditions, true
		}
	case world.KindClusterQueue:
		if q := o.Snapshot.ClusterQueue(ref.Name); q != nil {
			return q.Meta, q.Conditions, true
		}
	case world.KindLocalQueue:
		if q := o.Snapshot.LocalQueue(ref.Key); q != nil {
			return q.Meta, q.Conditions, true
		}
	case world.KindCohort:
		if c := o.Snapshot.Cohort(ref.Name); c != nil {
			return c.Meta, nil, true
		}
	case world.KindResourceFlavor:
		if f := o.Snapshot.Flavor(ref.Name); f != nil {
			return f.Meta, nil, true
		}
	case world.KindAdmissionCheck:
		if k := o.Snapshot.Check(ref.Name); k != nil {
			return k.Meta, k.Conditions, true
		}
	case world.KindWorkloadPriorityClass:
		if p := o.Snapshot.PriorityClass(ref.Name); p != nil {
			return p.Meta, nil, true
		}
	}
	return world.Meta{}, nil, false
}
