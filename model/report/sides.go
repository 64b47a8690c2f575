package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"cli.holdfast.dev/holdfast/model/world"
)

// sides fills in flavors, admission checks and priority classes, those included
// that others only name.
func (b *builder) sides(r *Report) {
	r.Flavors = b.flavors()
	r.AdmissionChecks = b.checks()
	r.PriorityClasses = b.priorityClasses()
}

// usedBy is which ClusterQueues name each object. A name with an empty list is known
// from elsewhere.
type usedBy map[string][]string

// by notes the queue once. Queues come in the order of their names.
func (u usedBy) by(name, queue string) {
	if last := len(u[name]) - 1; last < 0 || u[name][last] != queue {
		u[name] = append(u[name], queue)
	}
}

func (u usedBy) name(name string) {
	if _, ok := u[name]; !ok {
		u[name] = []string{}
	}
}

// existence is whether an object exists that others name, and why that is not known.
func (b *builder) existence(found bool, k world.Kind) (exists *bool, unknown string) {
	if !found && !readable(b.s, k) {
		return nil, plural(k) + " cannot be read"
	}
	return &found, ""
}

func (b *builder) flavors() []Flavor {
	used := usedBy{}
	for _, f := range b.s.Flavors {
		used.name(f.Name)
	}
	for _, q := range b.s.ClusterQueues {
		for _, g := range q.Groups {
			for _, f := range g.Flavors {
				used.by(f, q.Name)
			}
		}
		for i := range q.Quotas {
			used.by(q.Quotas[i].Flavor, q.Name)
		}
	}
	for _, c := range b.s.Cohorts {
		for i := range c.Quotas {
			used.name(c.Quotas[i].Flavor)
		}
	}
	for _, w := range b.s.Workloads {
		for i := range w.PodSets {
			for _, f := range w.PodSets[i].Flavors {
				used.name(f)
			}
		}
	}
	out := make([]Flavor, 0, len(used))
	for _, name := range slices.Sorted(maps.Keys(used)) {
		out = append(out, b.flavor(name, used[name]))
	}
	return out
}

func (b *builder) flavor(name string, queues []string) Flavor {
	row := b.s.Flavor(name)
	out := Flavor{Name: name, NodeLabels: map[string]string{}, NodeTaints: []Taint{}, UsedBy: queues}
	out.Exists, out.Unknown = b.existence(row != nil, world.KindResourceFlavor)
	if row == nil {
		if out.Exists == nil {
			out.NodeLabels = nil
		}
		return out
	}
	maps.Copy(out.NodeLabels, row.NodeLabels)
	for _, t := range row.NodeTaints {
		out.NodeTaints = append(out.NodeTaints, Taint(t))
	}
	out.Topology = given(row.Topology)
	if !b.in.HasNodes {
		out.Unknown = "nodes: they were not read"
		return out
	}
	n, selector := 0, labels.SelectorFromSet(row.NodeLabels)
	for i := range b.in.Nodes {
		if selector.Matches(labels.Set(b.in.Nodes[i].Labels)) {
			n++
		}
	}
	out.Nodes = &n
	return out
}

func (b *builder) checks() []AdmissionCheck {
	used, pending := usedBy{}, map[string]int{}
	for _, c := range b.s.Checks {
		used.name(c.Name)
	}
	for _, q := range b.s.ClusterQueues {
		for _, r := range q.Checks {
			used.by(r.Name, q.Name)
		}
	}
	for _, w := range b.s.Workloads {
		for _, c := range w.Checks {
			used.name(c.Name)
			// Without a reservation a check waits for the Workload, not the other way round.
			if w.State == world.Reserving && c.State == "Pending" {
				pending[c.Name]++
			}
		}
	}
	out := make([]AdmissionCheck, 0, len(used))
	for _, name := range slices.Sorted(maps.Keys(used)) {
		row := b.s.Check(name)
		c := AdmissionCheck{Name: name, UsedBy: used[name], Pending: pending[name]}
		c.Exists, c.Unknown = b.existence(row != nil, world.KindAdmissionCheck)
		c.Active = b.checkActive(name)
		if row != nil {
			c.ControllerName = given(row.Controller)
			if cond, ok := row.Conditions.Get(world.CondActive); ok {
				c.Reason, c.Message = given(cond.Reason), given(cond.Message)
			}
		}
		out = append(out, c)
	}
	return out
}

// checkActive reports whether Kueue takes the AdmissionCheck for active; null where
// AdmissionChecks cannot be read.
func (b *builder) checkActive(name string) *bool {
	row := b.s.Check(name)
	active := row != nil && row.Conditions.True(world.CondActive)
	if row == nil && !readable(b.s, world.KindAdmissionCheck) {
		return nil
	}
	return &active
}

// class names a priority class of either kind.
type class struct {
	kind world.Kind
	name string
}

func (b *builder) priorityClasses() []PriorityClass {
	workloads := map[class]int{}
	for _, c := range b.s.PriorityClasses {
		workloads[class{world.KindWorkloadPriorityClass, c.Name}] = 0
	}
	for _, c := range b.s.PodPriorityClasses {
		workloads[class{world.KindPriorityClass, c.Name}] = 0
	}
	for _, w := range b.s.Workloads {
		if w.PriorityClass != "" {
			workloads[class{w.PriorityKind, w.PriorityClass}]++
		}
	}
	all := slices.SortedFunc(maps.Keys(workloads), func(a, b class) int {
		return cmp.Or(strings.Compare(string(a.kind), string(b.kind)), strings.Compare(a.name, b.name))
	})
	out := make([]PriorityClass, 0, len(all))
	for _, k := range all {
		p := PriorityClass{Kind: string(k.kind), Name: k.name, Value: b.classValue(k), Workloads: workloads[k]}
		p.Exists, p.Unknown = b.existence(p.Value != nil, k.kind)
		out = append(out, p)
	}
	return out
}

func (b *builder) classValue(k class) *int32 {
	switch k.kind {
	case world.KindWorkloadPriorityClass:
		if c := b.s.PriorityClass(k.name); c != nil {
			return &c.Value
		}
	case world.KindPriorityClass:
		if c := b.s.PodPriorityClass(k.name); c != nil {
			return &c.Value
		}
	}
	return nil
}
