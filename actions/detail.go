package actions

import (
	"time"

	"cli.holdfast.dev/holdfast/model/world"
)

// Entry is one line of an object's history: who made it, who wrote to its spec (by the
// name of the program, the last write of each), a condition or an event.
type Entry struct {
	At   time.Time
	Kind string // "object", "write", "condition" or "event"
	Type string // condition type with its status, or the event's type, or what was done
	// Reason and Text are Kueue's words, safe to draw.
	Reason, Text string
	Count        int32 // how often the event was seen; 0 or 1: once
}

// Detail is what is read on demand when somebody opens an object.
type Detail struct {
	// Timeline has writes, conditions and events, oldest first.
	Timeline []Entry
	// EventsUnknown says why events could not be read; empty: they were, within
	// the server's retention (one hour by default).
	EventsUnknown string
	// Pods are the Workload's, where the object is one; PodsUnknown says why they
	// could not be read or tied to it.
	Pods        []world.Pod
	PodsUnknown string
	// Nodes are those that have all the node labels of the object, where it is a
	// ResourceFlavor that names any; NodesUnknown says why they could not be read.
	Nodes        []world.Node
	NodesUnknown string
	// YAML is the object as the server has it, env values, args and secret-looking
	// annotations redacted, one line an entry.
	YAML []string
	// ReadAt is when it was read.
	ReadAt time.Time
}
