package report

import (
	"cmp"
	"io"
	"strings"
)

// Text writes the document for a person. It blocks as w does.
func (e *Explanation) Text(w io.Writer) error {
	p, x := newPage(w), &e.Workload
	p.line("Workload %s/%s, %s", x.Namespace, x.Name, x.State)
	if o := x.Owner; o != nil {
		p.line("  job            %s %s", o.Kind, o.Name)
	}
	p.line("  queues         LocalQueue %s, ClusterQueue %s", cmp.Or(x.LocalQueue, "none"), or(x.ClusterQueue, "unknown"))
	p.line("  priority       %d (%s)", x.Priority, or(x.PriorityClass, "no class"))
	p.line("  waited         %s", age(x.WaitSeconds))
	if x.RunningSeconds != nil {
		p.line("  running        %s", age(x.RunningSeconds))
	}
	p.line("  why            %s", x.Explanation)
	p.line("  to do          %s", toDo(x.Advice, or(x.Actor, "")))
	for _, o := range x.Obstacles {
		p.line("  in the way     %s", strings.TrimSpace(o.Object+" "+o.Detail))
	}
	for _, s := range x.Shortfall {
		p.line("  missing        %s of %s in flavor %s", s.Quantity, s.Resource, s.Flavor)
	}
	if x.Message != nil {
		p.line("  Kueue says     %s (%s ago)", *x.Message, age(x.MessageAge))
	}
	if x.Position != nil {
		p.line("  place          %s; ahead of it: %s", place(x), cmp.Or(strings.Join(e.Ahead, ", "), "nobody"))
	}
	if e.Chain != nil {
		p.line("  preempted      %s", e.Chain)
	}
	if u := because(x.Unknown, e.Unknown); u != "" {
		p.line("  unknown        %s", u)
	}
	for _, n := range e.Source.Notes {
		p.line("  note           %s", n)
	}
	var rows [][]string
	for i := range e.Timeline {
		m := &e.Timeline[i]
		rows = append(rows, []string{when(m.At), m.Kind, strings.TrimSuffix(m.Type+"="+m.Status, "="), m.Object, m.Reason, m.Text})
	}
	p.section("TIMELINE", rows, 0, "AT", "KIND", "TYPE", "OBJECT", "REASON", "TEXT")
	return p.end()
}
