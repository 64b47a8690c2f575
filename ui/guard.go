package ui

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// CrashError is a mistake of the program itself, after which it could not go on. The
// terminal has been given back when it is returned.
type CrashError struct {
	// Value is what was panicked with, safe to draw.
	Value string
	// Stack says where.
	Stack []byte
}

// Error is a sentence without the stack.
func (e *CrashError) Error() string { return "a mistake in holdfast ended the console: " + e.Value }

// Advice says what to do next.
func (e *CrashError) Advice() string {
	return "What was written to the cluster before is in the journal (holdfast journal). Please report this with what follows."
}

// crash keeps the first panic of a program and ends it. bubbletea's own way
// prints one of a command onto the screen that is about to vanish.
type crash struct {
	end func()

	mu  sync.Mutex
	err *CrashError
}

// catch is to be deferred.
func (c *crash) catch() {
	v := recover()
	if v == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = &CrashError{text.Clean(fmt.Sprint(v)), debug.Stack()}
	}
	c.end()
}

func (c *crash) caught() *CrashError {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// watch returns the command with its panics caught.
func (c *crash) watch(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (m tea.Msg) {
		defer c.catch()
		m = cmd()
		if all, ok := m.(tea.BatchMsg); ok {
			watched := make(tea.BatchMsg, len(all))
			for i, x := range all {
				watched[i] = c.watch(x)
			}
			return watched
		}
		return m
	}
}

// guard stands between bubbletea and the root: it catches panics, and does what
// job control asks for.
type guard struct {
	inner tea.Model
	crash *crash
	jobs  *term.Jobs
	base  context.Context
	mouse bool
}

// Messages of the guard.
type (
	// continuedMsg says that the terminal was somebody else's meanwhile.
	continuedMsg struct{}
	// regainedMsg says that the terminal is the console's again; then is for the root
	// and may be nil.
	regainedMsg struct{ then tea.Msg }
)

// toldMsg brings a sentence for the status line.
type toldMsg struct{ say say }

// Init is bubbletea's.
func (g guard) Init() tea.Cmd { return tea.Batch(g.crash.watch(g.inner.Init()), g.continued()) }

// continued waits until the program goes on after it was stopped unasked.
func (g guard) continued() tea.Cmd {
	return func() tea.Msg {
		select {
		case <-g.base.Done():
			return nil
		case <-g.jobs.Redraw():
			return continuedMsg{}
		}
	}
}

// Update is bubbletea's.
func (g guard) Update(m tea.Msg) (next tea.Model, cmd tea.Cmd) {
	next = g
	defer g.crash.catch()
	switch x := m.(type) {
	case continuedMsg:
		return g, tea.Batch(regain(func() error { return nil }), g.continued())
	case regainedMsg:
		var mouse tea.Cmd
		if g.mouse {
			mouse = tea.EnableMouseCellMotion // bubbletea forgets it
		}
		if x.then == nil {
			return g, mouse
		}
		inner, cmd := g.inner.Update(x.then)
		g.inner = inner
		return g, tea.Batch(mouse, g.crash.watch(cmd))
	}
	inner, cmd := g.inner.Update(m)
	g.inner = inner
	return g, g.crash.watch(cmd)
}

// View is bubbletea's.
func (g guard) View() string {
	defer g.crash.catch()
	return g.inner.View()
}

// filter puts a suspension that the shell can end in the place of bubbletea's own,
// which waits for ever where there is no shell.
func (g guard) filter(_ tea.Model, m tea.Msg) tea.Msg {
	if _, ok := m.(tea.SuspendMsg); !ok {
		return m
	}
	return regain(func() error { return g.jobs.Stop(g.base) })()
}

// regain gives the terminal back, runs f, and takes and draws it anew.
func regain(f func() error) tea.Cmd {
	return tea.Exec(without{f}, func(err error) tea.Msg {
		if err != nil {
			return regainedMsg{toldMsg{say{"Not suspended: " + err.Error(), theme.Warn}}}
		}
		return regainedMsg{}
	})
}
