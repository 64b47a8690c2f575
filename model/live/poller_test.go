package live

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"

	"cli.holdfast.dev/holdfast/model/world"
)

// These tests run in a bubble, where time passes by itself as soon as everybody
// waits: nothing really sleeps.

type question struct {
	queue string
	after time.Duration
}

// questions is a list of them that two goroutines share.
type questions struct {
	mu   sync.Mutex
	list []question
}

func (q *questions) add(x question) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = append(q.list, x)
}

func (q *questions) all() []question {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.list)
}

// poller returns a running Positions, what it asked since the begin, and a way to
// end it.
func poller(t *testing.T, answer func(ctx context.Context, queue string) ([]Position, error)) (*Positions, *questions, func()) {
	t.Helper()
	p := NewPositions(&Reader{}, clock.RealClock{})
	begun, asked := time.Now(), &questions{}
	var flying atomic.Int32
	p.ask = func(ctx context.Context, q string) ([]Position, error) {
		if flying.Add(1) > 1 {
			t.Error("two questions at the same time")
		}
		defer flying.Add(-1)
		asked.add(question{q, time.Since(begun)})
		return answer(ctx, q)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { p.Run(ctx); close(ended) }()
	return p, asked, func() { cancel(); <-ended }
}

func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func first(q string) []Position {
	return []Position{{Key: world.Key{Namespace: "ns", Name: q + "-1"}, ClusterQueue: 1}, {Key: world.Key{Namespace: "ns", Name: q + "-2"}, ClusterQueue: 2}}
}

func TestPollsWhatIsWanted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, asked, end := poller(t, func(_ context.Context, q string) ([]Position, error) { return first(q), nil })
		defer end()
		pass(time.Minute)
		if len(asked.all()) != 0 {
			t.Errorf("asked %v before anything was wanted", asked.all())
		}
		p.SetQueues([]string{"a", "b", "a"})
		if _, _, why := p.Get("a"); why == "" {
			t.Error("a place without a question")
		}
		pass(6 * time.Second)
		want := []question{{"a", time.Minute}, {"b", time.Minute}, {"a", time.Minute + pollEvery}, {"b", time.Minute + pollEvery}}
		if d := cmp.Diff(want, asked.all(), cmp.AllowUnexported(question{})); d != "" {
			t.Errorf("questions (-want +got):\n%s", d)
		}
		at, read, why := p.Get("b")
		if d := cmp.Diff(map[world.Key]int{{Namespace: "ns", Name: "b-1"}: 1, {Namespace: "ns", Name: "b-2"}: 2}, at); d != "" || why != "" || time.Since(read) != time.Second {
			t.Errorf("places of b, %s old, why %q (-want +got):\n%s", time.Since(read), why, d)
		}
		p.SetQueues(nil)
		before := len(asked.all())
		pass(time.Hour)
		if len(asked.all()) != before {
			t.Errorf("asked %v though nothing is wanted", asked.all()[before:])
		}
	})
}

func TestGoingBackAndForthDoesNotAskMoreOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, asked, end := poller(t, func(_ context.Context, q string) ([]Position, error) { return first(q), nil })
		defer end()
		for range 20 {
			p.SetQueues([]string{"a"})
			pass(100 * time.Millisecond)
			p.SetQueues([]string{"b"})
			pass(100 * time.Millisecond)
		}
		if len(asked.all()) != 2 {
			t.Errorf("asked %d times within 4 s, want once each: %v", len(asked.all()), asked.all())
		}
		pass(pollEvery) // a is due, and was not wanted any more
		p.SetQueues([]string{"b"})
		if at, _, why := p.Get("a"); at != nil || why == "" {
			t.Errorf("old places %v, why %q", at, why)
		}
	})
}

func TestNoMoreThanAFewQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, asked, end := poller(t, func(_ context.Context, q string) ([]Position, error) { return first(q), nil })
		defer end()
		var queues []string
		for i := range mostQueues + 3 {
			queues = append(queues, fmt.Sprintf("q%02d", i))
		}
		p.SetQueues(queues)
		pass(time.Second)
		if len(asked.all()) != mostQueues {
			t.Errorf("asked about %d queues, want %d", len(asked.all()), mostQueues)
		}
		if _, _, why := p.Get(queues[mostQueues]); why != "Kueue is asked about no more than 8 queues at a time" {
			t.Errorf("the one too many: %q", why)
		}
	})
}

func TestFailuresAreAskedAboutLessAndLess(t *testing.T) {
	resource := schema.GroupResource{Group: "visibility.kueue.x-k8s.io", Resource: "clusterqueues"}
	tests := map[string]struct {
		err   error
		pause []time.Duration
		why   string
	}{
		"forbidden":                    {apierrors.NewForbidden(resource, "a", nil), []time.Duration{10, 20, 40, 80, 120, 120}, "no access: get clusterqueues.visibility.kueue.x-k8s.io/pendingworkloads is not allowed (403)"},
		"the server asks for patience": {apierrors.NewTooManyRequests("busy", 300), []time.Duration{300, 300}, "the server is busy (429)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var repaired atomic.Bool
				p, asked, end := poller(t, func(_ context.Context, q string) ([]Position, error) {
					if !repaired.Load() {
						return nil, tc.err
					}
					return first(q), nil
				})
				defer end()
				p.SetQueues([]string{"a"})
				want := []question{{"a", 0}}
				for _, s := range tc.pause {
					pass(s * time.Second)
					want = append(want, question{"a", want[len(want)-1].after + s*time.Second})
				}
				if d := cmp.Diff(want, asked.all(), cmp.AllowUnexported(question{})); d != "" {
					t.Errorf("questions (-want +got):\n%s", d)
				}
				if at, read, why := p.Get("a"); at != nil || !read.IsZero() || why != tc.why {
					t.Errorf("%v %v %q, want no places and %q", at, read, why, tc.why)
				}
				repaired.Store(true)
				pass(tc.pause[len(tc.pause)-1] * time.Second)
				if at, _, why := p.Get("a"); len(at) != 2 || why != "" {
					t.Errorf("after it works again: %v %q", at, why)
				}
				n := len(asked.all())
				pass(pollEvery)
				if len(asked.all()) != n+1 {
					t.Error("after it works again it is not asked as often as before")
				}
			})
		})
	}
}

func TestASlowAnswerIsAskedForLessOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, asked, end := poller(t, func(_ context.Context, q string) ([]Position, error) {
			time.Sleep(2 * time.Second)
			return first(q), nil
		})
		defer end()
		p.SetQueues([]string{"a"})
		pass(time.Minute)
		if d := cmp.Diff([]question{{"a", 0}, {"a", 42 * time.Second}}, asked.all(), cmp.AllowUnexported(question{})); d != "" {
			t.Errorf("questions (-want +got):\n%s", d)
		}
	})
}

func TestAHangingAnswerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, asked, end := poller(t, func(ctx context.Context, q string) ([]Position, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		defer end()
		p.SetQueues([]string{"a"})
		pass(9 * time.Second)
		if _, _, why := p.Get("a"); why != "Kueue's Visibility API gave no answer in time" || len(asked.all()) != 1 {
			t.Errorf("%q after %d questions", why, len(asked.all()))
		}
	})
}
