package live

import (
	"context"
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
	probeEvery    = 5 * time.Second
	contractEvery = 15 * time.Second
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
	reach := w.reach
	w.mu.Unlock()
	now := w.opts.Clock.Now()
	for k, f := range w.feeds {
		w.store.SetFreshness(k, f.freshness(now, reach))
	}
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
		if apierrors.IsForbidden(err) {
			err = nil // it answers, that is all the probe wants to know
		}
		w.mu.Lock()
		w.reach = err
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

// contractLoop keeps who we are and what Kueue's manager says up to date.
func (w *Watcher) contractLoop(ctx context.Context, client *kube.Client) {
	for {
		ask, cancel := context.WithTimeout(ctx, kube.Patience)
		user, userErr := client.Whoami(ask)
		m, err := client.Manager(ask, w.opts.ManagerNamespace, w.opts.ManagerName)
		cancel()
		if ctx.Err() != nil {
			return
		}
		w.update(func(c *world.Contract) {
			if userErr == nil {
				c.User, c.UserFrom = user, "server"
			} else if !c.Asked {
				w.opts.Log("the server does not say who you are, the kubeconfig's word stands: " + userErr.Error())
			}
			setManager(c, m, err)
			c.Asked = true
		})
		select {
		case <-ctx.Done():
			return
		case <-w.opts.Clock.After(contractEvery):
		}
	}
}

func setManager(c *world.Contract, m kube.Manager, err error) {
	if err != nil {
		c.Controller, c.ControllerDetail = world.Unknown, text.Clean(err.Error())
		if c.KueueVersion == "" {
			c.KueueVersionDetail = c.ControllerDetail
		}
		return
	}
	c.Controller, c.ControllerDetail = world.NotReady, m.Detail
	if m.Available {
		c.Controller = world.Ready
	}
	c.KueueVersion, c.KueueVersionDetail = m.Version, ""
	if m.Version == "" {
		c.KueueVersionDetail = "the manager's image has no tag"
	}
}

func (w *Watcher) update(change func(*world.Contract)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.contract)
	w.store.SetContract(w.contract)
}
