package ui

import (
	"errors"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/ui/doc"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// takeOverWord is what is typed to take fields over: another word than any plan asks
// for, so that a hand that is used to those does not say it.
const takeOverWord = "take over"

// takeOver is where it goes on from fields that others own.
type takeOver struct {
	then  string           // what comes after a yes, as a sentence
	next  func(Env) Dialog // after a yes
	again func(Env) Dialog // without: what was tried is tried again
}

// owners lists the fields that others own. Taking them over is a key of its own, and a
// question of its own after it; neither writes anything.
type owners struct {
	title  string
	fields []actions.Foreign
	takeOver
	asking bool
	answer
	view doc.View
}

func newOwners(e Env, title string, fields []actions.Foreign, t takeOver) owners {
	return owners{title: text.Clean(title), fields: fields, takeOver: t, answer: answer{ticket: e.Ticket}}
}

// foreignOf are the fields of others that an error of the Desk brings.
func foreignOf(err error) []actions.Foreign {
	var p *actions.Problem
	if errors.As(err, &p) {
		return p.Foreign
	}
	return nil
}

// Start begins the grace.
func (d owners) Start(e Env) tea.Cmd { return d.arm(e) }

// Typing is typer's.
func (d owners) Typing() bool { return d.asking }

// Title is Dialog's. What it is about stands there whole, however long the name.
func (d owners) Title(e Env) string {
	tail := ": " + plural(len(d.fields), "field") + " of others"
	if d.asking {
		tail = ": TAKE OVER " + plural(len(d.fields), "field") + "?"
	}
	room := dialogWidth(e) - 4 - 2 - term.Width(tail)
	return term.Clip(d.title, max(0, room), e.Theme.Glyph.Ellipsis) + tail
}

// Keys is Dialog's.
func (d owners) Keys() []Binding {
	leave := func(Env) (Dialog, Intent) {
		if !d.armed {
			return d, nil
		}
		return d, closeDialog{say: unchanged}
	}
	scroll := scrolling(func(e Env, m table.Motion) Dialog {
		w, h := inside(e)
		d.view = d.view.Move(m, d.doc(e, w), h-len(d.foot(e, w)))
		return d
	}, !d.asking)
	if d.asking {
		return append([]Binding{
			{Keys: keys("enter"), Name: "confirm", Help: "take them over, once the words are typed", Do: d.confirm},
			{Keys: keys("esc"), Name: "no", Help: "nothing is changed", Do: leave},
		}, scroll...)
	}
	return append([]Binding{
		{Keys: keys("T"), Name: "TAKE OVER", Help: "TAKE OVER: become the owner of these fields; asks first", Do: func(e Env) (Dialog, Intent) {
			if !d.armed {
				return d, nil
			}
			next := newOwners(e, d.title, d.fields, d.takeOver)
			next.asking = true
			return d, swap{dialog: next}
		}},
		{Keys: keys("p"), Name: "plan again", Help: "plan again, without taking anything over", Do: func(e Env) (Dialog, Intent) {
			if !d.armed {
				return d, nil
			}
			return d, swap{dialog: d.again(e)}
		}},
		{Keys: keys("esc", "q", "enter"), Name: "close", Help: "nothing is changed", Do: leave},
	}, scroll...)
}

// confirm takes the fields over if the words are right.
func (d owners) confirm(e Env) (Dialog, Intent) {
	switch {
	case !d.armed:
		return d, nil
	case d.typed.text != takeOverWord:
		d.answer = d.refuse(takeOverWord)
		return d, nil
	}
	return d, swap{dialog: d.next(e)}
}

// Update is Dialog's.
func (d owners) Update(_ Env, m tea.Msg) (Dialog, Intent) {
	if _, ok := m.(tea.KeyMsg); ok && !d.asking {
		return d, nil
	}
	d.answer = d.update(m, takeOverWord)
	return d, nil
}

// managers are the owners, each once.
func (d owners) managers() []string {
	var out []string
	for _, f := range d.fields {
		if m := text.Clean(f.Manager); !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

func (d owners) doc(e Env, w int) []doc.Line {
	w -= 3 // for the mark of a link, which every page has
	p := &planPaper{e: e, w: w}
	say := func(s string, role theme.Role) {
		for _, l := range term.Wrap(s, w) {
			p.raw(e.Theme.Paint(role, l))
		}
	}
	if d.asking {
		say("holdfast becomes the owner of what is listed below, and "+strings.Join(d.managers(), ", ")+" loses it. A program that still writes there may put its own value back, or fail.", theme.Alarm)
	} else {
		say("The server refuses to change what others own unless they are taken over: agree with them first, or leave these fields out.", theme.Plain)
	}
	last := ""
	for _, f := range d.fields {
		if o := object(f.Ref); o != last {
			p.gap()
			p.raw(e.Theme.Paint(theme.Strong, text.Clean(o)))
			last = o
		}
		say("  "+text.Clean(f.Field)+"  owned by "+text.Clean(f.Manager), theme.Warn)
	}
	return p.lines
}

// foot is what stands below the list, whatever its length.
func (d owners) foot(e Env, w int) []string {
	out := []string{""}
	wrap := func(s string, role theme.Role) {
		for _, l := range term.Wrap(s, w) {
			out = append(out, e.Theme.Paint(role, l))
		}
	}
	if !d.asking {
		wrap(unchanged+" T: take them over (asks first)   p: plan again   Esc: close", theme.Dim)
		return out
	}
	wrap("Nothing is written by this. "+d.then, theme.Plain)
	out = append(out, d.ask(e, "Type \""+takeOverWord+"\" and Enter to TAKE OVER "+plural(len(d.fields), "field")+":", takeOverWord, theme.Alarm, w)...)
	return append(out, d.last(e, "Esc: no, nothing is changed."))
}

// View is Dialog's.
func (d owners) View(e Env, w, h int) []string {
	lines, foot := d.doc(e, w), d.foot(e, w)
	room := max(0, min(len(lines), h-len(foot)))
	return append(pageOf(e.Theme, d.view, lines, w, room), foot...)
}
