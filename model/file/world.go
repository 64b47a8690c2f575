package file

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/bundle"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// world makes the world of everything that was taken. typ is the type of the
// file; an export makes it a bundle.
func (b *builder) world(typ string, now time.Time) *World {
	b.clock.now = now
	if b.manifest != nil {
		for _, l := range b.manifest.Lists {
			b.named[world.Kind(l.Kind)] = true
		}
	}
	if b.export != nil {
		typ = typeBundle
	}
	b.contract()
	left := b.freshness()
	w := &World{
		Events: b.lists.timeline(), Pods: b.lists.pods.sorted(), Nodes: b.lists.nodes.sorted(),
		HasPods: b.has(kindPod), HasNodes: b.has(kindNode), Type: typ, Manifest: b.manifest,
	}
	w.Notes = slices.Concat(b.origin(), b.brokenNotes(mostBroken), b.oddities(), left, b.notes)
	w.Snapshot = b.store.Snapshot()
	return w
}

// has reports whether the file speaks of the kind.
func (b *builder) has(k world.Kind) bool { return b.counts[k] > 0 || b.named[k] }

func (b *builder) contract() {
	c := world.Contract{Asked: true, KueueVersionDetail: "a file does not tell"}
	for _, v := range kueueVersions() {
		if b.versions[v] {
			c.Served = append(c.Served, v)
		}
	}
	if len(c.Served) > 0 {
		c.Used = c.Served[0]
	}
	if b.export != nil && b.export.KueueVersion != "" {
		c.KueueVersion, c.KueueVersionDetail = text.Clean(b.export.KueueVersion), ""
	}
	if m := b.manifest; m != nil {
		if m.KueueVersion != "" {
			c.KueueVersion, c.KueueVersionDetail = text.Clean(m.KueueVersion), ""
		}
		if m.Scope != (bundle.Scope{}) {
			c.Part = text.Clean(m.Scope.String())
		}
	}
	b.store.SetContract(c)
}

// freshness says of every kind whether the rows are all there is, and returns
// notes on those of which they are not. Nothing may be called missing that the
// file may only have left out.
func (b *builder) freshness() (notes []string) {
	lost, unknown := b.lost()
	var none []string
	for _, k := range slices.Concat(world.WatchedKinds(), world.SideKinds()) {
		f := world.Freshness{Feed: world.Live, Synced: true, Count: b.counts[k]}
		switch {
		case lost[k] > 0:
			f.Feed, f.Detail = world.Failing, fmt.Sprintf("%d of the file's %ss cannot be read", lost[k], k)
		case unknown:
			f.Feed, f.Detail = world.Failing, "a part of the file cannot be read and may hold some"
		case b.unread(k) != "":
			f.Feed, f.Detail = world.Absent, "it was not exported: "+b.unread(k)
		case b.leftOut(k):
			f.Feed, f.Detail = world.Absent, fmt.Sprintf("the file holds no %s", k)
			none = append(none, string(k))
		}
		// A Workload more or less makes no other one wrong; any other kind is asked for
		// by name.
		f.Synced = f.Feed == world.Live || f.Feed == world.Failing && k == world.KindWorkload
		b.store.SetFreshness(k, f)
	}
	if len(none) > 0 {
		notes = append(notes, fmt.Sprintf("The file holds no %s: whether there are any is unknown, and none is called missing.", strings.Join(none, ", no ")))
	}
	if len(b.cohorts) > 0 && !b.has(world.KindCohort) && lost[world.KindCohort] == 0 {
		names := slices.Sorted(maps.Keys(b.cohorts))
		notes = append(notes, fmt.Sprintf("The file holds no Cohort object for %s: cohorts are taken to have no quota of their own.", few(names, "cohort")))
	}
	return notes
}

// unread says why the export has none of the kind; empty where it does not say so.
func (b *builder) unread(k world.Kind) string {
	if b.manifest == nil {
		return ""
	}
	for _, u := range b.manifest.Unread {
		if u.Kind == string(k) {
			return text.Clean(strings.TrimSuffix(u.Why, "."))
		}
	}
	return ""
}

// leftOut reports whether the file has no object of the kind though a cluster
// must have, or may well have, some. Kinds that many clusters do without are
// taken to be empty.
func (b *builder) leftOut(k world.Kind) bool {
	if b.has(k) {
		return false
	}
	switch k {
	case world.KindResourceFlavor, world.KindAdmissionCheck, world.KindWorkloadPriorityClass, world.KindNamespace,
		world.KindClusterQueue, world.KindLocalQueue:
		return true
	case world.KindWorkload:
		return b.busy // the queues' own status says that there are some
	}
	return false
}

// lost counts the objects of each kind that have no row; unknown is set where it
// cannot be told what is lost.
func (b *builder) lost() (by map[world.Kind]int, unknown bool) {
	by = map[world.Kind]int{}
	for i := range b.broken {
		switch o := &b.broken[i]; {
		case o.id.kind == "" && !o.noObject:
			unknown = true
		case !b.seen[o.id]:
			by[o.id.kind]++
		}
	}
	return by, unknown
}
