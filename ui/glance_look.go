package ui

import (
	"cmp"
	"slices"
	"time"

	"cli.holdfast.dev/holdfast/model/chain"
	"cli.holdfast.dev/holdfast/model/health"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// outlook is what one look at a snapshot found. It keeps nothing of the snapshot but
// the rows that it names.
type outlook struct {
	seq uint64
	at  time.Time // the clock's when it began
	// unread has a word for each kind of which the rows could not be counted on.
	unread map[world.Kind]string
	// alerts are all but those that only tell that quota is to come back: helps
	// counts these.
	alerts []health.Alert
	helps  helps
	slo    health.SLO
	// takes are the preemptions whose victims still wait, by the queue that took.
	takes []health.Taking
	// queues and locals count ClusterQueues and LocalQueues by the word for their
	// state; chains, workloads and limit say what was looked at.
	queues, locals    []worded
	chains, workloads int
	limit             string
}

// worded is a number of things that one word is said of.
type worded struct {
	word string
	n    int
}

// helps are the pending Workloads that only have to wait.
type helps struct {
	total  int
	by     []worded // by what they wait for
	oldest *world.Workload
	wait   time.Duration // of the oldest
}

// takeLook explains every Workload of the snapshot, which takes long where there are
// many: it is called outside the drawing loop.
func takeLook(s *store.Snapshot, now time.Time, begin explainer) outlook {
	out := outlook{
		seq: s.Seq, at: now, unread: map[world.Kind]string{}, slo: health.SLOOf(s, now),
		workloads: len(s.Workloads), limit: s.Contract.Limit(),
	}
	for _, k := range world.WatchedKinds() {
		if word, ok := knownKind(s, k); !ok {
			out.unread[k] = word
		}
	}
	why := begin(s, now)
	all := make([]reason.Explanation, 0, len(s.Workloads))
	for _, w := range s.Workloads {
		all = append(all, why(w))
	}
	finder := chain.New(s, chain.Options{})
	chains := finder.All()
	out.chains = len(chains)
	alerts := health.Alerts(health.Input{Snapshot: s, Explanations: all, Chains: chains, Now: now})
	out.alerts = slices.DeleteFunc(alerts, func(a health.Alert) bool {
		return a.Class == health.Class(reason.Quota) && a.Severity == health.Info && a.Advice == reason.AdviceWait
	})
	out.helps = helpsOf(s, all, now)
	out.takes = health.Takings(s, finder, now)
	for _, q := range s.ClusterQueues {
		out.queues = counted(out.queues, clusterState(s, q).Text)
	}
	for _, q := range s.LocalQueues {
		_, _, state := localState(s, q)
		out.locals = counted(out.locals, state.Text)
	}
	return out
}

// openQueue is the word for a queue that admits; the rest says that something is the
// matter.
const openQueue = "open"

// counted adds one to the word's number. Open comes first, then the rest by name.
func counted(in []worded, word string) []worded {
	rank := func(w string) int {
		if w == openQueue {
			return 0
		}
		return 1
	}
	i, ok := slices.BinarySearchFunc(in, word, func(x worded, word string) int {
		return cmp.Or(cmp.Compare(rank(x.word), rank(word)), cmp.Compare(x.word, word))
	})
	if ok {
		in[i].n++
		return in
	}
	return slices.Insert(in, i, worded{word, 1})
}

// sum is how many there are.
func sum(in []worded) int {
	n := 0
	for _, x := range in {
		n += x.n
	}
	return n
}

// awaited is what those who only have to wait wait for, by class.
var awaited = []struct {
	class reason.Class
	words string
}{
	{reason.Quota, "for quota to come back"},
	{reason.QueueOrder, "for their turn"},
	{reason.Preempted, "to start again after a preemption"},
	{reason.Backoff, "for their next try"},
	{reason.AdmissionCheck, "for an admission check"},
	{reason.Topology, "for room in their topology"},
	{reason.PodsNotReady, "for the pods of others to be ready"},
}

// awaitedOther is for every other class.
const awaitedOther = "for Kueue's next word"

func helpsOf(s *store.Snapshot, all []reason.Explanation, now time.Time) helps {
	var out helps
	n := make([]int, len(awaited)+1)
	for i, w := range s.Workloads {
		x := &all[i]
		if w.State != world.Pending || x.Advice != reason.AdviceWait {
			continue
		}
		out.total++
		at := len(awaited)
		for j := range awaited {
			if awaited[j].class == x.Class {
				at = j
			}
		}
		n[at]++
		if t := reason.TimesOf(w, now); t.Wait != nil && (out.oldest == nil || *t.Wait > out.wait) {
			out.oldest, out.wait = w, *t.Wait
		}
	}
	for i := range n {
		words := awaitedOther
		if i < len(awaited) {
			words = awaited[i].words
		}
		if n[i] > 0 {
			out.by = append(out.by, worded{words, n[i]})
		}
	}
	return out
}

// The pause between two looks grows with the Workloads, of which each costs some 20
// microseconds: a look takes no more than a tenth of the time.
const (
	leastPause       = 2 * time.Second
	pausePerWorkload = 200 * time.Microsecond
	// stillPause is for a snapshot that was looked at already: only its ages change.
	stillPause = 5 * time.Second
)

func pauseAfter(workloads int) time.Duration {
	return max(leastPause, time.Duration(workloads)*pausePerWorkload)
}
