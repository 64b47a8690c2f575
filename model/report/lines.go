package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// localLines lists the LocalQueues of which something is to be said.
func (r *Report) localLines(p *page) {
	var rows [][]string
	for i := range r.LocalQueues {
		q := &r.LocalQueues[i]
		note := queueNote(q.StopPolicy, q.Hold, nil, q.StatusStale, q.StatusNote)
		if q.SelectorMatches != nil && !*q.SelectorMatches {
			note = because("its namespace does not match the ClusterQueue's selector", note)
		}
		if note == "" && q.Active != nil && *q.Active {
			continue
		}
		rows = append(rows, []string{q.Namespace + "/" + q.Name, q.ClusterQueue, activity(q.Active, q.InactiveCauses), number(q.Pending), number(q.Reserving), number(q.Admitted), note})
	}
	shown, left := first(rows, mostLines)
	p.section("LOCALQUEUES THAT ARE NOT AS USUAL", shown, left, "NAME", "CLUSTERQUEUE", "ADMITS", "PENDING", "RESERVING", "ADMITTED", "NOTE")
}

// quotaLines lists the cells in which something is in use, or missing.
func (r *Report) quotaLines(p *page) {
	var rows [][]string
	row := func(kind, name string, q *Quota) {
		if or(q.Reserved, "0") == "0" && q.Reserved != nil {
			return
		}
		note := q.Unknown
		if u := or(q.Uncovered, "0"); u != "0" {
			note = because("in debt: "+u+" covered by nobody", note)
		}
		if !q.InSpec && kind == "ClusterQueue" {
			note = because("not in its spec any more", note)
		}
		if len(q.Lenders) > 0 {
			note = because(note, "perhaps lent by "+lenders(q.Lenders))
		}
		rows = append(rows, []string{
			kind + "/" + name, q.Flavor, q.Resource, or(q.Nominal, "?"), or(q.Reserved, "?"), or(q.Admitted, "?"), or(q.Borrowed, "-"), or(q.Available, "?"), or(q.Potential, "?"), note,
		})
	}
	for i := range r.Cohorts {
		for j := range r.Cohorts[i].Resources {
			row("Cohort", r.Cohorts[i].Name, &r.Cohorts[i].Resources[j])
		}
	}
	for i := range r.ClusterQueues {
		for j := range r.ClusterQueues[i].Resources {
			row("ClusterQueue", r.ClusterQueues[i].Name, &r.ClusterQueues[i].Resources[j])
		}
	}
	shown, left := first(rows, mostLines)
	p.section("QUOTA IN USE", shown, left, "OF", "FLAVOR", "RESOURCE", "NOMINAL", "RESERVED", "ADMITTED", "BORROWED", "AVAILABLE", "MOST EVER", "NOTE")
}

// mostLenders bounds how many lenders a note names.
const mostLenders = 5

// lenders names who may be lending, each with what lies idle there.
func lenders(all []Lender) string {
	shown, left := first(all, mostLenders)
	var out []string
	for _, l := range shown {
		out = append(out, l.Kind+"/"+l.Name+" "+l.Idle)
	}
	if left > 0 {
		out = append(out, fmt.Sprintf("%d more", left))
	}
	return strings.Join(out, ", ")
}

// urgency orders Workloads by what a person has to do about them.
func (w *Workload) urgency() int {
	switch {
	case w.Stuck:
		return 0
	case w.Advice == "escalate":
		return 1
	case w.Advice == "change":
		return 2
	}
	return 3
}

// waiting lists the Workloads that do not run and are not over, the most urgent
// first, then those that wait longest.
func (r *Report) waiting() []*Workload {
	var out []*Workload
	for i := range r.Workloads {
		w := &r.Workloads[i]
		if w.State != "finished" && (w.State != "admitted" || w.Class != "ok") {
			out = append(out, w)
		}
	}
	slices.SortStableFunc(out, func(a, b *Workload) int {
		return cmp.Or(cmp.Compare(a.urgency(), b.urgency()), cmp.Compare(waited(b), waited(a)))
	})
	return out
}

func waited(w *Workload) int64 {
	if w.WaitSeconds == nil {
		return -1
	}
	return *w.WaitSeconds
}

func (r *Report) waitingLines(p *page) {
	all, left := first(r.waiting(), mostLines)
	var rows [][]string
	for _, w := range all {
		rows = append(rows, []string{
			w.Namespace + "/" + w.Name, or(w.ClusterQueue, "?"), w.State, place(w), age(w.WaitSeconds), w.Class, toDo(w.Advice, or(w.Actor, "")), w.Explanation,
		})
	}
	p.section("WORKLOADS THAT WAIT OR ARE NOT WELL", rows, left, "WORKLOAD", "CLUSTERQUEUE", "STATE", "PLACE (~ ESTIMATED)", "WAITED", "CLASS", "TO DO", "WHY")
}

func place(w *Workload) string {
	switch {
	case w.Position == nil:
		return "-"
	case w.PositionSource == "estimated":
		return fmt.Sprintf("~%d", *w.Position)
	}
	return number(*w.Position)
}

func (r *Report) chainLines(p *page) {
	var rows [][]string
	for i := range r.Chains {
		rows = append(rows, []string{r.Chains[i].String()})
	}
	shown, left := first(rows, mostLines)
	p.section("WHO PREEMPTED WHOM", shown, left, "FROM THE LAST VICTIM UP")
}

// String names victims and preemptors from the last victim up.
func (c *Chain) String() string {
	var out strings.Builder
	for i := range c.Links {
		l := &c.Links[i]
		if i == 0 {
			out.WriteString(l.Victim)
		}
		fmt.Fprintf(&out, " <- %s (%s)", or(l.Preemptor, "unknown"), cmp.Or(l.Reason, "reason unknown"))
	}
	switch c.End {
	case "loop":
		out.WriteString(", in a loop")
	case "unknown":
		out.WriteString(", further back is unknown")
	}
	return out.String()
}

func (r *Report) sloLine() string {
	s := &r.SLO
	out := []string{"pending " + numberOr(s.PendingCount)}
	if s.WaitSeconds != nil {
		p50, p95 := s.WaitSeconds.P50, s.WaitSeconds.P95
		out = append(out, fmt.Sprintf("waiting p50 %s, p95 %s, longest %s", age(&p50), age(&p95), age(s.OldestWaitSeconds)))
	}
	for _, e := range s.Evictions {
		out = append(out, fmt.Sprintf("evicted %d times for %s", e.Count, e.Reason))
	}
	if s.EvictionRatio != nil {
		out = append(out, fmt.Sprintf("%.1f%% of the Workloads were evicted at least once", *s.EvictionRatio*100))
	}
	return because(strings.Join(out, "; ")+" ("+s.Scope+")", s.Unknown)
}
