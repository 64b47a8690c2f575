// Package live watches a cluster and keeps a store up to date with it: it finds
// out which version of Kueue's API to speak, lists and watches every kind, and
// measures how fresh each of them is. It only reads.
package live

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/kueue/client-go/clientset/versioned"
	kueuescheme "sigs.k8s.io/kueue/client-go/clientset/versioned/scheme"

	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// Options say what to watch.
type Options struct {
	// Config is a kube.Reader configuration.
	Config *rest.Config
	// Namespace limits LocalQueues and Workloads; empty: all namespaces.
	Namespace string
	// Contract is what is known before anything was asked (context, server, user).
	Contract world.Contract
	// ManagerNamespace and ManagerName say where Kueue's manager runs.
	ManagerNamespace, ManagerName string
	Clock                         clock.WithTicker
	// Log takes lines for the person's log screen. It must not block.
	Log func(string)
}

// Watcher keeps a store in step with a cluster. Make one with New, start it
// with Run, read it with Snapshot and Changed.
type Watcher struct {
	opts    Options
	store   *store.Store
	feeds   map[world.Kind]*feed
	current atomic.Pointer[store.Snapshot]
	changed chan struct{}

	refused refusals
	turned  chan struct{} // one slot: the manager went down or came back

	mu       sync.Mutex
	reach    error     // of the last probe; nil: the server answers
	retry    time.Time // of the next probe while there is no answer
	contract world.Contract
	untried  verdict // of the validating webhook, without trial
	trial    trial
}

// New returns a Watcher that has not asked the cluster anything yet; its
// snapshot is empty and says that everything is syncing.
func New(o Options) *Watcher {
	w := &Watcher{opts: o, store: store.New(o.Clock), feeds: map[world.Kind]*feed{}, changed: make(chan struct{}, 1), turned: make(chan struct{}, 1), contract: o.Contract}
	for _, k := range kinds() {
		w.feeds[k.kind] = &feed{}
	}
	w.store.SetContract(o.Contract)
	w.publish()
	return w
}

// Snapshot returns the latest snapshot. It never blocks and is never nil.
func (w *Watcher) Snapshot() *store.Snapshot { return w.current.Load() }

// Changed gives one token whenever there is a newer snapshot than the reader of
// the last token could have seen; at most about five a second. It is meant for
// one reader.
func (w *Watcher) Changed() <-chan struct{} { return w.changed }

// Run watches until ctx ends. It returns when everything that it started has
// ended. Trouble with the cluster never ends it: it is shown as freshness.
func (w *Watcher) Run(ctx context.Context) error {
	client, err := kube.NewClient(w.opts.Config)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	start := func(f func(context.Context)) {
		wg.Add(1)
		go func() { defer wg.Done(); f(ctx) }()
	}
	start(w.publishLoop)
	start(func(ctx context.Context) { w.probeLoop(ctx, client) })
	version, err := w.discover(ctx, client)
	if err != nil {
		return nil // ctx ended
	}
	q := &inquiry{client: client, opts: w.opts, refused: &w.refused}
	start(func(ctx context.Context) { w.contractLoop(ctx, q) })
	start(func(ctx context.Context) { w.partsLoop(ctx, q) })
	reflectors, err := w.reflectors(version)
	if err != nil {
		w.opts.Log("nothing can be watched: " + err.Error())
		return err
	}
	for _, r := range reflectors {
		start(r)
	}
	<-ctx.Done()
	return nil
}

// discover asks for the served versions until there is an answer. It fails only
// when ctx ends.
func (w *Watcher) discover(ctx context.Context, client *kube.Client) (string, error) {
	for {
		ask, cancel := context.WithTimeout(ctx, kube.Patience)
		served, use, err := client.Served(ask)
		cancel()
		if err == nil {
			w.update(func(c *world.Contract) { c.Served, c.Used = served, use })
			for _, f := range w.feeds {
				f.answered(w.opts.Clock.Now())
			}
			return use, nil
		}
		if errors.Is(err, kube.ErrNoKueue) || served != nil {
			err = absentError{err}
		}
		for _, k := range kinds() {
			if k.group == kube.Group {
				w.feeds[k.kind].failed("", err)
			}
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-w.opts.Clock.After(discoverEvery):
		}
	}
}

// reflectors returns one function for each kind that lists and watches it until
// its context ends.
func (w *Watcher) reflectors(version string) ([]func(context.Context), error) {
	kc, err := versioned.NewForConfig(w.opts.Config)
	if err != nil {
		return nil, err
	}
	core, err := kubernetes.NewForConfig(w.opts.Config)
	if err != nil {
		return nil, err
	}
	clients := map[string]rest.Interface{
		kube.Group: kc.KueueV1beta2().RESTClient(), coreGroup: core.CoreV1().RESTClient(),
		nodev1.GroupName: core.NodeV1().RESTClient(), schedulingv1.GroupName: core.SchedulingV1().RESTClient(),
	}
	if version == "v1beta1" {
		clients[kube.Group] = kc.KueueV1beta1().RESTClient()
	}
	var out []func(context.Context)
	for _, k := range kinds() {
		lw := &listWatch{rest: clients[k.group], params: scheme.ParameterCodec, resource: k.resource, feed: w.feeds[k.kind], clock: w.opts.Clock}
		if k.group == kube.Group {
			lw.params = kueuescheme.ParameterCodec
		}
		if k.namespaced {
			lw.namespace = w.opts.Namespace
		}
		s := &sink{kind: k.kind, store: w.store, feed: lw.feed, clock: w.opts.Clock, log: w.opts.Log, have: map[world.Key]bool{}}
		r := cache.NewReflectorWithOptions(lw, k.example(version), s, cache.ReflectorOptions{Name: "holdfast/" + k.resource})
		out = append(out, r.RunWithContext)
	}
	return out, nil
}

// listWatch lists and watches one resource and tells its feed how that goes.
type listWatch struct {
	rest      rest.Interface
	params    runtime.ParameterCodec
	resource  string
	namespace string
	feed      *feed
	clock     clock.PassiveClock
}

// ListWithContext lists the resource.
func (l *listWatch) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	l.feed.begins()
	obj, err := l.rest.Get().NamespaceIfScoped(l.namespace, l.namespace != "").Resource(l.resource).VersionedParams(&o, l.params).Do(ctx).Get()
	l.note(ctx, "list", err)
	return obj, err
}

// WatchWithContext watches the resource.
func (l *listWatch) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	o.Watch = true
	if o.SendInitialEvents != nil && *o.SendInitialEvents {
		l.feed.begins()
	}
	wi, err := l.rest.Get().NamespaceIfScoped(l.namespace, l.namespace != "").Resource(l.resource).VersionedParams(&o, l.params).Watch(ctx)
	l.note(ctx, "watch", err)
	if err != nil {
		return nil, err
	}
	n := l.feed.opened()
	return newWatched(wi, func() { l.feed.closed(n, l.clock.Now()) }), nil
}

// watched is a watch whose end is noticed.
type watched struct {
	watch.Interface
	events chan watch.Event
	stop   chan struct{}
	once   sync.Once
}

func newWatched(in watch.Interface, ended func()) *watched {
	w := &watched{Interface: in, events: make(chan watch.Event), stop: make(chan struct{})}
	go func() {
		defer close(w.events)
		defer ended()
		for e := range in.ResultChan() {
			select {
			case w.events <- e:
			case <-w.stop:
				return
			}
		}
	}()
	return w
}

// ResultChan implements watch.Interface.
func (w *watched) ResultChan() <-chan watch.Event { return w.events }

// Stop implements watch.Interface.
func (w *watched) Stop() {
	w.once.Do(func() { close(w.stop) })
	w.Interface.Stop()
}

func (l *listWatch) note(ctx context.Context, verb string, err error) {
	switch {
	case err == nil:
		l.feed.allowed(verb, l.clock.Now())
	case ctx.Err() == nil:
		l.feed.failed(verb, err)
	}
}

// List implements cache.ListerWatcher for callers without a context.
func (l *listWatch) List(o metav1.ListOptions) (runtime.Object, error) {
	return l.ListWithContext(context.Background(), o)
}

// Watch implements cache.ListerWatcher for callers without a context.
func (l *listWatch) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return l.WatchWithContext(context.Background(), o)
}
