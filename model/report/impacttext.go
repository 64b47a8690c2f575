package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Text writes the document for a person. It blocks as w does.
func (d *ImpactResult) Text(w io.Writer) error {
	p := newPage(w)
	p.line("%s %s at %s", d.Source.Type, d.Source.Name, d.Source.Now.Format(time.RFC3339))
	for _, n := range d.Source.Notes {
		p.line("note: %s", n)
	}
	d.Impact.write(p)
	return p.end()
}

// Text writes the preview for a person, what hurts most first, and what is certain
// apart from what depends on timing. It blocks as w does.
func (x *Impact) Text(w io.Writer) error {
	p := newPage(w)
	x.write(p)
	return p.end()
}

func (x *Impact) write(p *page) {
	if shown, left := first(x.Edits, mostLines); len(shown) > 0 {
		var edits []string
		for _, e := range shown {
			edits = append(edits, e.Object+" "+e.Change)
		}
		p.line("supposed: %s%s", strings.Join(edits, ", "), andMore(left))
	}
	p.line("%s", x.Summary())
	x.labels(p)
	x.victimLines(p)
	x.evictionLines(p)
	x.queueLines(p)
	x.otherLines(p)
	x.changeLines(p)
	x.admissionLines(p)
	x.quotaLines(p)
}

// Summary is the preview in one sentence.
func (x *Impact) Summary() string {
	if x.NotComputed != "" {
		return "NOT COMPUTED: " + x.NotComputed
	}
	var out []string
	part := func(all, certain int, one, several string) {
		if all == 0 {
			return
		}
		verb := several
		if all == 1 {
			verb = one
		}
		s := fmt.Sprintf("%d %s", all, verb)
		switch maybe := all - certain; {
		case certain == 0:
			s += " (depends on timing)"
		case maybe > 0:
			s += fmt.Sprintf(" (%d of them depending on timing)", maybe)
		}
		out = append(out, s)
	}
	part(len(x.Preempted), certain(x.Preempted), "PREEMPTION", "PREEMPTIONS")
	part(len(x.Evicted), certain(x.Evicted), "EVICTION", "EVICTIONS")
	if len(out) == 0 {
		out = append(out, "nobody is preempted or evicted")
	}
	part(len(x.NeverFits), len(x.NeverFits), "Workload can never fit any more", "Workloads can never fit any more")
	part(len(x.Admitted), certain(x.Admitted), "Workload gets quota", "Workloads get quota")
	if n := x.Waiting.Count; n != nil {
		sure := *n
		if !x.Waiting.Certain {
			sure = 0
		}
		part(*n, sure, "waits then", "wait then")
	}
	return strings.Join(out, "; ")
}

// NeedsPerson reports whether somebody has to look at this before anything is
// done: somebody loses what they have, a queue stops that nobody holds, a quota falls below its use, or the
// answer is not whole.
func (x *Impact) NeedsPerson() bool {
	stops := slices.ContainsFunc(x.Queues, func(q ImpactQueue) bool { return q.ActiveBefore && !q.ActiveAfter && !q.Held })
	worse := slices.ContainsFunc(x.OverQuota, func(o ImpactOver) bool { return o.Worse })
	return x.NotComputed != "" || x.Bounded != "" || stops || worse || len(x.Restless)+len(x.Preempted)+len(x.Evicted)+len(x.NeverFits) > 0
}

func (v ImpactVictim) certain() bool    { return v.Certain }
func (e ImpactEviction) certain() bool  { return e.Certain }
func (a ImpactAdmission) certain() bool { return a.Certain }
func (c ImpactChange) certain() bool    { return c.Certain }
func (o ImpactOver) certain() bool      { return o.Certain }
func (c ImpactCell) certain() bool      { return c.Certain }

func certain[T interface{ certain() bool }](all []T) int {
	n := 0
	for _, x := range all {
		if x.certain() {
			n++
		}
	}
	return n
}

// labels say how far the answer can be trusted.
func (x *Impact) labels(p *page) {
	runs := "which version the cluster runs is unknown"
	if x.ClusterRuns != nil {
		runs = "the cluster runs " + *x.ClusterRuns
	}
	if x.NotComputed == "" {
		p.line("computed with Kueue %s's own scheduler on the state of %s; %s", x.ComputedWith, when(x.StateOf), runs)
	}
	if x.Timings > 1 {
		p.line("certain is what all of %d timings agree on; the rest depends on timing", x.Timings)
	}
	if shown, left := first(x.Restless, 8); len(shown) > 0 {
		p.line("NOTHING IS CERTAIN: the queues are not at rest, %s without any change: %s%s", several(len(x.Restless), "Workload moves", "Workloads move"), strings.Join(shown, ", "), andMore(left))
	}
	if x.Bounded != "" {
		p.line("NOT TO ITS END: %s", x.Bounded)
	}
	for _, s := range x.Assumptions {
		p.line("assumed: %s", s)
	}
	for _, s := range x.Unknown {
		p.line("unknown: %s", s)
	}
}

func several(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// apart writes two sections: what is certain, and what depends on timing.
func apart[T interface{ certain() bool }](p *page, head string, all []T, row func(*T) []string, titles ...string) {
	for _, sure := range []bool{true, false} {
		var rows [][]string
		for i := range all {
			if all[i].certain() == sure {
				rows = append(rows, row(&all[i]))
			}
		}
		title := head
		if !sure {
			title += " - DEPENDS ON TIMING"
		}
		shown, left := first(rows, mostLines)
		p.section(title, shown, left, titles...)
	}
}

// called is the Workload by the name of its job, which people know.
func called(workload, job string) string {
	if job == "" || strings.HasSuffix(workload, "/"+job) {
		return workload
	}
	return workload + " (" + job + ")"
}

func (x *Impact) victimLines(p *page) {
	apart(p, "PREEMPTED", x.Preempted, func(v *ImpactVictim) []string {
		by, priority := "unknown", "?"
		if v.Preemptor != nil {
			by = called(*v.Preemptor, or(v.PreemptorJob, ""))
		}
		if v.PreemptorPriority != nil {
			priority = fmt.Sprint(*v.PreemptorPriority)
		}
		return []string{called(v.Victim, v.VictimJob), fmt.Sprint(v.VictimPriority), v.VictimClusterQueue, by, priority, or(v.PreemptorClusterQueue, "?"), fate(v.Runs, v.Back), v.Reason, v.Policy}
	}, "VICTIM", "PRIORITY", "CLUSTERQUEUE", "BY", "PRIORITY", "CLUSTERQUEUE", "WHAT", "REASON", "POLICY")
}

// fate is what the loss of its quota means to a Workload.
func fate(runs, back bool) string {
	out := "does not run yet"
	if runs {
		out = "runs, is stopped"
	}
	if back {
		out += ", comes back"
	}
	return out
}

func (x *Impact) evictionLines(p *page) {
	apart(p, "EVICTED", x.Evicted, func(e *ImpactEviction) []string {
		return []string{called(e.Workload, e.Job), fmt.Sprint(e.Priority), e.ClusterQueue, fate(e.Running, e.Back), e.Reason}
	}, "WORKLOAD", "PRIORITY", "CLUSTERQUEUE", "WHAT", "REASON")
}

func (x *Impact) queueLines(p *page) {
	var rows [][]string
	for _, q := range x.Queues {
		what := "becomes active"
		if !q.ActiveAfter {
			what = "BECOMES INACTIVE"
		}
		rows = append(rows, []string{Object{q.Kind, q.Namespace, q.Name}.String(), what, q.Why})
	}
	p.section("QUEUES", rows, 0, "QUEUE", "WHAT", "WHY")
}

func (x *Impact) otherLines(p *page) {
	var never [][]string
	for _, w := range x.NeverFits {
		never = append(never, []string{w})
	}
	shown, left := first(never, mostLines)
	p.section("CAN NEVER FIT ANY MORE", shown, left, "WORKLOAD")
	apart(p, "RUN ON BEYOND THE QUOTA (Kueue does not evict them for it)", x.OverQuota, func(o *ImpactOver) []string {
		of := "Cohort/" + or(o.Cohort, "?")
		if o.ClusterQueue != nil {
			of = "ClusterQueue/" + *o.ClusterQueue
		}
		return []string{of, o.Flavor, o.Resource, o.By, o.Before}
	}, "OF", "FLAVOR", "RESOURCE", "BY", "BEFORE")
}

func (x *Impact) changeLines(p *page) {
	apart(p, "WAIT FOR ANOTHER REASON", x.Waiting.Changed, func(c *ImpactChange) []string {
		return []string{called(c.Workload, c.Job), c.ClusterQueue, c.After + " BEFORE: " + c.Before}
	}, "WORKLOAD", "CLUSTERQUEUE", "WHY")
}

func (x *Impact) admissionLines(p *page) {
	apart(p, "GET QUOTA", x.Admitted, func(a *ImpactAdmission) []string {
		var notes []string
		if a.Again {
			notes = append(notes, "again")
		}
		if a.Borrows {
			notes = append(notes, "borrows")
		}
		if a.Pods < a.PodsAsked {
			notes = append(notes, fmt.Sprintf("%d of %d pods", a.Pods, a.PodsAsked))
		}
		if len(a.Checks) > 0 {
			notes = append(notes, "waits for "+strings.Join(a.Checks, ", "))
		}
		return []string{called(a.Workload, a.Job), fmt.Sprint(a.Priority), a.ClusterQueue, flavorsText(a.Flavors), strings.Join(notes, "; ")}
	}, "WORKLOAD", "PRIORITY", "CLUSTERQUEUE", "FLAVORS", "NOTE")
}

// flavorsText names each flavor once, with its resources where there are several.
func flavorsText(flavors map[string]string) string {
	resources := map[string][]string{}
	for _, r := range slices.Sorted(maps.Keys(flavors)) {
		resources[flavors[r]] = append(resources[flavors[r]], r)
	}
	names := slices.Sorted(maps.Keys(resources))
	if len(names) == 1 {
		return names[0]
	}
	var out []string
	for _, f := range names {
		out = append(out, f+" ("+strings.Join(resources[f], ", ")+")")
	}
	return strings.Join(out, ", ")
}

func (x *Impact) quotaLines(p *page) {
	apart(p, "QUOTA", x.Quota, func(c *ImpactCell) []string {
		return []string{
			c.Kind + "/" + c.Name, c.Flavor, c.Resource, move(c.Before.Nominal, c.After.Nominal), move(c.Before.Reserved, c.After.Reserved), move(c.Before.Borrowed, c.After.Borrowed),
		}
	}, "OF", "FLAVOR", "RESOURCE", "NOMINAL", "RESERVED", "BORROWED")
}

func move(before, after string) string {
	if before == after {
		return before
	}
	return before + " -> " + after
}
