package ui

import (
	"slices"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// agesAfter is the age from which on a preview says that it has one.
const agesAfter = time.Minute

// namesOfAll is how many of a group are named when everybody is asked for: more
// than anybody reads, and as many as are drawn in no time.
const namesOfAll = 500

// forecast writes what Kueue will do into a plan: what keeps the answer from being
// whole, then what is certain, then what depends on timing, each with what hurts
// most first, and at the end what all of it takes for granted.
type forecast struct {
	*foretold
	p    *planPaper
	plan *actions.Plan
	// asked is the time up to which the state is known that it starts from.
	asked time.Time
	// all is set to name everybody.
	all bool
}

// previewed reports whether there is an answer.
func (d planDialog) previewed() bool { return d.told != nil && d.told.r.NotComputed == "" }

// impactDoc writes the section, if the plan changes anything for Kueue's
// scheduler.
func (d planDialog) impactDoc(p *planPaper) {
	x := &d.shown
	switch {
	case d.previewed():
		forecast{d.told, p, x, d.asked, d.everybody}.section()
	case d.told != nil:
		notComputed(p, x.Impact.NotComputed)
	case d.skipped:
		notComputed(p, "You went on without the preview; ctrl+p computes it.")
	case len(x.Edits) > 0:
		notComputed(p, "Kueue's scheduler cannot be asked here.")
	case slices.ContainsFunc(x.Unknown, saysNotComputed):
		notComputed(p, "The changed object cannot be read for it; see UNKNOWN.")
	}
}

func saysNotComputed(s string) bool { return strings.HasPrefix(s, actions.NotComputed) }

func notComputed(p *planPaper, why string) {
	p.wide("WHAT KUEUE WILL DO: NOT COMPUTED. Who is admitted, preempted or evicted is not known.", theme.Alarm)
	p.text("WHY", text.Clean(why), theme.Warn)
}

func (f forecast) section() {
	f.heading()
	f.doubts()
	if !f.maybe.empty() && !f.certain.empty() {
		f.p.wide("CERTAIN, the same in all "+plural(f.r.Timings, "timing")+":", theme.Strong)
	}
	f.block(&f.certain)
	if !f.maybe.empty() {
		s := "DEPENDS ON TIMING, in some of the " + plural(f.r.Timings, "timing") + " only:"
		switch {
		case len(f.r.Restless) > 0:
			s = "NOT CERTAIN: the queues are not at rest. This may happen:"
		case f.r.Bounded != "":
			s = "DEPENDS ON TIMING, or was not computed to the end:"
		}
		f.p.gap()
		f.p.wide(s, theme.Warn)
		f.block(&f.maybe)
		f.p.gap()
	}
	f.list("ASSUMED", f.r.Assumptions, theme.Plain)
	f.p.gap()
}

// heading says in one line what will happen, and who says so.
func (f forecast) heading() {
	r := f.r
	role, s := theme.Strong, "Nobody is admitted, preempted or evicted"
	if len(f.deeds) > 0 {
		s = strings.Join(f.deeds, ", ")
	}
	if f.hits {
		role = theme.Alarm
	}
	switch n := r.Waiting.Count; {
	case !r.Waiting.Certain:
		s += "; about " + count(n) + " are left waiting"
	case n == 1:
		s += "; 1 is left waiting"
	case n > 1:
		s += "; " + count(n) + " are left waiting"
	}
	if r.Waiting.Count > 0 && r.Waiting.Queues > 1 {
		s += " in the " + count(r.Waiting.Queues) + " queues that share quota"
	}
	f.p.wide("WHAT KUEUE WILL DO: "+s+".", role)
	f.label()
}

func (f forecast) label() {
	r := f.r
	s := "Kueue " + text.Clean(r.ComputedWith) + "'s own scheduler"
	role := theme.Plain
	same := strings.TrimPrefix(r.ClusterRuns, "v") == strings.TrimPrefix(r.ComputedWith, "v")
	if same {
		s += ", as in the cluster,"
	}
	s += " on the state of " + stamp(f.p.e.Now, f.asked)
	switch {
	case r.ClusterRuns == "":
		s += "; which version the cluster runs is not known"
	case !same:
		s += "; the cluster runs " + text.Clean(r.ClusterRuns)
		role = theme.Warn
	}
	if f.p.e.Now.Sub(f.asked) >= agesAfter {
		s += ", which is " + age(f.p.e.Now, f.asked) + " old: ctrl+p asks again"
		role = theme.Warn
	}
	f.p.wide(s+".", role)
}

// doubts are what keeps the answer from being whole.
func (f forecast) doubts() {
	r := f.r
	if n := len(r.Restless); n > 0 {
		names := make([]string, 0, namesOfOthers)
		for _, ref := range r.Restless[:min(n, namesOfOthers)] {
			names = append(names, f.called(ref))
		}
		more := ""
		if n > len(names) {
			more = " and " + count(n-len(names)) + " more"
		}
		moves := plural(n, "Workload") + " move"
		if n == 1 {
			moves = "1 Workload moves"
		}
		f.p.text("UNSETTLED", text.Clean(moves+" without this change already ("+strings.Join(names, ", ")+more+"): nothing here is certain. ctrl+p asks again."), theme.Alarm)
	}
	if r.Bounded != "" {
		f.p.text("CUT SHORT", text.Clean(r.Bounded)+". How it ends is not known.", theme.Alarm)
	}
	f.list("UNKNOWN", r.Unknown, theme.Warn)
}

// called names a Workload by its job, which people know.
func (f forecast) called(ref world.Ref) string {
	if f.r.Before != nil {
		if w := f.r.Before.WorkloadByKey(ref.Key); w != nil {
			return w.Namespace + "/" + w.JobName()
		}
	}
	return ref.Key.String()
}

// list writes sentences, each with a small letter at its beginning.
func (f forecast) list(head string, all []string, role theme.Role) {
	f.names(len(all), namesOfOthers, func(i int) {
		f.p.entry(head, text.Clean(all[i]), role)
		head = ""
	})
}

// names calls line for as many of n entries as are to be named and says how many
// are left.
func (f forecast) names(n, most int, line func(int)) {
	if f.all {
		most = namesOfAll
	}
	for i := range n {
		if i == most && n > most+1 {
			s := "and " + count(n-i) + " more"
			if !f.all {
				s += " (Tab: name them)"
			}
			f.p.text("", s, theme.Dim)
			return
		}
		line(i)
	}
}

// wide adds wrapped text over the whole width.
func (p *planPaper) wide(s string, role theme.Role) {
	for _, l := range term.Wrap(s, p.w) {
		p.raw(p.e.Theme.Paint(role, l))
	}
}

// entry adds text with a heading at its left; its further lines are indented, so
// that the next entry is seen to begin. Spaces before s indent all of it.
func (p *planPaper) entry(head, s string, role theme.Role) {
	if term.Width(s) <= p.w-margin {
		p.text(head, s, role)
		return
	}
	rest := strings.TrimLeft(s, " ")
	in := s[:len(s)-len(rest)]
	for i, l := range term.Wrap(rest, p.w-margin-2-len(in)) {
		if i > 0 {
			head, l = "", "  "+l
		}
		p.text(head, in+l, role)
	}
}

// pair adds two parts in one line where both fit, else the second below the first.
func (p *planPaper) pair(a, b string, role theme.Role) {
	if term.Width(a)+1+term.Width(b) <= p.w-margin {
		p.text("", a+" "+b, role)
		return
	}
	p.entry("", a, role)
	for _, l := range term.Wrap(b, p.w-margin-2) {
		p.text("", "  "+l, role)
	}
}
