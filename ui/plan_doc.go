package ui

import (
	"slices"
	"strconv"
	"strings"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/doc"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// How many Workloads of a group are named. Those that lose something are more
// important to see than those that do not.
const (
	namesOfHit    = 50
	namesOfOthers = 3
)

// doc is the plan as text: where and by whom, what changes, what Kueue will do
// about it, who is hit by the action itself, what is not known, what the server
// says.
func (d planDialog) doc(e Env, w int) []doc.Line {
	p := &planPaper{e: e, w: w, all: d.everybody}
	x := d.shown
	place := "context " + or(x.Context, "?")
	if e.Production {
		place = "PRODUCTION context " + or(x.Context, "?")
	}
	role := theme.Plain
	if e.Production {
		role = theme.Alarm
	}
	p.text("WHERE", place+", server "+or(x.Server, "?")+", as "+or(x.User, "?"), role)
	if d.file != nil {
		p.text("FILE", fileName(*d.file), theme.Plain)
	}
	var taken []string
	for _, n := range x.Notes {
		if rest, ok := strings.CutPrefix(n, actions.TakesOver+" "); ok {
			taken = append(taken, rest)
		}
	}
	p.list("TAKES", taken, theme.Alarm)
	for i, t := range x.Targets {
		head := ""
		if i == 0 {
			head = "CHANGE"
		}
		s := t.Change
		if len(x.Targets) > 1 || t.Ref.Kind == world.KindWorkload { // whose job the title names
			s = object(t.Ref) + ": " + s
		}
		p.text(head, s, theme.Strong)
	}
	if x.Reason != "" {
		p.text("REASON", `"`+x.Reason+`"`, theme.Plain)
	}
	if x.Export != nil {
		d.exportDoc(p, *x.Export)
	} else {
		d.impactDoc(p)
		d.affectedDoc(p)
	}
	p.list("UNKNOWN", slices.DeleteFunc(slices.Clone(x.Unknown), saysNotComputed), theme.Warn)
	p.list("SERVER", x.Warnings, theme.Warn)
	p.list("NOTE", slices.DeleteFunc(slices.Clone(x.Notes), saysTakesOver), theme.Plain)
	d.diffDoc(p)
	return p.lines
}

func (d planDialog) exportDoc(p *planPaper, x actions.ExportPlan) {
	p.text("WRITES", plural(x.Count, "Workload")+" of "+x.Scope.String()+", as known now", theme.Strong)
	p.text("TO", x.Path, theme.Plain)
	if x.IncludePodEnv {
		p.text("", "env values and args are included", theme.Warn)
	} else {
		p.text("", "env values and args are redacted", theme.Plain)
	}
	if d.shown.Incomplete != "" {
		p.text("UNKNOWN", "there may be more: "+d.shown.Incomplete, theme.Warn)
	}
}

// affectedDoc lists who is hit by the action itself, the worst first. Those that
// lose something stand in the preview where there is one.
func (d planDialog) affectedDoc(p *planPaper) {
	x := d.shown
	stops := x.Action == actions.Hold || x.Action == actions.Drain
	if !d.previewed() {
		losers(p, &x, stops)
	}
	pendingHead, pending := "PENDING", fate{"stays pending", "stay pending", theme.Plain, namesOfOthers}
	if x.Action == actions.Resume || x.Action == actions.Reactivate {
		pendingHead, pending = "IS TRIED", fate{"is pending and will be tried again", "are pending and will be tried again", theme.Plain, namesOfOthers}
	}
	p.group(pendingHead, pending, x.StaysPending, stops || x.Action == actions.Resume)
	p.group("RUNS ON", fate{"runs on", "run on", theme.Plain, namesOfOthers}, x.RunsOn, stops)
}

// losers lists those that lose what they have by the action itself.
func losers(p *planPaper, x *actions.Plan, sorted bool) {
	if x.Incomplete != "" {
		p.text("UNKNOWN", "the numbers below may be too small: "+x.Incomplete, theme.Warn)
	}
	p.group("EVICTED", fate{"is evicted", "are evicted", theme.Alarm, namesOfHit}, x.Evicts, sorted)
	p.group("LOSES", fate{"loses its reservation at once", "lose their reservations at once", theme.Warn, namesOfHit}, x.LosesReservation, sorted)
}

func (d planDialog) diffDoc(p *planPaper) {
	for i, l := range d.shown.Diff {
		if i == 0 {
			p.gap()
			p.wide("The server's dry-run result (validation only):", theme.Strong)
		}
		role := theme.Plain
		switch {
		case strings.HasPrefix(l, "+++"), strings.HasPrefix(l, "---"), strings.HasPrefix(l, "@@"):
			role = theme.Dim
		case strings.HasPrefix(l, "+"):
			role = theme.Added
		case strings.HasPrefix(l, "-"):
			role = theme.Removed
		}
		p.raw(p.e.Theme.Paint(role, term.Clip(l, p.w, p.e.Theme.Glyph.Ellipsis)))
	}
}

// planPaper is a plan's text under construction.
type planPaper struct {
	e     Env
	w     int
	lines []doc.Line
	// all is set to name everybody.
	all bool
}

func (p *planPaper) gap() {
	if n := len(p.lines); n > 0 && p.lines[n-1].Text != "" {
		p.raw("")
	}
}

func (p *planPaper) raw(s string) { p.lines = append(p.lines, doc.Line{Text: s}) }

func (p *planPaper) text(head, s string, role theme.Role) {
	for i, l := range term.Wrap(s, p.w-margin) {
		if i > 0 {
			head = ""
		}
		p.raw(p.e.Theme.Paint(theme.Strong, term.Fit(head, margin, "")) + p.e.Theme.Paint(role, l))
	}
}

func (p *planPaper) list(head string, all []string, role theme.Role) {
	for _, s := range all {
		p.text(head, s, role)
		head = ""
	}
}

// fate is what becomes of Workloads, in words for one and for several, and how
// many of them are named.
type fate struct {
	one, many string
	role      theme.Role
	most      int
}

// group writes how many Workloads share a fate, what they use, and the first few
// of them. Where there are none it says so only if that is known: a plan that
// does not sort Workloads has empty lists too.
func (p *planPaper) group(head string, f fate, all []actions.Affected, sorted bool) {
	if len(all) == 0 {
		if sorted {
			p.text(head, "none", theme.Dim)
		}
		return
	}
	s := plural(len(all), "Workload") + " " + f.many
	if len(all) == 1 {
		s = "1 Workload " + f.one
	}
	uses := make([][]world.Use, 0, len(all))
	for i := range all {
		uses = append(uses, all[i].Uses)
	}
	p.text(head, with(s, usesOf(uses)), f.role)
	most := f.most
	if p.all {
		most = namesOfAll
	}
	for i, a := range all {
		if i == most && len(all) > most+1 {
			p.text("", "and "+count(len(all)-i)+" more", theme.Dim)
			return
		}
		t := a.Ref.Namespace + "/" + or(a.Job, a.Ref.Name) + " (prio " + strconv.Itoa(int(a.Priority)) + ")"
		if a.Note != "" {
			t += "  " + a.Note
		}
		p.text("", t, theme.Plain)
	}
}

// usesOf sums what Workloads use, flavor by flavor, in the order in which they
// first come.
func usesOf(all [][]world.Use) string {
	var order []world.FlavorResource
	sum := map[world.FlavorResource]world.Amount{}
	for _, uses := range all {
		for _, u := range uses {
			if _, ok := sum[u.FlavorResource]; !ok {
				order = append(order, u.FlavorResource)
			}
			sum[u.FlavorResource] = sum[u.FlavorResource].Add(u.Amount)
		}
	}
	var flavors []string
	amounts := map[string][]string{}
	for _, fr := range order {
		if amounts[fr.Flavor] == nil {
			flavors = append(flavors, fr.Flavor)
		}
		amounts[fr.Flavor] = append(amounts[fr.Flavor], sum[fr].Text(fr.Resource)+" "+fr.Resource)
	}
	for i, f := range flavors {
		flavors[i] = strings.Join(amounts[f], ", ") + " of " + f
	}
	return strings.Join(flavors, "; ")
}

func with(s, uses string) string {
	if uses == "" {
		return s
	}
	return s + ": " + uses
}
