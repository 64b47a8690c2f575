// Package ui is what a person sees and presses. It reads snapshots and asks the
// Desk; it does no I/O of its own besides the terminal's.
//
// A root owns the size, a stack of screens for each tab and a stack of dialogs.
// Screens and dialogs are values: they take a message and return what they have
// become and what they want (an Intent). Drawing and updating read no clock and
// wait for nothing.
package ui

import (
	"context"
	"io"
	"os"
	"time"

	"k8s.io/utils/clock"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/manager"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// Options is what Run needs. Source, Desk and Clock are required.
type Options struct {
	Source Source
	Desk   Desk
	// Clock gives the time of ages and of the header; its location is that in which
	// times are shown.
	Clock clock.PassiveClock
	// Theme is the name of a theme; empty is theme.Dark.
	Theme theme.Name
	// NoColor draws without colours, ASCII without any other sign.
	NoColor, ASCII bool
	// ReadOnly disables what changes the cluster. It only spares a person the
	// refusal: what enforces it is the Desk.
	ReadOnly bool
	// File is the name of the file that the snapshot comes from; empty where it is a
	// cluster. The Desk then says why nothing can be changed.
	File string
	// Production marks the context as one where a slip hurts.
	Production bool
	// Places tells Kueue's own order of a queue; nil: it is estimated.
	Places Places
	// Sessions keeps rollback sessions; nil: there are none, as where the snapshot comes
	// from a file.
	Sessions Sessions
	// Contexts are the names of the kubeconfig's contexts, for the palette.
	Contexts []string
	// Notice is a sentence to begin with, as that another context could not be reached.
	Notice string
	// Events reads events when asked; nil: nobody does.
	Events Events
	// Journal is the record of what was done from this account; nil: there is none.
	Journal Journal
	// Settings reads how Kueue's manager is configured; it blocks, for a bounded time,
	// and may be called from any goroutine. Nil: nobody does.
	Settings func(context.Context) manager.Settings
	// Checkpoint is the annotation of a Workload in which its job records its
	// checkpoint; empty: none is known.
	Checkpoint string
	// Start is the tab to begin with; the zero value is Glance.
	Start Tab
	// Log returns the lines that would have gone to the terminal, oldest first; nil
	// for none.
	Log func() []string
	// Mouse takes the wheel and clicks, and the terminal's own selection with it.
	Mouse bool
	// NoCopy says why the terminal cannot copy; empty: it may. Tmux says that what is
	// for the terminal must get through tmux.
	NoCopy string
	Tmux   bool
	// In and Out are the terminal; nil is the process's own. Out may be a
	// *term.Output, which its maker can then end in an emergency.
	In  io.Reader
	Out io.Writer
}

// Places is Kueue's order of the Workloads that wait, as it was last read. Both
// methods return at once and may be called from any goroutine.
type Places interface {
	// SetQueues names the ClusterQueues whose order is on the screen now.
	SetQueues(clusterQueues []string)
	// Get returns the places, from 1, that Kueue gave, and when; why says why there
	// are none.
	Get(clusterQueue string) (places map[world.Key]int, readAt time.Time, why string)
}

// Events reads the events that are kept of a cluster. It may take its time, is called
// outside the drawing loop, with a deadline, and may return what it read before an
// error. The error may have a method Advice() string that says what to do next.
type Events interface {
	Events(ctx context.Context, scope actions.EventScope) (actions.EventList, error)
}

// Journal is what actions.Journal is. Read may take its time and is called outside the
// drawing loop.
type Journal interface {
	Read() (entries []actions.JournalEntry, bad []string, err error)
}

func (o Options) withDefaults() Options {
	if o.In == nil {
		o.In = os.Stdin
	}
	if o.Out == nil {
		o.Out = os.Stdout
	}
	if o.Log == nil {
		o.Log = func() []string { return nil }
	}
	return o
}

// Tab is one of the places that the number keys go to.
type Tab uint8

// The tabs, in the order of their keys.
const (
	TabGlance Tab = iota
	TabCohorts
	TabQueues
	TabWorkloads
	TabChains
	TabSessions
	TabFlavors
	TabChecks
	TabPriorities
	TabContract
	TabEvents
	TabJournal
	TabLog
	tabs
)

// String is the name of the tab.
func (t Tab) String() string {
	return [...]string{"Glance", "Cohorts", "Queues", "Workloads", "Chains", "Sessions", "Flavors", "Checks", "Priorities", "Contract", "Events", "Journal", "Log"}[t]
}

// key is the digit that goes to the tab; empty where only the palette and the tab
// key do.
func (t Tab) key() string {
	return [...]string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "0", "", "", ""}[t]
}

// open returns the tab's first screen.
func (t Tab) open() Screen {
	return [...]func() Screen{
		func() Screen { return newGlance() },
		func() Screen { return newCohorts() },
		func() Screen { return newQueues() },
		func() Screen { return newWorkloads() },
		func() Screen { return newChains() },
		func() Screen { return newSessions() },
		func() Screen { return newFlavors() },
		func() Screen { return newChecks() },
		func() Screen { return newPriorities() },
		func() Screen { return newContract() },
		func() Screen { return newEvents() },
		func() Screen { return newJournal() },
		func() Screen { return newLog() },
	}[t]()
}
