package engine

import (
	"fmt"
	"slices"
	"time"
)

// walk are numbers of cycles in the course of which Kueue tries what waits in a queue.
var walk = []time.Duration{1, 2, 3, 4, 5, 7, 10, 15}

// Modes are the timings that a preview compares, the likeliest first. Evictions
// were seen to take 0.04 to 4 s with jobs that stop at once, and take as long as
// their pods need to end with others. Each is one run; a run also draws its own
// order where Kueue has none: among Workloads of equal priority that were created
// in the same second.
//
// Several changes reach Kueue one after the other, and its scheduler runs when it
// likes: more timings have it run between them. changes is how many there are.
func Modes(changes int) []Mode {
	modes := []Mode{
		{Name: "evictions take 1.2 s", Latency: 1200 * time.Millisecond},
		{Name: "evictions take 0.3 s", Latency: 300 * time.Millisecond},
		{Name: "evictions take 3 s", Latency: 3 * time.Second},
		{Name: "evictions take 30 s", Latency: 30 * time.Second},
		{Name: "evictions take 0.04 to 4 s", Latency: 40 * time.Millisecond, Spread: 4 * time.Second, Seed: 1},
		{Name: "evictions take 0.04 to 4 s, otherwise", Latency: 40 * time.Millisecond, Spread: 4 * time.Second, Seed: 2},
		{Name: "evictions take 1.2 s, a cycle 0.4 s", Latency: 1200 * time.Millisecond, Cycle: 400 * time.Millisecond},
		{Name: "evictions take 3 s, a cycle 0.8 s", Latency: 3 * time.Second, Cycle: 800 * time.Millisecond},
		{Name: "evictions take 0.04 to 4 s, a cycle 0.4 s", Latency: 40 * time.Millisecond, Spread: 4 * time.Second, Cycle: 400 * time.Millisecond, Seed: 3},
		{Name: "evictions take 0.04 to 4 s, a cycle 1 s", Latency: 40 * time.Millisecond, Spread: 4 * time.Second, Cycle: time.Second, Seed: 4},
		{Name: "evictions take 1.2 s, Kueue started anew", Latency: 1200 * time.Millisecond, Forgets: true},
		{Name: "evictions take 3 s, Kueue started anew", Latency: 3 * time.Second, Forgets: true},
		{Name: "what waits is tried at once", Latency: 1200 * time.Millisecond, Eager: true},
		{Name: "what waits is tried at once, evictions end at once", Latency: time.Millisecond, Eager: true},
	}
	// What a change lets Kueue try again is tried one after the other when the batch of it
	// is over: who was tried before an eviction ends, and then waits for the next batch,
	// differs with each cycle.
	for _, cycles := range walk {
		ends := requeueDelay() + cycles*cycleTime - cycleTime/2
		modes = append(modes, Mode{Name: fmt.Sprintf("evictions take %.3f s", ends.Seconds()), Latency: ends})
	}
	if changes < 2 {
		return modes
	}
	// A cycle takes cycleTime: who is tried before the next change comes, and then waits
	// for a second, differs with each. What a change lets Kueue try again is tried when the
	// batch of it is over, so the next change can come among those tries, too. That the
	// scheduler runs between two requests is likelier than that it does not.
	var between []Mode
	for _, from := range []time.Duration{0, requeueDelay()} {
		for _, cycles := range walk {
			pause := from + cycles*cycleTime
			between = append(between, Mode{Name: fmt.Sprintf("%.2f s between the changes", pause.Seconds()), Latency: 1200 * time.Millisecond, Between: pause})
		}
	}
	return append(slices.Concat(between[:1], modes, between[1:]),
		Mode{Name: "0.04 s between the changes, what waits is tried at once", Latency: 1200 * time.Millisecond, Between: 40 * time.Millisecond, Eager: true},
		Mode{Name: "Kueue comes to rest between the changes", Latency: 1200 * time.Millisecond, Between: untilRest},
	)
}
