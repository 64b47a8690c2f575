package actions

import (
	"time"

	"cli.holdfast.dev/holdfast/model/world"
)

// EventScope says which events are to be read.
type EventScope struct {
	// Namespace is where; empty: everywhere.
	Namespace string
	// Every asks for events of objects of every kind; else of Kueue's own kinds alone.
	Every bool
}

// EventList is what was read of the events, in any order.
type EventList struct {
	Events []world.Event
	// Reach says in words how far back events go and how many are read at most.
	Reach string
	// Cut is set where there are more, which are not the oldest.
	Cut    bool
	ReadAt time.Time
}
