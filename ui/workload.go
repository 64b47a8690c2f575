package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/model/chain"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/doc"
	"cli.holdfast.dev/holdfast/ui/table"
)

// workload shows one Workload whole: why it stands where it stands, who
// preempted whom, and what happened when.
type workload struct {
	// row is the Workload as it was last seen; gone says that it is not there now.
	row    *world.Workload
	gone   bool
	view   doc.View
	detail loaded
}

func newWorkload(w *world.Workload) workload { return workload{row: w} }

// Title is Screen's.
func (s workload) Title(e Env) (string, string) {
	state := strings.ToUpper(s.row.State.String())
	if at, ok := since(s.row); ok {
		state += " " + age(e.Now, at)
	}
	if s.gone {
		state = "DOES NOT EXIST ANY MORE"
	}
	return s.row.Namespace + "/" + s.row.JobName(), state
}

// Keys is Screen's.
func (s workload) Keys() []Binding {
	out := []Binding{
		{Keys: keys("enter", "right", "l"), Name: "open", Help: "open what the cursor is on", Run: s.enter},
		{Keys: keys("p"), Name: "preemptor", Help: "go to the Workload that preempted this one", Enabled: s.hasPreemptor, Run: s.preemptor},
	}
	out = append(out, workloadActions(s, func(Env) (*world.Workload, string) {
		if s.gone {
			return nil, s.row.Key.String() + " does not exist any more"
		}
		return s.row, ""
	})...)
	out = append(out, detailKeys(s.detail, func(l loaded, c tea.Cmd) (Screen, Intent) {
		if l.yaml != s.detail.yaml {
			s.view = doc.View{}
		}
		s.detail = l
		return s, run{c}
	}, s.row.Ref())...)
	return append(out, moving(func(e Env, m table.Motion) Screen {
		s.view = s.view.Move(m, s.doc(e), e.H)
		return s
	})...)
}

func (s workload) hasPreemptor(e Env) (bool, string) {
	l, ok := chain.By(e.Snap, s.row)
	switch {
	case !ok:
		return false, "no preemption of this Workload is known"
	case l.Preemptor == nil:
		return false, "the preemptor is not known (deleted, or not readable)"
	}
	return true, ""
}

func (s workload) preemptor(e Env) (Screen, Intent) {
	l, ok := chain.By(e.Snap, s.row)
	if !ok || l.Preemptor == nil {
		return s, nil
	}
	return s, push{newWorkload(l.Preemptor)}
}

func (s workload) enter(e Env) (Screen, Intent) { return follow(e, s, s.view, s.doc(e)) }

// queues are the ClusterQueues whose order this page tells.
func (s workload) queues(e Env) []string {
	if q, ok := e.Snap.QueueOf(s.row); ok && s.row.State == world.Pending {
		return []string{q}
	}
	return nil
}

// Update is Screen's.
func (s workload) Update(e Env, m tea.Msg) (Screen, Intent) {
	switch m := m.(type) {
	case shownMsg:
		now := e.Snap.WorkloadOf(s.row.Ref())
		s.gone = now == nil
		if now != nil {
			s.row = now
		}
		var c tea.Cmd
		s.detail, c = s.detail.shown(e, m.first, s.row.Ref())
		return s, run{c}
	case beatMsg:
		var c tea.Cmd
		s.detail, c = s.detail.shown(e, false, s.row.Ref())
		return s, run{c}
	case detailMsg:
		s.detail = s.detail.take(e, m)
	}
	return s, nil
}

// View is Screen's.
func (s workload) View(e Env) []string { return pageOf(e.Theme, s.view, s.doc(e), e.W, e.H) }

func (s workload) doc(e Env) []doc.Line {
	if s.detail.yaml {
		return yamlDoc(e, s.detail)
	}
	p := newPaper(e)
	s.whyDoc(p)
	s.placeDoc(p)
	p.gap()
	s.podsDoc(p)
	s.checksDoc(p)
	p.gap()
	s.chainDoc(p)
	p.gap()
	timelineDoc(p, s.detail)
	return p.lines
}
