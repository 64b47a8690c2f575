package ui

import (
	"context"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/ui/filter"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// Above bigList Workloads, typing is debounced and refreshes come once a second.
const (
	bigList  = 5000
	debounce = 80 * time.Millisecond
)

// board is a screen that lists the rows of a sheet, with a filter, an order and
// marks. The rows are made outside the drawing loop; each is drawn as it is now.
type board[K comparable, T any] struct {
	sheet  *sheet[K, T]
	list   table.List[K, T]
	order  order
	filter input
	typing bool
	// marks are the rows that the person marked, listed or not; lost is how many more
	// they marked that do not exist any more.
	marks map[K]T
	lost  int

	// asked is the ticket of the question under way, 0 for none; fresh says that it
	// is the person's (another filter or order). due is the ticket of the debounce.
	asked, due uint64
	fresh      bool
	// from is the snapshot of which the last question was asked.
	from *store.Snapshot
	last listing[T] // the last answer
	late bool       // a refresh waits for the next second
	// came says that the person came here after the last answer, so that nothing they
	// saw can move; held is an answer that waits until the screen may.
	came bool
	held *listing[T]
	// after is when a question that takes long may be asked again; behind is since when
	// the rows are not those of the snapshot, zero where they are.
	after, behind time.Time
}

// Messages of this screen.
type (
	listedMsg[T any] struct {
		ticket uint64
		listing[T]
	}
	debouncedMsg struct{ ticket uint64 }
)

func newBoard[K comparable, T any](s *sheet[K, T]) board[K, T] {
	return board[K, T]{sheet: s, list: table.NewList(s.key)}
}

// filtered is the board with the filter.
func (s board[K, T]) filtered(text string) board[K, T] {
	s.filter = input{text: text}
	return s
}

// query is the filter as it is understood.
func (s board[K, T]) query() filter.Query { return filter.Parse(s.filter.text, s.sheet.fields) }

// Title is Screen's.
func (s board[K, T]) Title(e Env) (string, string) {
	word, ok := known(e, s.sheet.of...)
	right := count(s.last.all)
	if s.filter.text != "" {
		right = plural(s.last.all, s.sheet.noun)
	} else if s.sheet.total != nil {
		right, ok = s.sheet.total(e), true
	}
	switch {
	case ok:
	case word == e.Theme.Glyph.Ellipsis:
		right += " so far"
	default:
		right = word
	}
	if s.filter.text != "" {
		n := count(s.list.Standing())
		if s.last.query.Text != s.filter.text {
			n = e.Theme.Glyph.Ellipsis // that many had the words before
		}
		right = n + " of " + right
		if s.last.fuzzy {
			right += " resemble"
		}
	}
	if ok {
		right = seenOf(&s.list, s.lines(e)) + right
	}
	if s.marking() {
		right = s.markedWords() + ", " + right
	}
	right += ", by " + s.sheet.said(s.order)
	if s.last.order != s.order {
		right += e.Theme.Glyph.Ellipsis
	}
	if s.last.of != nil && !s.behind.IsZero() && e.Now.Sub(s.behind) >= olderThan {
		right += ", as of " + stamp(e.Now, s.last.of.At)
	}
	return s.sheet.name, right
}

// Typing is typer's.
func (s board[K, T]) Typing() bool { return s.typing }

// Keys is Screen's.
func (s board[K, T]) Keys() []Binding {
	out := []Binding{
		{Keys: keys("enter", "right", "l", "d"), Name: "open", Help: "open what is under the cursor", Enabled: s.any, Run: s.enter},
		{Keys: keys("/"), Name: "filter", Help: filterHelp(s.sheet.fields), Run: func(Env) (Screen, Intent) { s.typing = true; return s, nil }},
	}
	switch {
	case s.filter.text != "":
		out = append(out, Binding{Keys: keys("esc"), Name: "clear", Help: "clear the filter", Run: func(e Env) (Screen, Intent) {
			s.filter = input{}
			return s.ask(e, true)
		}})
	case s.marking():
		out = append(out, Binding{Keys: keys("esc"), Name: "unmark", Help: "take every mark away", Run: func(Env) (Screen, Intent) {
			return s.unmarked(), nil
		}})
	}
	out = append(out, []Binding{
		{Keys: keys("s"), Name: "sort", Help: "sort by the next column", Run: func(e Env) (Screen, Intent) {
			s.order = next(s.sheet.columns, s.order)
			return s.ask(e, true)
		}},
		{Keys: keys("I"), Help: "turn the order round", Run: func(e Env) (Screen, Intent) {
			s.order.turned = !s.order.turned
			return s.ask(e, true)
		}},
	}...)
	if s.sheet.yaml {
		out = append(out, Binding{Keys: keys("y"), Help: "open what is under the cursor as YAML", Enabled: s.any, Run: func(e Env) (Screen, Intent) {
			row, _ := s.picked()
			return s, inYAML(s.sheet.open(e, row))
		}})
	}
	if s.sheet.alive != nil {
		out = append(out, Binding{Keys: keys(" "), Name: "mark", Help: "mark, or take the mark away", Enabled: s.any, Run: s.mark})
	}
	if s.sheet.keys != nil {
		out = append(out, s.sheet.keys(s)...)
	}
	return append(out, moving(func(e Env, m table.Motion) Screen {
		s.list = s.list.Move(m, s.lines(e))
		return s
	})...)
}

// filterHelp says how rows with the fields are filtered.
func filterHelp(fields []string) string {
	out := "filter: words, !word, " + strings.Join(fields, ": ") + ":"
	if f := fields[0]; f == "ns" || f == "name" {
		out += " (" + f + ":=x is x alone)"
	}
	return out
}

// any says whether there is a row under the cursor.
func (s board[K, T]) any(Env) (bool, string) {
	_, why := s.picked()
	return why == "", why
}

// picked is the row under the cursor, or says why there is none.
func (s board[K, T]) picked() (row T, why string) {
	row, gone, ok := s.list.Selected()
	switch {
	case !ok:
		return row, "there is no " + s.sheet.noun + " here"
	case gone:
		return row, "it does not exist any more"
	}
	return row, ""
}

func (s board[K, T]) enter(e Env) (Screen, Intent) {
	row, _ := s.picked()
	return s, s.sheet.open(e, row)
}

// Update is Screen's.
func (s board[K, T]) Update(e Env, m tea.Msg) (Screen, Intent) {
	switch m := m.(type) {
	case shownMsg:
		return s.shown(e, m.came)
	case beatMsg:
		if s.late && s.asked == 0 && !e.Now.Before(s.after) {
			return s.ask(e, false)
		}
	case debouncedMsg:
		if m.ticket == s.due {
			s.due = 0
			return s.ask(e, true)
		}
	case listedMsg[T]:
		return s.listed(e, m)
	case tea.KeyMsg:
		return s.typed(e, m)
	}
	return s, nil
}

// shown asks for the list anew when something of it changed.
func (s board[K, T]) shown(e Env, came bool) (Screen, Intent) {
	if s.held != nil && !e.Still {
		s = s.take(e, *s.held)
	}
	if s.from != nil && s.sheet.same(s.from, e.Snap, s.query()) {
		return s, nil
	}
	s.came = s.came || came
	if s.behind.IsZero() {
		s.behind = e.Now
	}
	if s.asked != 0 || s.from != nil && len(e.Snap.Workloads) > bigList || e.Now.Before(s.after) {
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
func (s board[K, T]) ask(e Env, fresh bool) (Screen, Intent) {
	s.asked, s.from, s.late, s.held = e.Ticket, e.Snap, false, nil
	s.fresh = s.fresh || fresh
	list, last, q, o, ticket := s.sheet.list, s.last, s.query(), s.order, e.Ticket
	l := look{e.Snap, e.Now, e.memo.begin}
	return s, run{e.ask(func(context.Context) tea.Msg {
		return listedMsg[T]{ticket, list(last, l, q, o)}
	})}
}

func (s board[K, T]) listed(e Env, m listedMsg[T]) (Screen, Intent) {
	if m.ticket != s.asked {
		return s, nil
	}
	s.asked = 0
	if e.Still && !s.fresh && !s.came && s.last.of != nil {
		s.held = &m.listing
		return s, nil
	}
	return s.take(e, m.listing), nil
}

// take shows the rows.
func (s board[K, T]) take(e Env, l listing[T]) board[K, T] {
	s.last, s.held = l, nil
	_, synced := known(e, s.sheet.of...)
	if s.fresh || !synced && !s.list.Moved() {
		s.list = s.list.Reset(l.rows)
	} else {
		s.list = s.list.Refresh(l.rows)
	}
	s.fresh, s.came, s.behind = false, false, time.Time{}
	if s.late {
		s.behind = e.Now
	}
	if len(e.Snap.Workloads) > bigList && s.sheet.dear != nil && s.sheet.dear(l.query) {
		s.after = e.Now.Add(pauseAfter(len(e.Snap.Workloads)))
	}
	return s.standing(e)
}

// typed takes a key while the filter is being written.
func (s board[K, T]) typed(e Env, k tea.KeyMsg) (Screen, Intent) {
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

// nothing says why there are no rows.
func (s board[K, T]) nothing(e Env) string {
	for _, k := range s.sheet.of {
		if word, gone := absence(e, k); gone {
			return " " + e.Theme.Paint(theme.Warn, word)
		}
	}
	switch {
	case s.last.of == nil || s.last.query.Text != s.filter.text:
		return " reading" + e.Theme.Glyph.Ellipsis
	case s.filter.text != "":
		return " None of " + plural(s.last.all, s.sheet.noun) + " matches this filter."
	}
	return " " + s.sheet.none
}
