package impact

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"cli.holdfast.dev/holdfast/model/world"
)

// admissionKey is what makes two admissions the same. The number of pods belongs
// to it, since an admission that is certain is one of so many pods.
type admissionKey struct {
	workload world.Key
	flavors  string
	pods     int32
}

// admitted lists who gets quota and has it at the end, by priority.
func (c *composer) admitted() []Admission {
	u := newUnion[admissionKey, Admission]()
	for _, e := range c.ends {
		var keys []admissionKey
		rows := map[admissionKey]*world.Workload{}
		for _, k := range slices.SortedFunc(maps.Keys(e.rows), world.Key.Compare) {
			w := e.rows[k]
			if !c.admits(e, k, w) {
				continue
			}
			key := admissionKey{k, flavorsText(w), pods(w)}
			keys, rows[key] = append(keys, key), w
		}
		u.add(keys, func(k admissionKey) Admission { return c.admission(k, rows[k]) })
		for _, k := range keys {
			a := u.of(k)
			a.Borrows = a.Borrows || borrows(e, rows[k])
			a.Again = a.Again || c.again(e, k.workload)
		}
	}
	out := u.all(len(c.ends), func(a *Admission, inAll bool) { a.Certain = c.end(inAll) })
	slices.SortStableFunc(out, func(a, b Admission) int {
		return cmp.Or(byHurt(&a.Workload, &b.Workload, a.Certain, b.Certain), cmp.Compare(flat(a.Flavors), flat(b.Flavors)), cmp.Compare(b.Pods, a.Pods))
	})
	return out
}

// admits reports whether the Workload has got quota by the end of e that it has
// not now: it had none, or lost what it had on the way, or only reserved it and is
// admitted on it.
func (c *composer) admits(e *ending, k world.Key, w *world.Workload) bool {
	if !keeps(w) {
		return false
	}
	was := c.now(k)
	return was == nil || !keeps(was) || e.lost[k] || w.Conditions.True(world.CondAdmitted) && !was.Conditions.True(world.CondAdmitted)
}

// again reports whether the Workload holds quota now and loses it before it gets
// what it has at the end.
func (c *composer) again(e *ending, k world.Key) bool {
	was := c.now(k)
	return e.lost[k] && was != nil && keeps(was)
}

func (c *composer) admission(k admissionKey, w *world.Workload) Admission {
	a := Admission{Workload: c.workload(k.workload), Flavors: flavors(w), Pods: k.pods}
	a.Workload.ClusterQueue = w.ClusterQueue
	for i := range w.PodSets {
		a.Asked += w.PodSets[i].Count
	}
	if !w.Conditions.True(world.CondAdmitted) {
		for _, check := range w.Checks {
			if check.State != "Ready" {
				a.Checks = append(a.Checks, check.Name)
			}
		}
	}
	return a
}

// pods is how many pods the Workload is admitted with.
func pods(w *world.Workload) int32 {
	var n int32
	for i := range w.PodSets {
		if p := &w.PodSets[i]; p.Admitted != nil {
			n += *p.Admitted
		} else {
			n += p.Count
		}
	}
	return n
}

// flavors maps each resource to the flavors that the pod sets get of it.
func flavors(w *world.Workload) map[string]string {
	out := map[string]string{}
	for i := range w.PodSets {
		for r, f := range w.PodSets[i].Flavors {
			all := append(strings.Split(out[r], "+"), f)
			all = slices.DeleteFunc(all, func(s string) bool { return s == "" })
			slices.Sort(all)
			out[r] = strings.Join(slices.Compact(all), "+")
		}
	}
	return out
}

// flavorsText tells assignments apart, pod set by pod set.
func flavorsText(w *world.Workload) string {
	var b strings.Builder
	for i := range w.PodSets {
		b.WriteString(w.PodSets[i].Name + "{" + flat(w.PodSets[i].Flavors) + "}")
	}
	return b.String()
}

func flat(m map[string]string) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(m)) {
		b.WriteString(k + "=" + m[k] + " ")
	}
	return b.String()
}

// borrows reports whether the Workload's ClusterQueue uses more than its nominal
// quota of a flavor and resource that the Workload uses, at the end of e.
func borrows(e *ending, w *world.Workload) bool {
	n := e.snap.Tree.ClusterQueue(w.ClusterQueue)
	if n == nil {
		return false
	}
	return slices.ContainsFunc(w.Usage, func(u world.Use) bool {
		cell, _ := n.Cell(u.FlavorResource)
		return u.Amount > 0 && cell.Borrowed > 0
	})
}
