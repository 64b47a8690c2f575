package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// mostLines bounds the tables of the text: it is for reading, the other forms have
// everything.
const mostLines = 100

// Text writes the report for a person: first what needs one, then the queues and
// their quota, then the Workloads that wait, each with its sentence. It blocks as w
// does.
func (r *Report) Text(w io.Writer) error {
	p := newPage(w)
	r.title(p)
	r.alertLines(p, mostLines)
	r.queueLines(p)
	r.localLines(p)
	r.quotaLines(p)
	r.waitingLines(p)
	r.chainLines(p)
	p.head("%s", r.sloLine())
	return p.end()
}

func (r *Report) title(p *page) {
	p.line("%s %s at %s", r.Source.Type, r.Source.Name, r.Source.Now.Format(time.RFC3339))
	p.line("Kueue %s, %s in use, controller %s", or(r.Contract.KueueVersion, "version unknown"), used(r.Contract.Used), r.Contract.Controller.State)
	for _, n := range r.Source.Notes {
		p.line("note: %s", n)
	}
	if r.Unknown != "" {
		p.line("unknown: %s", r.Unknown)
	}
}

func used(version string) string {
	if version == "" {
		return "no version"
	}
	return version
}

func (r *Report) alertLines(p *page, most int) {
	if len(r.Alerts) == 0 {
		p.head("Nothing needs a person, as far as can be seen.")
		return
	}
	shown, left := first(r.Alerts, most)
	var rows [][]string
	for _, a := range shown {
		rows = append(rows, []string{a.Severity, a.Class, a.Object.String(), toDo(a.Advice, a.Actor), a.Explanation})
	}
	p.section("NEEDS A PERSON, OR IS WORTH KNOWING", rows, left, "SEVERITY", "CLASS", "OBJECT", "TO DO", "WHY")
}

// String is Kind/name or Kind/namespace/name.
func (o Object) String() string {
	if o.Namespace == "" {
		return o.Kind + "/" + o.Name
	}
	return o.Kind + "/" + o.Namespace + "/" + o.Name
}

func toDo(advice, actor string) string {
	if actor == "" {
		return advice
	}
	return advice + " (" + actor + ")"
}

// queueLines lists the ClusterQueues, those that admit nothing first.
func (r *Report) queueLines(p *page) {
	queues := slices.Clone(r.ClusterQueues)
	slices.SortStableFunc(queues, func(a, b ClusterQueue) int { return yes(a.Active) - yes(b.Active) })
	shown, left := first(queues, mostLines)
	var rows [][]string
	for i := range shown {
		q := &shown[i]
		rows = append(rows, []string{
			q.Name, or(q.Cohort, "-"), activity(q.Active, q.InactiveCauses), number(q.Pending), number(q.Reserving), number(q.Admitted), numberOr(q.Evicting),
			or(q.WeightedShare, "-"), queueNote(q.StopPolicy, q.Hold, q.ManagedBy, q.StatusStale, q.StatusNote),
		})
	}
	p.section("CLUSTERQUEUES", rows, left, "NAME", "COHORT", "ADMITS", "PENDING", "RESERVING", "ADMITTED", "EVICTING", "SHARE", "NOTE")
}

func yes(b *bool) int {
	if b != nil && *b {
		return 1
	}
	return 0
}

func number(n int) string { return fmt.Sprint(n) }

func numberOr(n *int) string {
	if n == nil {
		return "?"
	}
	return number(*n)
}

func activity(active *bool, causes []string) string {
	switch {
	case active == nil:
		return "unknown"
	case *active:
		return "yes"
	}
	return "no: " + strings.Join(causes, ", ")
}

func queueNote(policy string, h *Hold, managedBy *string, stale bool, note *string) string {
	var out []string
	if policy != "None" {
		out = append(out, policy)
	}
	if h != nil && h.By != nil {
		out = append(out, fmt.Sprintf("held by %s at %s: %s", *h.By, when(h.At), or(h.Reason, "no reason given")))
	}
	if stale {
		out = append(out, "STALE STATUS")
	}
	out = append(out, or(note, ""))
	if managedBy != nil {
		out = append(out, "managed by "+*managedBy)
	}
	return because(out...)
}

func when(t *time.Time) string {
	if t == nil {
		return "an unknown time"
	}
	return t.Format(time.RFC3339)
}
