package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/position"
	"cli.holdfast.dev/holdfast/model/world"
)

// Explanation is the document about one Workload.
type Explanation struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Source     Source   `json:"source"`
	Workload   Workload `json:"workload"`
	// Timeline has what is known to have happened, in the order of time; what has no
	// time comes last.
	Timeline []Moment `json:"timeline"`
	// Ahead are the first of the Workloads before it in its ClusterQueue, and
	// AheadCount is how many those are; null where its place is not known.
	Ahead      []string `json:"ahead"`
	AheadCount *int     `json:"aheadCount"`
	Chain      *Chain   `json:"chain"` // null: nobody is known to have preempted it
	Unknown    string   `json:"unknown,omitempty"`
}

// Moment is one entry of a timeline. Kind is condition, event or pod. Type is the
// condition's or the event's type, or the pod's phase; Status is the condition's.
type Moment struct {
	At     *time.Time `json:"at"`
	Kind   string     `json:"kind"`
	Type   string     `json:"type"`
	Status string     `json:"status,omitempty"`
	Object string     `json:"object"` // Kind/namespace/name
	Reason string     `json:"reason"`
	Text   string     `json:"text"`
	Count  int32      `json:"count,omitempty"` // of an event: how often it was seen
}

// mostAhead bounds Ahead.
const mostAhead = 50

// Explain makes the document about w, a Workload of the input's snapshot. It does
// not block; its time is linear in Workloads, events and pods, but for sorting.
func Explain(in Input, w *world.Workload) *Explanation {
	b := newBuilder(in)
	e := b.x.Explain(w)
	out := &Explanation{APIVersion: APIVersion, Kind: KindExplanation, Source: sourceOf(in), Workload: b.workload(w, &e)}
	var mine []world.Pod
	if b.pods == nil {
		out.Unknown = "pods: they were not read"
	} else {
		mine = b.pods.Of(w)
	}
	out.Timeline = timeline(w, in.Events, mine)
	out.Ahead = []string{}
	if p := out.Workload.Position; p != nil {
		n := *p - 1
		out.AheadCount = &n
		for _, x := range b.ahead(w, out.Workload.PositionSource) {
			out.Ahead = append(out.Ahead, x.Key.String())
		}
	}
	if c := b.chains.Of(w); c != nil {
		chain := chainOf(c)
		out.Chain = &chain
	}
	return out
}

// ahead lists the first of those before w in its ClusterQueue, in the order of the
// source of w's own place.
func (b *builder) ahead(w *world.Workload, source string) []*world.Workload {
	var line []*world.Workload
	if source == "estimated" {
		// It has a place, so its LocalQueue is there.
		line = position.In(b.s, b.s.LocalQueue(world.Key{Namespace: w.Namespace, Name: w.LocalQueue}).ClusterQueue)
		line = line[:slices.Index(line, w)]
	} else {
		queue, _ := b.s.QueueOf(w)
		for _, x := range b.s.Workloads {
			p, ok := b.in.Positions[x.UID]
			if q, known := b.s.QueueOf(x); ok && known && q == queue && p < b.in.Positions[w.UID] {
				line = append(line, x)
			}
		}
		slices.SortStableFunc(line, func(x, y *world.Workload) int { return cmp.Compare(b.in.Positions[x.UID], b.in.Positions[y.UID]) })
	}
	return line[:min(len(line), mostAhead)]
}

// timeline puts the Workload's conditions, its pods, and the events on it, on its
// job and on its pods into one order.
func timeline(w *world.Workload, events []world.Event, mine []world.Pod) []Moment {
	out := []Moment{}
	self := w.Ref().String()
	for _, c := range w.Conditions {
		out = append(out, Moment{At: moment(c.At), Kind: "condition", Type: c.Type, Status: c.Status, Object: self, Reason: c.Reason, Text: c.Message})
	}
	about := aboutWorkload(w, mine)
	for i := range events {
		e := &events[i]
		if about(e) {
			object := world.Ref{Kind: e.Kind, Key: e.Object}.String()
			out = append(out, Moment{At: moment(e.At), Kind: "event", Type: e.Type, Object: object, Reason: e.Reason, Text: e.Message, Count: e.Count})
		}
	}
	for i := range mine {
		p := &mine[i]
		object := world.Ref{Kind: "Pod", Key: p.Key}.String()
		out = append(out, Moment{At: moment(p.Created), Kind: "pod", Type: p.Phase, Object: object, Text: podText(p)})
	}
	slices.SortStableFunc(out, func(a, b Moment) int {
		return cmp.Or(compareTimes(a.At, b.At), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Object, b.Object), strings.Compare(a.Type, b.Type),
			strings.Compare(a.Reason, b.Reason), strings.Compare(a.Text, b.Text))
	})
	return out
}

func compareTimes(a, b *time.Time) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return a.Compare(*b)
}

// aboutWorkload tells the events that belong into the Workload's timeline. Where
// there is no UID, as in a file made by hand, the name has to do.
func aboutWorkload(w *world.Workload, mine []world.Pod) func(*world.Event) bool {
	uids := map[types.UID]bool{w.UID: true, w.JobUID: true}
	if w.Owner != nil {
		uids[w.Owner.UID] = true
	}
	for i := range mine {
		uids[mine[i].UID] = true
	}
	delete(uids, "")
	return func(e *world.Event) bool {
		return uids[e.ObjectUID] || e.Kind == world.KindWorkload && e.Object == w.Key && (e.ObjectUID == "" || w.UID == "")
	}
}

func podText(p *world.Pod) string {
	out := "made"
	if p.Node != "" {
		out += fmt.Sprintf("; on node %s", p.Node)
	}
	if p.Message != "" {
		out += "; " + p.Message
	}
	return out
}
