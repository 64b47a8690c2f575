package ui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// rereadAfter is how long what was read of an object is good for though the object changed
// since: each reading asks the server twice.
const rereadAfter = 5 * time.Second

// loaded is what was read on demand about an object. Once the object changes it is read
// again by itself.
type loaded struct {
	ticket uint64 // of the reading under way; 0: none
	detail actions.Detail
	err    error
	done   bool
	yaml   bool
	// of is the object as it was known when the last reading began, at asked.
	of    any
	asked time.Time
	// wished says that a person waits for the reading under way. The answer to another one
	// is held while the screen stands still.
	wished bool
	held   *detailMsg
}

// detailMsg brings what was read.
type detailMsg struct {
	ticket uint64
	detail actions.Detail
	err    error
}

// load starts reading the object's detail, since a person wants it.
func (l loaded) load(e Env, ref world.Ref) (loaded, tea.Cmd) {
	l.wished = true
	return l.read(e, ref)
}

func (l loaded) read(e Env, ref world.Ref) (loaded, tea.Cmd) {
	l.ticket, l.held, l.of, l.asked = e.Ticket, nil, objectOf(e.Snap, ref), e.Now
	desk, ticket := e.Desk, e.Ticket
	return l, e.ask(func(ctx context.Context) tea.Msg {
		d, err := desk.Detail(ctx, ref)
		return detailMsg{ticket, cleanDetail(d), err}
	})
}

// shown follows the object: it begins another reading when that is due, and shows the
// answer that was held.
func (l loaded) shown(e Env, first bool, ref world.Ref) (loaded, tea.Cmd) {
	if first {
		return l.load(e, ref)
	}
	if l.held != nil && !e.Still {
		l = l.have(*l.held)
	}
	now := objectOf(e.Snap, ref)
	if l.ticket != 0 || !l.done || l.held != nil || e.Still || now == nil || now == l.of || e.Now.Sub(l.asked) < rereadAfter {
		return l, nil
	}
	l.wished = false
	return l.read(e, ref)
}

func (l loaded) take(e Env, m detailMsg) loaded {
	switch {
	case m.ticket != l.ticket:
		return l
	case e.Still && !l.wished && l.done:
		l.ticket, l.held = 0, &m
		return l
	}
	return l.have(m)
}

func (l loaded) have(m detailMsg) loaded {
	l.ticket, l.held, l.err, l.done = 0, nil, m.err, true
	if m.err == nil {
		l.detail = m.detail
	}
	return l
}

// objectOf is the object as the snapshot has it; nil: it does not have it.
func objectOf(s *store.Snapshot, r world.Ref) any {
	switch r.Kind {
	case world.KindWorkload:
		if w := s.WorkloadOf(r); w != nil {
			return w
		}
	case world.KindClusterQueue:
		if q := s.ClusterQueue(r.Name); q != nil {
			return q
		}
	case world.KindLocalQueue:
		if q := s.LocalQueue(r.Key); q != nil {
			return q
		}
	case world.KindResourceFlavor:
		if f := s.Flavor(r.Name); f != nil {
			return f
		}
	case world.KindAdmissionCheck:
		if c := s.Check(r.Name); c != nil {
			return c
		}
	}
	return nil
}

// detailKeys are the bindings of screens that read an object on demand.
func detailKeys(l loaded, with func(loaded, tea.Cmd) (Screen, Intent), ref world.Ref) []Binding {
	return []Binding{
		{Keys: keys("y"), Name: "yaml", Help: "the object as YAML, and back", Run: func(Env) (Screen, Intent) {
			l.yaml = !l.yaml
			return with(l, nil)
		}},
		{Keys: keys("r"), Name: "reload", Help: "read events and YAML again", Run: func(e Env) (Screen, Intent) { return with(l.load(e, ref)) }},
	}
}

// yamled is a page that can begin with the YAML of its object.
type yamled interface{ inYAML() Screen }

// inYAML is the intent to go to a page, with the page showing YAML where it can.
func inYAML(i Intent) Intent {
	if p, ok := i.(push); ok {
		if y, ok := p.screen.(yamled); ok {
			return push{y.inYAML()}
		}
	}
	return i
}

func (s queue) inYAML() Screen { s.detail.yaml = true; return s }

func (s workload) inYAML() Screen { s.detail.yaml = true; return s }

func (s card[T]) inYAML() Screen {
	if ok, _ := s.readable(Env{}); ok {
		s.detail.yaml = true
	}
	return s
}
