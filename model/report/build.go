package report

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/chain"
	"cli.holdfast.dev/holdfast/model/health"
	"cli.holdfast.dev/holdfast/model/pods"
	"cli.holdfast.dev/holdfast/model/position"
	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// Input is everything that a document is made from.
type Input struct {
	Snapshot *store.Snapshot
	// Now is the time at which ages are measured, Source where the rest comes from;
	// its Now is not looked at.
	Now    time.Time
	Source Source
	// Events, of both APIs, name Workloads that are gone and fill a timeline.
	Events []world.Event
	// Pods and Nodes, and whether they were read at all.
	Pods     []world.Pod
	HasPods  bool
	Nodes    []world.Node
	HasNodes bool
	// Positions are places in ClusterQueues that Kueue gave, the first is 1; nil: it
	// was not asked. Where it gave none, places are estimated.
	Positions map[types.UID]int
	// Checkpoint is the annotation in which jobs record their progress; empty: none.
	Checkpoint string
}

// Build makes the report. It does not block and may be called from any goroutine;
// its time is linear in Workloads, events, pods, chain links and the possible
// lenders of each borrower, but for sorting.
func Build(in Input) *Report {
	b := newBuilder(in)
	r := &Report{APIVersion: APIVersion, Kind: KindReport, Source: sourceOf(in), Contract: contract(&b.s.Contract), Unknown: b.unread()}
	explanations := make([]reason.Explanation, 0, len(b.s.Workloads))
	for _, w := range b.s.Workloads {
		explanations = append(explanations, b.x.Explain(w))
	}
	chains := b.chains.All()
	b.learn(chains)
	b.queues(r)
	b.sides(r)
	r.Workloads = make([]Workload, 0, len(explanations))
	for i, w := range b.s.Workloads {
		r.Workloads = append(r.Workloads, b.workload(w, &explanations[i]))
	}
	r.Chains = make([]Chain, 0, len(chains))
	for i := range chains {
		r.Chains = append(r.Chains, chainOf(&chains[i]))
	}
	r.Alerts = alerts(health.Alerts(health.Input{Snapshot: b.s, Explanations: explanations, Chains: chains, Strangers: b.strangers(), Now: b.now}))
	r.SLO = slo(health.SLOOf(b.s, b.now))
	return r
}

// builder holds what several parts of a document need.
type builder struct {
	in     Input
	s      *store.Snapshot
	now    time.Time
	x      *reason.Explainer
	chains *chain.Finder
	steps  map[types.UID]*chain.Step // the last preemption, by victim
	places map[types.UID]int         // estimated
	pods   *pods.Index               // nil: pods were not read
	tree   *quota.Tree
	// counted is set where the numbers of ClusterQueues come from Workloads, all of
	// which can be seen; otherwise they come from the ClusterQueues' statuses.
	counted bool
	fair    bool // fair sharing is shown to be on
}

func newBuilder(in Input) *builder {
	s := in.Snapshot
	b := &builder{
		in: in, s: s, now: in.Now.UTC().Truncate(time.Second), steps: map[types.UID]*chain.Step{},
		chains: chain.New(s, chain.Options{Events: in.Events, Checkpoint: in.Checkpoint}),
		places: position.Estimate(s), tree: s.Tree, counted: allWorkloads(s), fair: s.FairSharing(),
	}
	b.x = reason.New(s, b.now)
	if in.HasPods {
		b.pods = pods.NewIndex(in.Pods)
	}
	if !readable(s, world.KindWorkload) {
		b.tree = quota.Build(s.ClusterQueues, s.Cohorts, func(name string) []quota.Usage { return statusUse(s.ClusterQueue(name).Status) })
	}
	return b
}

// learn keeps the last preemption of every Workload that is on a chain.
func (b *builder) learn(chains []chain.Chain) {
	for i := range chains {
		for j := range chains[i].Links {
			step := &chains[i].Links[j]
			b.steps[step.VictimUID] = step
		}
	}
}

// sourceOf is the source of the input as documents have it.
func sourceOf(in Input) Source {
	src := in.Source
	src.Name, src.Now, src.ReadAt, src.Notes = text.Clean(src.Name), in.Now.UTC().Truncate(time.Second), src.ReadAt.UTC().Truncate(time.Second), sentences(src.Notes)
	return src
}

// sentences cleans texts for a document.
func sentences(in []string) []string {
	out := make([]string, 0, len(in))
	for _, s := range in {
		out = append(out, text.Clean(s))
	}
	return out
}

// strangers are the pods outside Kueue, where those and the nodes are known.
func (b *builder) strangers() []pods.Stranger {
	if !b.in.HasPods || !b.in.HasNodes {
		return nil
	}
	return pods.Strangers(b.s, b.in.Pods, b.in.Nodes)
}

// readable reports whether the rows of the kind may be taken for what there is.
func readable(s *store.Snapshot, k world.Kind) bool {
	f := s.Fresh(k)
	return f.Usable() && f.Feed != world.Denied
}

// allWorkloads reports whether every Workload can be seen.
func allWorkloads(s *store.Snapshot) bool {
	return readable(s, world.KindWorkload) && s.Contract.Limit() == ""
}

// unread says which lists of the report are not complete, and why.
func (b *builder) unread() string {
	var out []string
	for _, k := range world.WatchedKinds() {
		f := b.s.Fresh(k)
		if f.Feed == world.Live && f.Usable() {
			continue
		}
		detail := f.Feed.String()
		if f.Detail != "" {
			detail += ": " + strings.TrimSuffix(f.Detail, ".")
		}
		if readable(b.s, k) {
			detail = "perhaps not all, or old (" + detail + ")"
		}
		out = append(out, plural(k)+": "+detail)
	}
	if part := b.s.Contract.Part; part != "" {
		out = append(out, "Workloads other than those of "+part+": not exported")
	} else if ns := b.s.Contract.Namespace; ns != "" {
		out = append(out, "LocalQueues and Workloads outside namespace "+ns+": not asked for")
	}
	return strings.Join(out, "; ")
}

func plural(k world.Kind) string {
	if strings.HasSuffix(string(k), "Class") {
		return string(k) + "es"
	}
	return string(k) + "s"
}

// because joins what is unknown of one object.
func because(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}

// given is the string, or null where there is none.
func given[S ~string](s S) *string {
	if s == "" {
		return nil
	}
	out := text.Clean(string(s))
	return &out
}

// latest is the last moment that RFC 3339 can write in UTC.
var latest = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

// moment is the time in UTC and whole seconds, null where it is zero. One that no
// RFC 3339 text can hold, which another zone's may turn into, is drawn to the end
// that is nearest.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Second)
	switch {
	case t.Year() < 0:
		t = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	case t.After(latest):
		t = latest
	}
	return &t
}

// seconds is the duration in whole seconds, or null.
func seconds(d *time.Duration) *int64 {
	if d == nil {
		return nil
	}
	n := int64(*d / time.Second)
	return &n
}

func list[T any](in []T) []T {
	if in == nil {
		return []T{}
	}
	return in
}
