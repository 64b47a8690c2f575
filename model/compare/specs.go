package compare

import (
	"fmt"
	"maps"
	"slices"

	"github.com/aymanbagabas/go-udiff"
	"sigs.k8s.io/yaml"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// deciding are the kinds whose specs decide who is admitted, with the specs of a
// snapshot by key.
var deciding = []struct {
	kind  world.Kind
	specs func(*store.Snapshot) map[world.Key]string
}{
	{world.KindClusterQueue, func(s *store.Snapshot) map[world.Key]string {
		return specsOf(s.ClusterQueues, func(q *world.ClusterQueue) (world.Key, string) { return q.Key, q.Spec })
	}},
	{world.KindCohort, func(s *store.Snapshot) map[world.Key]string {
		return specsOf(s.Cohorts, func(q *world.Cohort) (world.Key, string) { return q.Key, q.Spec })
	}},
	{world.KindLocalQueue, func(s *store.Snapshot) map[world.Key]string {
		return specsOf(s.LocalQueues, func(q *world.LocalQueue) (world.Key, string) { return q.Key, q.Spec })
	}},
	{world.KindResourceFlavor, func(s *store.Snapshot) map[world.Key]string {
		return specsOf(s.Flavors, func(f *world.Flavor) (world.Key, string) { return f.Key, f.Spec })
	}},
	{world.KindAdmissionCheck, func(s *store.Snapshot) map[world.Key]string {
		return specsOf(s.Checks, func(a *world.Check) (world.Key, string) { return a.Key, a.Spec })
	}},
	{world.KindWorkloadPriorityClass, func(s *store.Snapshot) map[world.Key]string {
		return specsOf(s.PriorityClasses, func(p *world.PriorityClass) (world.Key, string) { return p.Key, fmt.Sprintf(`{"value":%d}`, p.Value) })
	}},
}

func specsOf[T any](rows []T, of func(T) (world.Key, string)) map[world.Key]string {
	out := map[world.Key]string{}
	for _, r := range rows {
		k, spec := of(r)
		out[k] = spec
	}
	return out
}

// specs compares the specs of what decides who is admitted, kind by kind, where both
// states have all objects of the kind.
func (c *comparison) specs() {
	for _, d := range deciding {
		a, b := c.then.Fresh(d.kind), c.now.Fresh(d.kind)
		switch {
		case a.Feed == world.Absent && b.Feed == world.Absent:
			continue // neither knows the kind
		case a.Feed != world.Live:
			c.out.Unknown = append(c.out.Unknown, fmt.Sprintf("specs of kind %s: the export does not hold all%s", d.kind, because(a)))
			continue
		case b.Feed != world.Live:
			c.out.Unknown = append(c.out.Unknown, fmt.Sprintf("specs of kind %s: their list is %s now%s", d.kind, b.Feed, because(b)))
			continue
		}
		was, is := d.specs(c.then), d.specs(c.now)
		if ns := c.now.Contract.Namespace; ns != "" && d.kind == world.KindLocalQueue {
			maps.DeleteFunc(was, func(k world.Key, _ string) bool { return k.Namespace != ns })
		}
		c.pairs(d.kind, was, is)
	}
}

func (c *comparison) pairs(kind world.Kind, was, is map[world.Key]string) {
	all := maps.Clone(was)
	maps.Copy(all, is)
	for _, k := range slices.SortedFunc(maps.Keys(all), world.Key.Compare) {
		x := SpecChange{Object: world.Ref{Kind: kind, Key: k}.String(), Note: "changed"}
		a, before := was[k]
		b, after := is[k]
		switch {
		case !before:
			x.Note = "new"
		case !after:
			x.Note = "gone"
		default:
			if x.Diff = diff(a, b); len(x.Diff) == 0 {
				continue
			}
		}
		c.out.Specs = append(c.out.Specs, x)
	}
}

// diff is the unified diff of two specs as YAML; nil where they say the same.
func diff(was, is string) []string {
	if was == is {
		return nil
	}
	a, b := asYAML(was), asYAML(is)
	if a == b {
		return nil
	}
	return text.Lines(udiff.Unified("then", "now", a, b))
}

func asYAML(spec string) string {
	y, err := yaml.JSONToYAML([]byte(spec))
	if err != nil {
		return spec
	}
	return string(y)
}
