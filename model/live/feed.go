package live

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// silence is how long a healthy watch may say nothing: the server sends a
// bookmark about once a minute.
const silence = 90 * time.Second

// feed follows how one kind's list and watch are doing. client-go's own error
// handler does not see most outages (a refused connection is retried inside the
// reflector), so the calls themselves report here.
type feed struct {
	mu     sync.Mutex
	synced bool
	heard  time.Time // last answer, event or bookmark
	err    error     // of the last list or watch call; nil: it worked
	count  int       // objects streamed so far of a list in progress
	// listing is set from the begin of a list until it is in the store: what is
	// there meanwhile is from before.
	listing bool
	// watch numbers the watches; ended is when the last one ended, zero while it is
	// open. A healthy watch ends every few minutes and is begun again at once.
	watch int
	ended time.Time
	// refused are the verbs, list and watch, that the server forbade last time.
	refused map[string]bool
}

// renewal is how long the beginning of a new watch may take after the old one
// ended in order.
const renewal = 3 * time.Second

// begins notes that a list is asked for.
func (f *feed) begins() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listing, f.count = true, 0
}

// opened notes that a watch is open and returns its number.
func (f *feed) opened() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watch++
	f.ended = time.Time{}
	return f.watch
}

// closed notes that the watch of the number ended at the time. One that was
// stopped may be noticed only after its successor is open; that says nothing.
func (f *feed) closed(watch int, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if watch == f.watch {
		f.ended = now
	}
}

// answered notes that the server said something at the time.
func (f *feed) answered(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.heard, f.err = now, nil
}

// allowed notes that a call of the verb worked at the time.
func (f *feed) allowed(verb string, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.heard, f.err = now, nil
	delete(f.refused, verb)
}

// failed notes that a call of the verb did not work; an empty verb is one that
// asks for no object.
func (f *feed) failed(verb string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
	if apierrors.IsForbidden(err) && verb != "" {
		if f.refused == nil {
			f.refused = map[string]bool{}
		}
		f.refused[verb] = true
	}
}

// refusals lists the verbs that the server forbids.
func (f *feed) refusals() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Keys(f.refused))
}

// failure is the error of the last call; nil: it worked.
func (f *feed) failure() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// streaming notes that one more object of the first list arrived.
func (f *feed) streaming(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	f.heard = now
}

// listed notes that a complete list of n objects is in the store.
func (f *feed) listed(now time.Time, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.synced, f.heard, f.err, f.count, f.listing = true, now, nil, n, false
}

// changed notes an event after the list; delta is +1 or -1 for objects that came
// or went.
func (f *feed) changed(now time.Time, delta int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.heard, f.err = now, nil
	f.count += delta
}

// freshness is the feed's state at the time. reach is the error of the last
// probe of the server, nil when it answered.
func (f *feed) freshness(now time.Time, reach error) world.Freshness {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := world.Freshness{Synced: f.synced, Heard: f.heard, Count: f.count}
	err := f.err
	if err == nil {
		err = reach
	}
	switch {
	case err != nil:
		out.Feed, out.Detail = classify(err)
	case !f.synced:
		out.Feed = world.Syncing
	case f.listing:
		out.Feed, out.Detail = world.Delayed, "the list is being read anew; what is shown is from before"
	case !f.ended.IsZero() && now.Sub(f.ended) > renewal:
		out.Feed, out.Detail = world.Delayed, "the watch ended and is not open again yet"
	case now.Sub(f.heard) > silence:
		out.Feed, out.Detail = world.Delayed, "the watch has been silent for longer than a healthy one"
	default:
		// A live feed's exact last byte is of no interest; leaving it out keeps an
		// idle snapshot equal to the one before.
		out.Feed, out.Heard = world.Live, time.Time{}
	}
	return out
}

// classify turns an error of a list, watch or probe into a state and words.
func classify(err error) (world.Feed, string) {
	detail := text.Clean(err.Error())
	var status apierrors.APIStatus
	var netErr net.Error
	switch {
	case apierrors.IsForbidden(err):
		return world.Denied, detail
	case apierrors.IsUnauthorized(err):
		return world.Failing, "the server does not accept the credentials, log in again: " + detail
	case apierrors.IsNotFound(err), errors.As(err, new(absentError)):
		return world.Absent, "the cluster does not serve this resource: " + detail
	case kube.ConversionError(err):
		return world.Failing, "Kueue's conversion webhook does not answer, so the server cannot give these objects in this version; see whether Kueue's manager runs: " + detail
	case errors.As(err, &status):
		return world.Failing, detail
	case errors.As(err, &netErr) && netErr.Timeout():
		return world.Disconnected, fmt.Sprintf("no answer in time: %s", detail)
	}
	return world.Disconnected, detail
}
