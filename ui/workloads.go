package ui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// Above bigList Workloads, typing is debounced and refreshes come once a second.
const (
	bigList  = 5000
	debounce = 80 * time.Millisecond
)

// workloads is the list of Workloads. Filtering and sorting are done outside the
// drawing loop; the rows are those of the last answer, each drawn as it is now.
type workloads struct {
	list   table.List[types.UID, *world.Workload]
	order  workloadOrder
	filter input
	typing bool
	fuzzy  bool
	total  int

	// asked is the ticket of the question under way, 0 for none; fresh says that it
	// is the person's (another filter or order). due is the ticket of the debounce.
	asked, due uint64
	fresh      bool
	// from is the snapshot of which the last question was asked.
	from *store.Snapshot
	last listing // the last answer
	late bool    // a refresh waits for the next second
}

// Messages of this screen.
type (
	listedMsg struct {
		ticket uint64
		total  int
		listing
	}
	debouncedMsg struct{ ticket uint64 }
)

func newWorkloads() workloads {
	return workloads{list: table.NewList(func(w *world.Workload) types.UID { return w.UID })}
}

// Title is Screen's.
func (s workloads) Title(e Env) (string, string) {
	word, ok := known(e, world.KindWorkload)
	right := count(s.total)
	switch {
	case !ok && word == e.Theme.Glyph.Ellipsis:
		right += " so far"
	case !ok:
		right = word
	}
	if s.filter.text != "" {
		right = count(s.list.Len()) + " of " + right
		if s.fuzzy {
			right += " resemble"
		}
	}
	return "Workloads", right + ", by " + s.order.String()
}

// Typing is typer's.
func (s workloads) Typing() bool { return s.typing }

// Keys is Screen's.
func (s workloads) Keys() []Binding {
	out := []Binding{
		{Keys: keys("enter", "right", "l"), Name: "open", Help: "open the Workload: why, chain, timeline", Run: s.enter},
		{Keys: keys("/"), Name: "filter", Help: "filter: words, !word, ns: queue: state: job: name:", Run: func(Env) (Screen, Intent) { s.typing = true; return s, nil }},
		{Keys: keys("s"), Name: "sort", Help: "sort by state and priority, oldest, newest, or name", Run: s.sort},
		{Keys: keys("x"), Name: "export", Help: "write Workloads to a file", Run: s.export},
	}
	out = append(out, workloadActions(s, s.picked)...)
	if s.filter.text != "" {
		out = append(out, Binding{Keys: keys("esc"), Name: "clear", Help: "clear the filter", Run: func(e Env) (Screen, Intent) {
			s.filter = input{}
			return s.ask(e, true)
		}})
	}
	return append(out, moving(func(e Env, m table.Motion) Screen {
		s.list = s.list.Move(m, s.lines(e))
		return s
	})...)
}

// picked is the Workload under the cursor as it is now.
func (s workloads) picked(e Env) (*world.Workload, string) {
	w, gone, ok := s.list.Selected()
	if !ok {
		return nil, "there is no Workload here"
	}
	if gone {
		return nil, w.Key.String() + " does not exist any more"
	}
	if now := e.Snap.Workload(w.UID); now != nil {
		w = now
	}
	return w, ""
}

func (s workloads) enter(Env) (Screen, Intent) {
	w, gone, ok := s.list.Selected()
	if !ok {
		return s, nil
	}
	if gone {
		return s, say{w.Key.String() + " does not exist any more", theme.Warn}
	}
	return s, push{newWorkload(w)}
}

func (s workloads) sort(e Env) (Screen, Intent) {
	s.order = (s.order + 1) % workloadOrders
	return s.ask(e, true)
}

func (s workloads) export(e Env) (Screen, Intent) {
	var at []choice
	if w, _, ok := s.list.Selected(); ok {
		at = append(at, exports("Workloads of namespace "+w.Namespace, actions.Scope{Namespace: w.Namespace}))
		if w.LocalQueue != "" {
			at = append(at, exports("Workloads of LocalQueue "+w.Namespace+"/"+w.LocalQueue, actions.Scope{LocalQueue: world.Key{Namespace: w.Namespace, Name: w.LocalQueue}}))
		}
		if q, ok := e.Snap.QueueOf(w); ok {
			at = append(at, exports("Workloads of ClusterQueue "+q, actions.Scope{ClusterQueue: q}))
		}
	}
	return s, open{chooser{title: "Export which Workloads?", choices: append(at, exports("all Workloads", actions.Scope{}))}}
}

// Update is Screen's.
func (s workloads) Update(e Env, m tea.Msg) (Screen, Intent) {
	switch m := m.(type) {
	case shownMsg:
		return s.shown(e)
	case beatMsg:
		if s.late {
			return s.ask(e, false)
		}
	case debouncedMsg:
		if m.ticket == s.due {
			s.due = 0
			return s.ask(e, true)
		}
	case listedMsg:
		return s.listed(e, m)
	case tea.KeyMsg:
		return s.typed(e, m)
	}
	return s, nil
}

// shown asks for the list anew when Workloads or LocalQueues changed.
func (s workloads) shown(e Env) (Screen, Intent) {
	if s.from != nil && same(s.from.Workloads, e.Snap.Workloads) && same(s.from.LocalQueues, e.Snap.LocalQueues) {
		return s, nil
	}
	if s.asked != 0 || s.from != nil && len(e.Snap.Workloads) > bigList {
		s.late = true
		return s, nil
	}
	return s.ask(e, false)
}

// same reports whether two snapshots share the slice: a store makes another one
// when a row changes.
func same[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// ask has the list made from the snapshot. fresh is set when the person asked.
func (s workloads) ask(e Env, fresh bool) (Screen, Intent) {
	s.asked, s.from, s.late = e.Ticket, e.Snap, false
	s.fresh = s.fresh || fresh
	last, snap, filter, order, ticket := s.last, e.Snap, s.filter.text, s.order, e.Ticket
	return s, run{e.ask(func(context.Context) tea.Msg {
		return listedMsg{ticket, len(snap.Workloads), listWorkloads(last, snap, filter, order)}
	})}
}

func (s workloads) listed(e Env, m listedMsg) (Screen, Intent) {
	if m.ticket != s.asked {
		return s, nil
	}
	s.asked, s.total, s.fuzzy, s.last = 0, m.total, m.fuzzy, m.listing
	_, synced := known(e, world.KindWorkload)
	if s.fresh || !synced && !s.list.Moved() {
		s.list = s.list.Reset(m.rows)
	} else {
		s.list = s.list.Refresh(m.rows)
	}
	s.fresh = false
	return s, nil
}

// typed takes a key while the filter is being written.
func (s workloads) typed(e Env, k tea.KeyMsg) (Screen, Intent) {
	switch k.Type {
	case tea.KeyEnter:
		s.typing = false
		return s, nil
	case tea.KeyEsc:
		s.typing, s.filter = false, input{}
		return s.ask(e, true)
	case tea.KeyUp, tea.KeyDown:
		m := table.Up
		if k.Type == tea.KeyDown {
			m = table.Down
		}
		s.list = s.list.Move(m, s.lines(e))
		return s, nil
	}
	next, ok := s.filter.key(k)
	if !ok || next == s.filter {
		return s, nil
	}
	s.filter = next
	if len(e.Snap.Workloads) <= bigList {
		return s.ask(e, true)
	}
	s.due = e.Ticket
	return s, run{e.timer(debounce, debouncedMsg{e.Ticket})}
}
