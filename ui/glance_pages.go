package ui

import (
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/model/health"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/doc"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// alertPage shows an alert whole, as it was seen, with the objects that it concerns
// as they are now.
type alertPage struct {
	alert health.Alert
	at    time.Time
	view  doc.View
}

func newAlertPage(a health.Alert, at time.Time) alertPage { return alertPage{alert: a, at: at} }

// Title is Screen's.
func (s alertPage) Title(e Env) (string, string) {
	return nameOf(e, s.alert.Object), "as of " + stamp(e.Now, s.at)
}

// Keys is Screen's.
func (s alertPage) Keys() []Binding {
	out := []Binding{{Keys: keys("enter", "right", "l"), Name: "open", Help: "open what the cursor is on", Run: func(e Env) (Screen, Intent) {
		return follow(e, s, s.view, s.doc(e))
	}}}
	return append(out, moving(func(e Env, m table.Motion) Screen {
		s.view = s.view.Move(m, s.doc(e), e.H)
		return s
	})...)
}

// Update is Screen's.
func (s alertPage) Update(Env, tea.Msg) (Screen, Intent) { return s, nil }

// View is Screen's.
func (s alertPage) View(e Env) []string { return pageOf(e.Theme, s.view, s.doc(e), e.W, e.H) }

func (s alertPage) doc(e Env) []doc.Line {
	p, a := newPaper(e), s.alert
	_, word, role := severity(e.Theme, a.Severity)
	if role == theme.Dim {
		role = theme.Plain
	}
	p.text("ABOUT", nameOf(e, a.Object), theme.Strong)
	p.text("", className(a.Class)+", "+word, role)
	p.gap()
	p.text("WHAT", a.Explanation, role)
	p.text("", lastsWords(e, a), theme.Plain)
	p.gap()
	p.text("WHO", or(advice(reason.Explanation{Advice: a.Advice, Actor: a.Actor}), "nobody has to act"), theme.Plain)
	if next := whereNext(a.Object); next != "" {
		p.text("", next, theme.Plain)
	}
	p.gap()
	head, links := concerned(e, a.Object)
	for _, l := range links[:min(len(links), topWaiting)] {
		p.link(head, nameOf(e, l), theme.Plain, l)
		head = ""
	}
	if left := len(links) - topWaiting; left > 0 {
		p.text("", "and "+count(left)+" more", theme.Dim)
	}
	return p.lines
}

// whereNext says where more is to be learned of an object that has no page of its own
// here.
func whereNext(r world.Ref) string {
	switch r.Kind {
	case world.KindTopology:
		return "In full: kubectl get topology " + r.Name + " -o yaml"
	case world.KindNamespace:
		return "Its labels are what namespaceSelectors look at: kubectl get namespace " + r.Name + " --show-labels"
	case health.KindKueue:
		return "What was asked and answered is under f on the glance; next are the logs of Kueue's manager and the pods of its Deployment."
	}
	return ""
}

// concerned lists where to read on: the object's page, or where it has none the queues
// and Workloads that name it.
func concerned(e Env, r world.Ref) (head string, out []world.Ref) {
	s := e.Snap
	if screenFor(e, r) != nil {
		return "PAGE", []world.Ref{r}
	}
	queues := func(names func(*world.ClusterQueue) bool) {
		head = "QUEUES"
		for _, q := range s.ClusterQueues {
			if names(q) {
				out = append(out, q.Ref())
			}
		}
	}
	switch r.Kind {
	case world.KindTopology:
		queues(func(q *world.ClusterQueue) bool {
			return slices.ContainsFunc(q.Flavors(), func(name string) bool {
				f := s.Flavor(name)
				return f != nil && f.Topology == r.Name
			})
		})
	case world.KindNamespace, world.KindClusterQueue:
		head = "QUEUES"
		for _, q := range s.LocalQueues {
			if r.Kind == world.KindNamespace && q.Namespace == r.Name || r.Kind == world.KindClusterQueue && q.ClusterQueue == r.Name {
				out = append(out, q.Ref())
			}
		}
	case world.KindLocalQueue:
		head = "WORKLOADS"
		for _, w := range waitingFor(s, r) {
			out = append(out, w.Ref())
		}
	}
	return head, out
}

// figures is every figure of one look.
type figures struct {
	look outlook
	view doc.View
}

func newFigures(l outlook) figures { return figures{look: l} }

// Title is Screen's.
func (s figures) Title(e Env) (string, string) { return "Figures", "as of " + stamp(e.Now, s.look.at) }

// Keys is Screen's.
func (s figures) Keys() []Binding {
	return moving(func(e Env, m table.Motion) Screen {
		s.view = s.view.Move(m, s.doc(e), e.H)
		return s
	})
}

// Update is Screen's.
func (s figures) Update(Env, tea.Msg) (Screen, Intent) { return s, nil }

// View is Screen's.
func (s figures) View(e Env) []string { return pageOf(e.Theme, s.view, s.doc(e), e.W, e.H) }

func (s figures) doc(e Env) []doc.Line {
	p := newPaper(e)
	list := func(head string, lines ...string) {
		for _, l := range lines {
			p.text(head, l, theme.Plain)
			head = ""
		}
		p.gap()
	}
	l := s.look
	list("LOOKED AT", l.lookedAt(e))
	var unread []string
	for _, k := range world.WatchedKinds() {
		if why := l.notRead(k); why != "" {
			unread = append(unread, why)
		}
	}
	if len(unread) > 0 {
		list("UNKNOWN", unread...)
	}
	var lines []string
	for _, x := range l.helps.by {
		lines = append(lines, plural(x.n, "Workload")+" "+x.word)
	}
	list("WAITING", orLines(lines, plain(l.helpsFigure(e)))...)
	list("QUEUES", plain(l.queuesFigure(e)))
	list("WAIT", plain(l.waitFigure(e, nil)), "A wait is counted as Kueue counts it: since the Workload was last put into its queue.")
	lines = nil
	for _, b := range borrowed(l.slo) {
		lines = append(lines, borrowingText(b))
	}
	list("BORROWED", orLines(lines, plain(l.borrowingFigure(e, nil)))...)
	list("PREEMPTED", plain(l.takesFigure(e)))
	lines = []string{plain(l.evictedFigure(e))}
	if r := l.slo.EvictionRatio; r != nil {
		lines = append(lines, percent(*r)+" of these Workloads were evicted at least once. Kueue keeps nothing of Workloads that are gone.")
	}
	list("EVICTED", lines...)
	lines = []string{plain(kueueFigure(e))}
	for _, x := range append(contractParts(e), contractPart{name: "version", detail: e.Snap.Contract.KueueVersionDetail}) {
		if x.detail != "" {
			lines = append(lines, x.name+": "+x.detail)
		}
	}
	list("KUEUE", append(lines, "This part is of now, not of the time above.")...)
	return p.lines
}

// orLines is the lines, or the one where there are none.
func orLines(lines []string, none string) []string {
	if len(lines) == 0 {
		return []string{none}
	}
	return lines
}

// plain is the first line of a figure as text.
func plain(f figure) string {
	var out []string
	for _, c := range f.lines[0].cells {
		out = append(out, c.Text)
	}
	return strings.Join(out, ", ")
}
