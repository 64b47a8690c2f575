package live

import (
	"context"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// Periods of the loops.
const (
	publishEvery  = 200 * time.Millisecond
	agesEvery     = time.Second
	discoverEvery = 3 * time.Second
	probeEvery    = 5 * time.Second
	contractEvery = 15 * time.Second
	partsEvery    = time.Minute
)

// absentError marks an answer that says the API is not there, so that it is not
// taken for a lost connection.
type absentError struct{ error }

func (e absentError) Unwrap() error { return e.error }

// publishLoop makes a snapshot when something changed, at most every
// publishEvery; after a slow one it leaves the machine to others for a while.
// Once a second it looks at the ages of the feeds.
func (w *Watcher) publishLoop(ctx context.Context) {
	for {
		begun := w.opts.Clock.Now()
		w.publish()
		pause := publishEvery
		if took := w.opts.Clock.Since(begun); took > 50*time.Millisecond {
			pause = min(time.Second, 4*took)
		}
		select {
		case <-ctx.Done():
			return
		case <-w.opts.Clock.After(pause):
		}
		select {
		case <-ctx.Done():
			return
		case <-w.store.Stale():
		case <-w.opts.Clock.After(agesEvery):
		}
	}
}

func (w *Watcher) publish() {
	w.mu.Lock()
	reach, retry := w.reach, w.retry
	w.mu.Unlock()
	now := w.opts.Clock.Now()
	for k, f := range w.feeds {
		fresh := f.freshness(now, reach)
		if fresh.Feed == world.Disconnected && reach != nil {
			fresh.Retry = retry
		}
		w.store.SetFreshness(k, fresh)
	}
	w.update(func(c *world.Contract) { c.Unreadable = w.unreadable(c.Unreadable) })
	if !w.store.Dirty() {
		return
	}
	w.current.Store(w.store.Snapshot())
	select {
	case w.changed <- struct{}{}:
	default: // the reader has not taken the last token; it will see this one too
	}
}

// probeLoop asks the server something small again and again, since a dead
// connection can keep a watch looking alive for most of a minute.
func (w *Watcher) probeLoop(ctx context.Context, client *kube.Client) {
	for {
		ask, cancel := context.WithTimeout(ctx, kube.Patience)
		v, err := client.ServerVersion(ask)
		cancel()
		if ctx.Err() != nil {
			return
		}
		if apierrors.IsForbidden(err) || apierrors.IsTooManyRequests(err) {
			err = nil // it answers, that is all the probe wants to know
		}
		w.mu.Lock()
		w.reach, w.retry = err, w.opts.Clock.Now().Add(probeEvery)
		w.mu.Unlock()
		if err == nil && v != "" {
			w.update(func(c *world.Contract) { c.ServerVersion = v })
		}
		select {
		case <-ctx.Done():
			return
		case <-w.opts.Clock.After(probeEvery):
		}
	}
}

// contractLoop keeps who we are and what is written about Kueue's parts up to
// date.
func (w *Watcher) contractLoop(ctx context.Context, q *inquiry) {
	for {
		f := q.facts(ctx)
		if ctx.Err() != nil {
			return
		}
		broken := w.conversionFailure()
		changed := false
		w.update(func(c *world.Contract) {
			was := c.Controller
			if f.userErr == nil {
				c.User, c.UserFrom = f.user, "server"
			} else if !c.Asked {
				w.opts.Log("the server does not say who you are, the kubeconfig's word stands: " + f.userErr.Error())
			}
			f.setVersion(c)
			f.setController(c)
			f.setWebhook(c)
			w.untried = verdict{c.ValidatingWebhook, c.ValidatingWebhookDetail}
			w.trial.tell(c, w.opts.Clock.Now())
			if broken != nil {
				c.ConversionWebhook, c.ConversionWebhookDetail = broken.state, broken.detail
			}
			changed = c.Asked && was != c.Controller
			c.Asked = true
		})
		if changed {
			select {
			case w.turned <- struct{}{}:
			default:
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-w.opts.Clock.After(contractEvery):
		}
	}
}

// partsLoop tries, less often, what can only be known by asking Kueue itself.
func (w *Watcher) partsLoop(ctx context.Context, q *inquiry) {
	for {
		w.mu.Lock()
		served, used := w.contract.Served, w.contract.Used
		w.mu.Unlock()
		p := q.parts(ctx, served, used)
		if ctx.Err() != nil {
			return
		}
		if broken := w.conversionFailure(); broken != nil {
			p.conversion = *broken
		}
		w.update(func(c *world.Contract) {
			c.ConversionWebhook, c.ConversionWebhookDetail = p.conversion.state, p.conversion.detail
			c.Visibility, c.VisibilityDetail = p.visibility.state, p.visibility.detail
			c.Served, c.Stored, c.Probed = p.served, p.stored, true
		})
		pause := partsEvery
		if p.conversion.state == world.NotReady || p.visibility.state == world.NotReady {
			pause = contractEvery // people wait for it to come back
		}
		select {
		case <-ctx.Done():
			return
		case <-w.turned: // what was seen of a manager that ran is not true any more
		case <-w.opts.Clock.After(pause):
		}
	}
}

// conversionFailure is what a feed says that just failed for want of the
// conversion webhook; nil: none did.
func (w *Watcher) conversionFailure() *verdict {
	for _, k := range kinds() {
		if err := w.feeds[k.kind].failure(); kube.ConversionError(err) {
			return &verdict{world.NotReady, text.Clean(err.Error())}
		}
	}
	return nil
}

// unreadable lists what the server refuses; was is the list so far, which is
// returned where nothing changed.
func (w *Watcher) unreadable(was []world.Unreadable) []world.Unreadable {
	out := w.refused.list()
	for _, k := range kinds() {
		u := world.Unreadable{Resource: groupResource(k.resource, k.group)}
		if k.namespaced {
			u.Namespace = w.opts.Namespace
		}
		for _, verb := range w.feeds[k.kind].refusals() {
			u.Verb = verb
			out = append(out, u)
		}
	}
	slices.SortFunc(out, compareUnreadable)
	if out = slices.Compact(out); slices.Equal(out, was) {
		return was
	}
	return out
}

func (w *Watcher) update(change func(*world.Contract)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.contract)
	w.store.SetContract(w.contract)
}
