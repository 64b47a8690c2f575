package ui

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/impact"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// block writes what is certain, or what depends on timing.
func (f forecast) block(certain bool) {
	r := f.r
	f.preempted(only(r.Preempted, func(x *impact.Preemption) bool { return x.Certain == certain }), certain)
	f.evicted(only(r.Evicted, func(x *impact.Eviction) bool { return x.Certain == certain }), certain)
	if certain {
		f.queues("INACTIVE", only(r.Queues, func(q *impact.Queue) bool { return !q.ActiveAfter }))
		f.neverFits()
	}
	f.over(only(r.OverQuota, func(x *impact.Over) bool { return x.Certain == certain }))
	f.changed(only(r.Waiting.Changed, func(x *impact.Change) bool { return x.Certain == certain }), certain)
	f.admitted(only(r.Admitted, func(x *impact.Admission) bool { return x.Certain == certain }), certain)
	if certain {
		f.queues("ACTIVE", only(r.Queues, func(q *impact.Queue) bool { return q.ActiveAfter }))
	}
	f.cells(only(r.Quota, func(x *impact.Cell) bool { return x.Certain == certain }))
}

// any reports whether a block has anything to say.
func (f forecast) any(certain bool) bool {
	r := f.r
	return slices.ContainsFunc(r.Preempted, func(x impact.Preemption) bool { return x.Certain == certain }) ||
		slices.ContainsFunc(r.Evicted, func(x impact.Eviction) bool { return x.Certain == certain }) ||
		slices.ContainsFunc(r.OverQuota, func(x impact.Over) bool { return x.Certain == certain }) ||
		slices.ContainsFunc(r.Waiting.Changed, func(x impact.Change) bool { return x.Certain == certain }) ||
		slices.ContainsFunc(r.Admitted, func(x impact.Admission) bool { return x.Certain == certain }) ||
		slices.ContainsFunc(r.Quota, func(x impact.Cell) bool { return x.Certain == certain })
}

func only[T any](all []T, keep func(*T) bool) []*T {
	var out []*T
	for i := range all {
		if keep(&all[i]) {
			out = append(out, &all[i])
		}
	}
	return out
}

// number is a count of Workloads, or how many there may be.
func number(n int, certain bool) string {
	if certain {
		return plural(n, "Workload")
	}
	return "up to " + plural(n, "Workload")
}

// preempted lists the victims under the reasons for which they lose their quota.
func (f forecast) preempted(all []*impact.Preemption, certain bool) {
	if len(all) == 0 {
		return
	}
	victims, running := map[world.Key]bool{}, map[world.Key]bool{}
	for _, x := range all {
		victims[x.Victim.Ref.Key] = true
		if x.Runs {
			running[x.Victim.Ref.Key] = true
		}
	}
	s := number(len(victims), certain)
	switch len(running) {
	case len(victims):
		s += ", running now"
	case 0:
		s += ", none of them running now"
	default:
		s += ", " + count(len(running)) + " of them running now"
	}
	if certain && len(running) > 0 {
		s = with(s, f.uses(f.r.Before, running))
	}
	f.p.text("PREEMPTED", s, theme.Alarm)
	why := ""
	sorted := byReason(all)
	f.names(len(sorted), namesOfHit, func(i int) {
		x := sorted[i]
		if s := whyPreempted(x); s != why {
			why = s
			f.p.text("", text.Clean(s), theme.Strong)
		}
		by := x.Preemptor
		if by.ClusterQueue == x.Victim.ClusterQueue {
			by.ClusterQueue = "" // it was just named
		}
		f.p.pair(text.Clean(party(&x.Victim)+lot(x)), text.Clean("by "+party(&by)), theme.Plain)
	})
}

// byReason puts preemptions for the same reason together, in the order in which
// the reasons first come.
func byReason(all []*impact.Preemption) []*impact.Preemption {
	var order []string
	of := map[string][]*impact.Preemption{}
	for _, x := range all {
		s := whyPreempted(x)
		if of[s] == nil {
			order = append(order, s)
		}
		of[s] = append(of[s], x)
	}
	out := make([]*impact.Preemption, 0, len(all))
	for _, s := range order {
		out = append(out, of[s]...)
	}
	return out
}

func whyPreempted(x *impact.Preemption) string {
	out := because(x.Reason)
	if x.Policy != "" {
		out += " (" + x.Policy + ")"
	}
	if x.PolicyHolds != nil && !*x.PolicyHolds {
		out += ", which that policy does not allow by their priorities"
	}
	return out + ":"
}

// lot is what is out of the ordinary about a victim.
func lot(x *impact.Preemption) string {
	out := ""
	if !x.Runs {
		out = ", not running now"
	}
	if x.Back {
		out += ", gets quota again"
	}
	return out
}

func (f forecast) evicted(all []*impact.Eviction, certain bool) {
	others := slices.DeleteFunc(slices.Clone(all), func(x *impact.Eviction) bool { return f.own[x.Workload.Ref.Key] })
	if n := len(all) - len(others); n > 0 {
		f.p.text("EVICTED", number(n, certain)+" of this queue, named below", theme.Plain)
	}
	if len(others) == 0 {
		return
	}
	f.p.text("EVICTED", number(len(others), certain)+" lose their quota, to nobody", theme.Alarm)
	f.names(len(others), namesOfHit, func(i int) {
		x := others[i]
		s := party(&x.Workload)
		if !x.Running {
			s += ", not running now"
		}
		if x.Back {
			s += ", gets quota again"
		}
		f.p.entry("", text.Clean(s+": "+x.Reason), theme.Plain)
	})
}

// queues lists those that become active, or become or stay inactive.
func (f forecast) queues(head string, all []*impact.Queue) {
	f.names(len(all), namesOfOthers, func(i int) {
		q := all[i]
		s, role := object(q.Ref), theme.Plain
		switch {
		case q.ActiveAfter:
			s += " admits Workloads again"
		case q.ActiveBefore:
			s += " admits nobody any more"
			if !f.stops() {
				role = theme.Alarm
			}
		default:
			s += " stays inactive"
			role = theme.Warn
		}
		if q.Why != "" {
			s += ": " + q.Why
		}
		f.p.entry(head, text.Clean(s), role)
		head = ""
	})
}

// stops reports whether the plan is there to make queues inactive.
func (f forecast) stops() bool {
	return f.plan.Action == actions.Hold || f.plan.Action == actions.Drain
}

func (f forecast) neverFits() {
	all := f.r.NeverFits
	if len(all) == 0 {
		return
	}
	f.p.text("NEVER FIT", plural(len(all), "Workload")+" can never be admitted any more, and could until now", theme.Alarm)
	f.names(len(all), namesOfHit, func(i int) { f.p.entry("", text.Clean(party(&all[i])), theme.Plain) })
}

func (f forecast) over(all []*impact.Over) {
	if len(all) == 0 {
		return
	}
	role := theme.Plain
	if slices.ContainsFunc(all, func(x *impact.Over) bool { return x.By > x.Before }) {
		role = theme.Warn
	}
	f.p.text("OVER", "more is held than allowed, in "+plural(len(all), "place")+"; Kueue evicts nobody for it", role)
	f.names(len(all), namesOfOthers, func(i int) {
		x := all[i]
		before := "before: " + x.Before.Text(x.Resource)
		if x.Before == x.By {
			before = "as before"
		}
		f.p.entry("", text.Clean(object(x.Ref)+": "+x.By.Text(x.Resource)+" "+showCell(x.FlavorResource)+" ("+before+")"), theme.Plain)
	})
}

func (f forecast) changed(all []*impact.Change, certain bool) {
	if len(all) == 0 {
		return
	}
	wait := " wait for another reason"
	if len(all) == 1 {
		wait = " waits for another reason"
	}
	f.p.text("WAITS ON", number(len(all), certain)+wait, theme.Plain)
	f.names(len(all), namesOfOthers, func(i int) {
		x := all[i]
		f.p.entry("", text.Clean(party(&x.Workload)+": "+sentenceOf(x.After)), theme.Plain)
		f.p.entry("", text.Clean("  until now: "+sentenceOf(x.Before)), theme.Dim)
	})
}

func (f forecast) admitted(all []*impact.Admission, certain bool) {
	if len(all) == 0 {
		return
	}
	keys := map[world.Key]bool{}
	for _, x := range all {
		keys[x.Workload.Ref.Key] = true
	}
	s := number(len(keys), certain)
	if certain {
		s = with(s, f.uses(f.r.After, keys))
	}
	f.p.text("ADMITTED", s, theme.Plain)
	f.names(len(all), namesOfOthers, func(i int) {
		x := all[i]
		parts := []string{party(&x.Workload)}
		if on := placed(x.Flavors); on != "" {
			parts[0] += " on " + on
		}
		if x.Borrows {
			parts = append(parts, "borrows")
		}
		if x.Again {
			parts = append(parts, "after it lost its quota")
		}
		if x.Pods < x.Asked {
			parts = append(parts, count(int(x.Pods))+" of "+plural(int(x.Asked), "pod"))
		}
		if len(x.Checks) > 0 {
			parts = append(parts, "then waits for "+strings.Join(x.Checks, ", "))
		}
		f.p.entry("", text.Clean(strings.Join(parts, ", ")), theme.Plain)
	})
}

func (f forecast) cells(all []*impact.Cell) {
	if len(all) == 0 {
		return
	}
	head := "QUOTA"
	f.names(len(all), namesOfOthers, func(i int) {
		x := all[i]
		move := func(what string, a, b world.Amount) string {
			if a == b {
				return what + " " + a.Text(x.Resource)
			}
			return what + " " + a.Text(x.Resource) + " -> " + b.Text(x.Resource)
		}
		s := object(x.Ref) + " " + showCell(x.FlavorResource) + ": " + move("nominal", x.NominalBefore, x.NominalAfter) + ", " +
			move("used", x.UsedBefore, x.UsedAfter) + ", " + move("borrowed", x.BorrowedBefore, x.BorrowedAfter)
		f.p.entry(head, text.Clean(s), theme.Plain)
		head = ""
	})
}

// uses sums what the Workloads hold in a snapshot; empty where that is not known.
func (f forecast) uses(s *store.Snapshot, keys map[world.Key]bool) string {
	if s == nil {
		return ""
	}
	var all [][]world.Use
	for _, k := range slices.SortedFunc(maps.Keys(keys), byKey) {
		w := s.WorkloadByKey(k)
		if w == nil {
			return ""
		}
		all = append(all, w.Usage)
	}
	return usesOf(all)
}

func byKey(a, b world.Key) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
