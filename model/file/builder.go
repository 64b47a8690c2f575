package file

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/bundle"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// builder gathers what became of the objects of a file. One goroutine at a time
// uses it.
type builder struct {
	store *store.Store
	clock *fixed
	lists lists
	// counts are the rows of each kind; named the kinds of which the file holds a
	// list, empty ones too; seen the objects that have a row.
	counts map[world.Kind]int
	named  map[world.Kind]bool
	seen   map[objectID]bool
	// versions are those of Kueue's API of what was read.
	versions map[string]bool
	export   *head // the last export in the file
	manifest *bundle.Manifest
	// cohorts are those that ClusterQueues name; busy is set when the status of a
	// queue counts Workloads.
	cohorts map[string]bool
	busy    bool

	// uids are those of the Workloads, and whose they are.
	uids map[types.UID]world.Key

	kindless                             []outcome // until the end of their list
	broken                               []outcome
	others                               map[string]int // kinds that are not read
	twice, noNamespace, noUID, borrowUID some
	notes                                []string
}

// some counts objects and remembers the first one.
type some struct {
	n     int
	first outcome
}

func (s *some) add(o outcome) {
	if s.n == 0 {
		s.first = o
	}
	s.n++
}

func newBuilder() *builder {
	c := &fixed{}
	return &builder{
		store: store.New(c), clock: c, lists: newLists(), counts: map[world.Kind]int{}, named: map[world.Kind]bool{}, seen: map[objectID]bool{},
		versions: map[string]bool{}, cohorts: map[string]bool{}, others: map[string]int{}, uids: map[types.UID]world.Key{},
	}
}

// take notes outcomes, in the order of the file.
func (b *builder) take(out []outcome) {
	for i := range out {
		b.one(out[i])
	}
}

func (b *builder) one(o outcome) {
	switch {
	case o.head != nil:
		b.listed(o)
	case o.kindless != nil:
		b.kindless = append(b.kindless, o)
	case o.why != "":
		b.broken = append(b.broken, o)
	case o.other != "":
		b.others[o.other]++
	default:
		b.row(o)
	}
}

// listed notes that a list came to its end: what its items are that name no kind
// is known now.
func (b *builder) listed(o outcome) {
	h := o.head
	if h.Kind == exportKind {
		b.export = h
		b.named[world.KindWorkload] = true
		b.version(h.KueueAPI)
		if h.Count != nil && *h.Count != h.items {
			b.note("The export says that it holds %d Workloads, but %d are in it: somebody changed it.", *h.Count, h.items)
		}
	}
	of := h.typeMeta().element()
	if gv, err := schema.ParseGroupVersion(of.apiVersion); err == nil {
		if read, ok := readKinds[schema.GroupKind{Group: gv.Group, Kind: of.kind}]; ok && read.versions[gv.Version] != nil {
			b.named[world.Kind(of.kind)] = true
			if gv.Group == kueueGroup {
				b.version(gv.Version)
			}
		}
	}
	waiting := b.kindless
	b.kindless = nil
	for _, w := range waiting {
		if w.at.doc != o.at.doc || w.at.member != o.at.member {
			b.kindless = append(b.kindless, w)
		} else if of.kind == "" {
			b.noKind(w)
		} else {
			b.take(decode(nil, w.kindless, w.at, of))
		}
	}
}

func (b *builder) noKind(o outcome) {
	b.one(outcome{at: o.at}.broken(o.kindless, "it names no kind"))
}

// version notes a version of Kueue's API, if it is one that is read.
func (b *builder) version(v string) {
	for _, known := range kueueVersions() {
		if v == known {
			b.versions[v] = true
		}
	}
}

func (b *builder) row(o outcome) {
	b.version(o.version)
	if o.noNamespace {
		b.noNamespace.add(o)
	}
	switch r := o.row.(type) {
	case world.Event:
		if b.lists.event(r) {
			b.counts[kindEvent]++
		}
		return // one comes through two APIs, and repeats itself
	case world.Pod:
		b.lists.pods.put(r.Key, r)
	case world.Node:
		b.lists.nodes.put(r.Key, r)
	case *world.ClusterQueue:
		if r.Cohort != "" {
			b.cohorts[r.Cohort] = true
		}
		b.busy = b.busy || counts(r.Status)
		b.store.Put(r)
	case *world.LocalQueue:
		b.busy = b.busy || counts(r.Status)
		b.store.Put(r)
	case *world.Workload:
		r.UID = b.identity(o, r)
		b.store.Put(r)
	default:
		b.store.Put(r)
	}
	if b.seen[o.id] {
		b.twice.add(o)
		return
	}
	b.seen[o.id] = true
	b.counts[o.id.kind]++
}

// identity is the UID of the Workload; none where another one has it.
func (b *builder) identity(o outcome, w *world.Workload) types.UID {
	if w.UID == "" {
		b.noUID.add(o)
		return ""
	}
	switch whose, ok := b.uids[w.UID]; {
	case !ok:
		b.uids[w.UID] = w.Key
	case whose != w.Key:
		b.borrowUID.add(o)
		return ""
	}
	return w.UID
}

func counts(s world.QueueStatus) bool { return s.Pending > 0 || s.Reserving > 0 || s.Admitted > 0 }

// failure is why there is no world to show; nil when there is one.
func (b *builder) failure() error {
	for _, o := range b.kindless {
		b.noKind(o)
	}
	b.kindless = nil
	if len(b.versions) > 0 || b.export != nil {
		return nil
	}
	held := b.held()
	switch {
	case len(b.broken) > 0:
		return fmt.Errorf("nothing of Kueue's in it can be read. %s %s", b.brokenNotes(1)[0], save)
	case held == "":
		return fmt.Errorf("it holds no objects. %s", save)
	}
	return fmt.Errorf("it holds nothing of Kueue's%s. %s", held, save)
}

func (b *builder) note(format string, args ...any) {
	b.notes = append(b.notes, text.Clean(fmt.Sprintf(format, args...)))
}
