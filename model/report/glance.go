package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
)

// What of each table fits on one screen.
const (
	glanceAlerts = 8
	glanceQueues = 8
)

// Glance writes one screen of text: what needs a person, and how the queues are,
// those with the most pending Workloads first. It blocks as w does.
func (r *Report) Glance(w io.Writer) error {
	p := newPage(w)
	p.line("%s %s at %s", r.Source.Type, r.Source.Name, when(&r.Source.Now))
	p.line("Kueue %s, controller %s; %s", or(r.Contract.KueueVersion, "version unknown"), r.Contract.Controller.State, r.severities())
	if r.Unknown != "" {
		p.line("unknown: %s", r.Unknown)
	}
	r.alertLines(p, glanceAlerts)
	queues := slices.Clone(r.ClusterQueues)
	slices.SortStableFunc(queues, func(a, b ClusterQueue) int { return cmp.Compare(b.Pending, a.Pending) })
	shown, left := first(queues, glanceQueues)
	var rows [][]string
	for i := range shown {
		q := &shown[i]
		rows = append(rows, []string{q.Name, activity(q.Active, q.InactiveCauses), number(q.Pending), number(q.Admitted), numberOr(q.Evicting), queueNote(q.StopPolicy, q.Hold, nil, q.StatusStale, nil)})
	}
	p.section("CLUSTERQUEUES, THE LONGEST FIRST", rows, left, "NAME", "ADMITS", "PENDING", "ADMITTED", "EVICTING", "NOTE")
	p.head("%s", r.sloLine())
	return p.end()
}

// severities counts the alerts.
func (r *Report) severities() string {
	n := map[string]int{}
	for _, a := range r.Alerts {
		n[a.Severity]++
	}
	return fmt.Sprintf("%d critical, %s, %d to know", n["critical"], many(n["warning"], "warning"), n["info"])
}
