package ui

import (
	"slices"
	"strings"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/impact"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// block writes what is certain, or what depends on timing. Which queues are active
// and who can never fit does not depend on it.
func (f forecast) block(s *share) {
	f.preempted(s)
	f.evicted(s)
	if s.certain {
		if !f.stops() {
			f.queues("INACTIVE", f.inactive)
		}
		f.neverFits()
	}
	f.over(s.over)
	f.changed(s)
	f.admitted(s)
	if s.certain {
		f.queues("ACTIVE", f.activated)
		if f.stops() {
			f.queues("INACTIVE", f.inactive)
		}
	}
	f.cells(s.cells)
}

// number is a count of Workloads, or how many there may be.
func number(n int, certain bool) string {
	if certain {
		return plural(n, "Workload")
	}
	return "up to " + plural(n, "Workload")
}

// preempted says how many are preempted and what they hold, and names them. A
// Workload that takes quota from several is named once, above them.
func (f forecast) preempted(s *share) {
	if s.victims == 0 {
		return
	}
	n := number(s.victims, s.certain)
	switch s.running {
	case s.victims:
		n += ", running now"
	case 0:
		n += ", none of them running now"
	default:
		n += ", " + count(s.running) + " of them running now"
	}
	f.p.text("PREEMPTED", with(n, s.held), theme.Alarm)
	why := ""
	f.names(len(s.preempted), namesOfHit, func(i int) {
		x := &s.preempted[i]
		if x.why != why {
			why = x.why
			f.p.text("", text.Clean(why), theme.Strong)
		}
		victim, by := text.Clean(party(&x.Victim)+lot(x.Runs, x.Back)), x.Preemptor
		if x.first && x.last {
			if by.ClusterQueue == x.Victim.ClusterQueue {
				by.ClusterQueue = "" // it was just named
			}
			f.p.pair(victim, text.Clean("by "+party(&by)), theme.Plain)
			return
		}
		if x.first {
			f.p.entry("", text.Clean("by "+party(&by)+":"), theme.Plain)
		}
		f.p.entry("", "  "+victim, theme.Plain)
	})
}

func (f forecast) evicted(s *share) {
	if s.certain {
		// What the action itself takes needs no preview. Where this one differs, it was
		// cut or is of another state.
		losers(f.p, f.plan, false)
		if n := len(f.plan.Evicts) + len(f.plan.LosesReservation); f.own != n {
			f.p.text("", "by the preview only "+count(f.own)+" of these "+count(n)+" lose their quota", theme.Warn)
		}
	}
	if len(s.evicted) == 0 {
		return
	}
	lose := " lose their quota"
	if len(s.evicted) == 1 {
		lose = " loses its quota"
	}
	f.p.text("EVICTED", number(len(s.evicted), s.certain)+lose, theme.Alarm)
	f.names(len(s.evicted), namesOfHit, func(i int) {
		x := s.evicted[i]
		f.p.entry("", text.Clean(party(&x.Workload)+lot(x.Running, x.Back)+": "+x.Reason), theme.Plain)
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

func (f forecast) changed(s *share) {
	all := s.changed
	if len(all) == 0 {
		return
	}
	wait := " wait for another reason"
	if len(all) == 1 {
		wait = " waits for another reason"
	}
	f.p.text("WAITS ON", number(len(all), s.certain)+wait, theme.Plain)
	f.names(len(all), namesOfOthers, func(i int) {
		x := all[i]
		f.p.entry("", text.Clean(party(&x.Workload)+": "+sentenceOf(x.After)), theme.Plain)
		f.p.entry("", text.Clean("  until now: "+sentenceOf(x.Before)), theme.Dim)
	})
}

func (f forecast) admitted(s *share) {
	if s.starters == 0 {
		return
	}
	all := s.admitted
	f.p.text("ADMITTED", with(number(s.starters, s.certain), s.gets), theme.Plain)
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

// cells lists quota that changes, the limits themselves first.
func (f forecast) cells(all []*impact.Cell) {
	head := "QUOTA"
	f.names(len(all), namesOfOthers, func(i int) {
		x := all[i]
		var parts []string
		move := func(what string, a, b world.Amount) {
			if a != b {
				parts = append(parts, what+" "+a.Text(x.Resource)+" -> "+b.Text(x.Resource))
			}
		}
		move("nominal", x.NominalBefore, x.NominalAfter)
		move("used", x.UsedBefore, x.UsedAfter)
		move("borrowed", x.BorrowedBefore, x.BorrowedAfter)
		if len(parts) == 0 {
			parts = append(parts, "used "+x.UsedAfter.Text(x.Resource))
		}
		if !x.Certain {
			parts = append(parts, "in one of the timings")
		}
		name := x.Ref.Name
		if x.Ref.Kind == world.KindCohort {
			name = "cohort " + name
		}
		f.p.entry(head, text.Clean(name+" "+showCell(x.FlavorResource)+": "+strings.Join(parts, ", ")), theme.Plain)
		head = ""
	})
}
