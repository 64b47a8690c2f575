package world

import "time"

// Feed is the state of one watched resource.
type Feed uint8

// The states of a feed, from best to worst for a reader.
const (
	Live         Feed = iota // listed, and the watch was heard from lately
	Syncing                  // the first list is under way
	Delayed                  // no byte for longer than a healthy watch is silent
	Absent                   // the cluster does not serve the resource
	Denied                   // the server refused list or watch
	Failing                  // the server answers with an error
	Disconnected             // the server cannot be reached
)

// String is the word that is shown.
func (f Feed) String() string {
	return [...]string{"live", "syncing", "delayed", "absent", "denied", "failing", "disconnected"}[f]
}

// Freshness says how far a resource's rows can be trusted.
type Freshness struct {
	Feed Feed
	// Heard is when the server last said anything on this resource; zero: never.
	Heard time.Time
	// Synced is set once a complete list has been seen; until then counts are
	// lower bounds.
	Synced bool
	// Count is the number of objects known, also during the first list.
	Count int
	// Detail is the server's or the network's words when Feed is not Live.
	Detail string
	// Retry is when the next attempt is due; zero when none is planned or known.
	Retry time.Time
}

// Usable reports whether rows exist that a reader may look at: a complete list
// was seen at some time, even if it is old now.
func (f Freshness) Usable() bool { return f.Synced }
