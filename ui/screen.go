package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/ui/theme"
)

// Screen is one page of the console. Screens are values on a stack, so going
// back finds everything as it was.
type Screen interface {
	// Title is the name of the page and what belongs at the right end of its line.
	Title(Env) (name, right string)
	// Keys are what can be pressed here.
	Keys() []Binding
	// Update takes a message other than a bound key.
	Update(Env, tea.Msg) (Screen, Intent)
	// View returns at most env.H lines of at most env.W cells.
	View(Env) []string
}

// typer is a Screen or Dialog that may want keys as text.
type typer interface{ Typing() bool }

// Dialog lies over the screens and takes every key.
type Dialog interface {
	Title(Env) string
	Keys() []Binding
	Update(Env, tea.Msg) (Dialog, Intent)
	// View returns the lines inside the frame, at most w cells wide and at most h.
	View(env Env, w, h int) []string
}

// Intent is what a screen or dialog wants besides its own change. A nil Intent
// is nothing.
type Intent interface{ intent() }

type (
	// push opens a screen over this one.
	push struct{ screen Screen }
	// back closes this screen.
	back struct{}
	// open puts a dialog on top.
	open struct{ dialog Dialog }
	// swap puts a dialog in the place of the top one.
	swap struct {
		dialog Dialog
		cmd    tea.Cmd
	}
	// closeDialog takes the top dialog away.
	closeDialog struct {
		say string
		cmd tea.Cmd
	}
	// jump goes to a tab.
	jump struct{ tab Tab }
	// visit closes the top dialog and goes to a screen in a tab.
	visit struct {
		tab    Tab
		screen Screen
		// alone puts the screen in the place of the tab's first page.
		alone bool
	}
	// press closes the top dialog and does what the key does below it.
	press struct{ key string }
	// depart ends the program's stay in this cluster and goes to another context.
	depart struct{ context string }
	// say shows a line in the footer until the next key.
	say struct {
		text string
		role theme.Role
	}
	// run runs a command.
	run struct{ cmd tea.Cmd }
	// quit ends the program.
	quit struct{}
)

func (push) intent()        {}
func (back) intent()        {}
func (open) intent()        {}
func (swap) intent()        {}
func (closeDialog) intent() {}
func (jump) intent()        {}
func (visit) intent()       {}
func (press) intent()       {}
func (depart) intent()      {}
func (say) intent()         {}
func (run) intent()         {}
func (quit) intent()        {}

// Messages that the root gives to screens.
type (
	// shownMsg says that there is a new snapshot, or that the screen has come to the
	// top: came is set then, and first the first time.
	shownMsg struct{ first, came bool }
	// beatMsg comes once a second.
	beatMsg struct{}
)
