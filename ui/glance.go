package ui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/model/health"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/table"
)

// alertKey is what there is one alert of.
type alertKey struct {
	class health.Class
	of    world.Ref
}

// glance says what needs a person now, and how the queues serve. Looking at all
// Workloads takes long, so it is done outside the drawing loop, once at a time and
// with pauses; what is drawn is the last look, with its age.
type glance struct {
	list table.List[alertKey, health.Alert]
	last outlook
	done bool // last is there
	// held is a look that waits until the screen may move.
	held *outlook
	// asked is the ticket of the look under way, 0 for none; after is when the next
	// may begin.
	asked uint64
	after time.Time
	// came says that the person came here after the last look, so that nothing they saw
	// can move.
	came bool
	// curve are the figures since the console was opened, one for each pace, also while another
	// screen is seen; sampled is the ticket of the one under way.
	curve   samples
	sampled uint64
}

// Messages of this screen.
type (
	lookedMsg struct {
		ticket uint64
		look   outlook
	}
	// sampleDue comes at the pace of the curves.
	sampleDue  struct{}
	sampledMsg struct {
		ticket uint64
		sample sample
	}
)

func newGlance() glance {
	return glance{list: table.NewList(func(a health.Alert) alertKey { return alertKey{a.Class, a.Object} })}
}

// olderThan is the age from which a look is said to be of then.
const olderThan = 5 * time.Second

// Title is Screen's.
func (s glance) Title(e Env) (string, string) {
	right := ""
	if s.done && e.Now.Sub(s.last.at) >= olderThan {
		right = "as of " + stamp(e.Now, s.last.at)
	}
	if s.done && s.last.limit != "" {
		if right != "" {
			right += ", "
		}
		right += "Workloads of " + s.last.limit + " alone"
	}
	return "Glance", right
}

// Keys is Screen's.
func (s glance) Keys() []Binding {
	here := func(Env) (bool, string) {
		if _, _, ok := s.list.Selected(); !ok {
			return false, "there is nothing under the cursor"
		}
		return true, ""
	}
	out := []Binding{
		{Keys: keys("enter", "right", "l"), Name: "open", Help: "open what must change or be looked at", Enabled: here, Run: s.enter},
		{Keys: keys("i"), Name: "all of it", Help: "all that is to be said of this, and the objects that it concerns", Enabled: here, Run: func(e Env) (Screen, Intent) {
			a, _, _ := s.list.Selected()
			return s, push{newAlertPage(a, s.last.at)}
		}},
		{Keys: keys("f"), Name: "figures", Help: "all figures, and why some are not known", Enabled: func(Env) (bool, string) {
			return s.done, "there are no figures yet"
		}, Run: func(Env) (Screen, Intent) { return s, push{newFigures(s.last)} }},
	}
	out = append(out, queueActions(s, s.target)...)
	return append(out, moving(func(e Env, m table.Motion) Screen {
		s.list = s.list.Move(m, s.layout(e).rows)
		return s
	})...)
}

// target is the queue or Cohort under the cursor.
func (s glance) target(e Env) (world.Ref, string) {
	a, gone, ok := s.list.Selected()
	switch {
	case !ok:
		return world.Ref{}, "there is nothing under the cursor"
	case gone:
		return world.Ref{}, "what the cursor is on is over: open it to act on it"
	case a.Object.Kind != world.KindClusterQueue && a.Object.Kind != world.KindLocalQueue && a.Object.Kind != world.KindCohort:
		return world.Ref{}, "the cursor is on " + nameOf(e, a.Object) + ", which is no queue"
	case a.Object.UID == "":
		return world.Ref{}, "there is no object " + object(a.Object)
	}
	return a.Object, ""
}

func (s glance) enter(e Env) (Screen, Intent) {
	a, _, ok := s.list.Selected()
	if !ok {
		return s, nil
	}
	if next := screenFor(e, a.Object); next != nil {
		return s, push{next}
	}
	return s, push{newAlertPage(a, s.last.at)}
}

// Update is Screen's.
func (s glance) Update(e Env, m tea.Msg) (Screen, Intent) {
	switch m := m.(type) {
	case shownMsg:
		if m.came && s.done && s.last.seq != e.Snap.Seq {
			s.came, s.held, s.after = true, nil, time.Time{}
		}
		return s.on(e)
	case beatMsg:
		return s.on(e)
	case lookedMsg:
		return s.looked(e, m)
	case sampleDue:
		return s.sample(e)
	case sampledMsg:
		if m.ticket == s.sampled {
			s.sampled, s.curve = 0, s.curve.with(m.sample)
		}
	}
	return s, nil
}

// on shows the look that waited, and begins another.
func (s glance) on(e Env) (Screen, Intent) {
	if s.held != nil && !e.Still {
		s = s.take(*s.held)
	}
	return s.ask(e)
}

// ask begins another look when one is due.
func (s glance) ask(e Env) (Screen, Intent) {
	switch {
	case s.asked != 0, s.held != nil, !settled(e):
		return s, nil
	case !s.done:
	case e.Now.Before(s.after), e.Snap.Seq == s.last.seq && (e.Behind || e.Now.Sub(s.last.at) < stillPause):
		return s, nil
	}
	s.asked = e.Ticket
	snap, now, begin, ticket := e.Snap, e.Now, e.memo.begin, e.Ticket
	return s, run{e.ask(func(context.Context) tea.Msg { return lookedMsg{ticket, takeLook(snap, now, begin)} })}
}

// settled reports whether the lists that all the rest hangs on are there or are known
// not to come: with half of them, what is only not listed yet would be missing.
// Workloads, which take longest, are looked at as they come in.
func settled(e Env) bool {
	for _, k := range world.WatchedKinds() {
		if f := e.Snap.Fresh(k); k != world.KindWorkload && f.Feed == world.Syncing && !f.Usable() {
			return false
		}
	}
	return true
}

func (s glance) looked(e Env, m lookedMsg) (Screen, Intent) {
	if m.ticket != s.asked {
		return s, nil
	}
	first := !s.done
	s.asked, s.after = 0, e.Now.Add(pauseAfter(m.look.workloads))
	if e.Still && !first && !s.came {
		s.held = &m.look
		return s, nil
	}
	s = s.take(m.look)
	if !first {
		return s, nil
	}
	s.curve = s.curve.with(sample{m.look.at, m.look.slo})
	return s, run{e.timer(samplePace, sampleDue{})}
}

// take shows what the look found.
func (s glance) take(l outlook) glance {
	s.last, s.done, s.held, s.came = l, true, nil, false
	s.list = s.list.Refresh(l.alerts)
	if !s.list.Moved() {
		s.list = s.list.FromTop()
	}
	return s
}

// sample takes the figures for the curves, which costs little, and waits for the next
// time. What stands still on the screen is not how it is now and makes no sample.
func (s glance) sample(e Env) (Screen, Intent) {
	if e.Behind {
		return s, run{e.timer(samplePace, sampleDue{})}
	}
	s.sampled = e.Ticket
	snap, now, ticket := e.Snap, e.Now, e.Ticket
	return s, run{tea.Batch(e.timer(samplePace, sampleDue{}), e.ask(func(context.Context) tea.Msg {
		return sampledMsg{ticket, sample{now, health.SLOOf(snap, now)}}
	}))}
}
