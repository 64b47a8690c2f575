package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/doc"
	"cli.holdfast.dev/holdfast/ui/filter"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// about is what the list and the pages of one kind of names have in common. It never
// changes, and what it holds may be called from any goroutine.
type about[T named] struct {
	// rows makes all rows in their own order, outside the drawing loop.
	rows func(look) []T
	// same says that two snapshots give the same rows.
	same func(a, b *store.Snapshot) bool
	// body writes what is known of a row; l is what was read of it on demand.
	body func(p *paper, row T, l loaded)
}

// card shows one row of a list whole. What it joins is made outside the drawing loop.
type card[T named] struct {
	about *about[T]
	ref   world.Ref
	// there says that there was an object when the page was opened.
	there bool
	row   T
	done  bool // row was there
	left  bool // it is there no more
	join  joined[found[T]]

	view   doc.View
	detail loaded
}

// found is the row of a card, where there is one.
type found[T named] struct {
	row T
	ok  bool
}

// page is the card of the row.
func (a *about[T]) page(row T) card[T] {
	return card[T]{about: a, ref: row.ref(), there: row.there(), row: row, done: true, join: joined[found[T]]{done: true}}
}

// joiner finds the row of ref.
func (a *about[T]) joiner(ref world.Ref) joiner[found[T]] {
	return joiner[found[T]]{a.same, func(l look) found[T] {
		for _, r := range a.rows(l) {
			if r.ref() == ref {
				return found[T]{r, true}
			}
		}
		return found[T]{}
	}}
}

// find is the card of the object, or of the name where there is none; nil where the
// object is another one by now.
func (a *about[T]) find(s *store.Snapshot, ref world.Ref) Screen {
	m := metaOf(s, ref)
	switch {
	case m != nil && ref.UID == "":
		ref.UID = m.UID
	case m == nil && ref.UID != "", m != nil && m.UID != ref.UID:
		return nil
	}
	return card[T]{about: a, ref: ref, there: m != nil}
}

// sheet completes the sheet of the list: s has what is only the list's.
func (a *about[T]) sheet(s sheet[world.Ref, T], has func(look) func(row T, field, text string) bool) *sheet[world.Ref, T] {
	s.key = func(r T) world.Ref { return r.ref() }
	s.list = arranged(s.columns, a.rows, has, func(r T) string { return r.ref().Name })
	s.same = func(x, y *store.Snapshot, _ filter.Query) bool { return a.same(x, y) }
	s.now = func(e Env, r T) (T, bool) { return r, lost(e.Snap, r.ref(), r.there()) }
	s.open, s.yaml = func(_ Env, r T) Intent { return push{a.page(r)} }, true
	s.pane = func(e Env, r T, _ int) []string {
		p := newPaper(e)
		p.raw(e.Theme.Paint(theme.Strong, object(r.ref())))
		p.gap()
		a.body(p, r, loaded{})
		return p.plainLines()
	}
	s.keys = func(b board[world.Ref, T]) []Binding {
		return []Binding{editKey(b, func(Env) (world.Ref, string) {
			r, why := b.picked()
			if why != "" {
				return world.Ref{}, why
			}
			return r.ref(), ""
		})}
	}
	return &s
}

// Title is Screen's.
func (s card[T]) Title(e Env) (string, string) {
	right := string(s.ref.Kind)
	_, listed := knownKind(e.Snap, s.ref.Kind)
	switch {
	case lost(e.Snap, s.ref, s.there):
		right += ": " + lostWords(e.Snap, s.ref, s.there)
	case !s.there && listed:
		right += " that does not exist"
	}
	return s.ref.Name, right
}

// Keys is Screen's.
func (s card[T]) Keys() []Binding {
	out := []Binding{{Keys: keys("enter", "right", "l"), Name: "open", Help: "open what the cursor is on", Run: s.enter}}
	for _, b := range detailKeys(s.detail, func(l loaded, c tea.Cmd) (Screen, Intent) {
		if l.yaml != s.detail.yaml {
			s.view = doc.View{}
		}
		s.detail = l
		return s, run{c}
	}, s.ref) {
		b.Enabled = s.readable
		out = append(out, b)
	}
	out = append(out, editKey(s, func(e Env) (world.Ref, string) {
		if lost(e.Snap, s.ref, s.there) {
			return s.ref, object(s.ref) + ": " + lostWords(e.Snap, s.ref, s.there)
		}
		return s.ref, ""
	}))
	return append(out, moving(func(e Env, m table.Motion) Screen {
		s.view = s.view.Move(m, s.doc(e), e.H)
		return s
	})...)
}

// readable says whether the Desk reads the object on demand.
func (s card[T]) readable(Env) (bool, string) {
	switch {
	case !s.there:
		return false, "there is no object " + object(s.ref)
	case s.ref.Kind == world.KindPriorityClass:
		return false, "of a PriorityClass only the value is read"
	}
	return true, ""
}

func (s card[T]) enter(e Env) (Screen, Intent) { return follow(e, s, s.view, s.doc(e)) }

// Update is Screen's.
func (s card[T]) Update(e Env, m tea.Msg) (Screen, Intent) {
	switch m := m.(type) {
	case shownMsg:
		var read, join tea.Cmd
		if ok, _ := s.readable(e); ok {
			s.detail, read = s.detail.shown(e, m.first, s.ref)
		}
		s.join, join = s.join.shown(e, m.came, s.about.joiner(s.ref))
		return s, run{tea.Batch(read, join)}
	case beatMsg:
		var read, join tea.Cmd
		s.detail, read = s.detail.shown(e, false, s.ref)
		s.join, join = s.join.beat(e, s.about.joiner(s.ref))
		return s, run{tea.Batch(read, join)}
	case joinedMsg[found[T]]:
		var taken bool
		if s.join, taken = s.join.take(e, m); taken {
			if s.left = !m.value.ok; m.value.ok {
				s.row, s.done = m.value.row, true
			}
		}
	case detailMsg:
		s.detail = s.detail.take(e, m)
	}
	return s, nil
}

// View is Screen's.
func (s card[T]) View(e Env) []string { return pageOf(e.Theme, s.view, s.doc(e), e.W, e.H) }

func (s card[T]) doc(e Env) []doc.Line {
	if s.detail.yaml {
		return yamlDoc(e, s.detail)
	}
	p := newPaper(e)
	if lost(e.Snap, s.ref, s.there) || s.left && s.done {
		p.text("", object(s.ref)+": "+lostWords(e.Snap, s.ref, s.there)+". Esc: back. What follows is how it was last seen.", theme.Alarm)
		p.gap()
	}
	switch {
	case s.done:
		s.about.body(p, s.row, s.detail)
	case s.join.asked != 0 || s.join.from == nil:
		p.text("", "reading"+e.Theme.Glyph.Ellipsis, theme.Dim)
	default:
		p.text("", object(s.ref)+" does not exist, and nothing names it.", theme.Warn)
	}
	if ok, _ := s.readable(e); ok {
		p.gap()
		timelineDoc(p, s.detail)
	}
	return p.lines
}
