package ui

import (
	"cmp"
	"context"
	"math"

	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/chain"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/filter"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// chainRow is a Workload in a tree of preemptions.
type chainRow struct {
	*chain.Member
	tree *chainTree
	// trail leads to it: a sign for each level ("+" has a next one, "`" has none, "|"
	// and " " of those above, "~" for levels that are left out).
	trail string
	sum   *chainSum
}

// chainTree is a tree with what is asked of it for every row.
type chainTree struct {
	*chain.Tree
	// again is set for ping-pong, and on has those who are on its loop.
	again bool
	on    map[*chain.Member]bool
}

// chainSum is said of all of the rows.
type chainSum struct {
	// nameless counts the preemptors that nobody can name.
	nameless int
}

// chainKey is who a row is: by UID or, without one, by name or by the first victim.
type chainKey struct {
	uid    types.UID
	key    world.Key
	victim types.UID
}

func (r chainRow) id() chainKey {
	switch {
	case r.UID != "":
		return chainKey{uid: r.UID}
	case r.Key != (world.Key{}) || len(r.Victims) == 0:
		return chainKey{key: r.Key}
	}
	return chainKey{key: r.Victims[0].Key, victim: r.Victims[0].UID}
}

// chains lists who preempted whom; the events that it reads may name who is gone.
type chains = onDemand[chainKey, chainRow, actions.EventList]

func newChains() chains {
	return newOnDemand(&demand[chainKey, chainRow, actions.EventList]{
		sheet: chainSheet,
		read: func(e Env, _ bool) func(context.Context) (actions.EventList, error) {
			return readEvents(e, false)
		},
		reload: Binding{Keys: keys("r"), Name: "events", Help: "read events: they may name preemptors that are gone"},
		widen:  Binding{Keys: keys("o"), Name: "over", Help: "list preemptions that are over, too, or no more"},
		head:   chainHeads,
	})
}

func chainSheet(over bool, events actions.EventList) *sheet[chainKey, chainRow] {
	s := &sheet[chainKey, chainRow]{
		name: "Chains", noun: "Workload", own: "ping-pong, newest", of: []world.Kind{world.KindWorkload},
		columns: chainColumns(), fields: []string{"ns", "queue", "state", "job", "by", "reason"},
		none: "Nobody waits because of a preemption. o lists those that are over.",
		key:  chainRow.id, list: listChains(over, events.Events),
		same: func(a, b *store.Snapshot, _ filter.Query) bool {
			return same(a.Workloads, b.Workloads) && same(a.LocalQueues, b.LocalQueues) && same(a.ClusterQueues, b.ClusterQueues)
		},
		now: func(e Env, r chainRow) (chainRow, bool) {
			return r, r.Row != nil && r.now(e) == nil
		},
		cells: chainCells, strip: chainStrip, pane: chainPane, keys: chainKeys, fit: fitChains,
		open: openChain,
	}
	if over {
		s.name, s.none = "Chains, also those that are over", "No preemption of a Workload is known."
	}
	return s
}

// openChain opens the page of the Workload, or says why there is none.
func openChain(e Env, r chainRow) Intent {
	if r.Row == nil {
		return say{"there is no page of it: it is " + r.absent(e), theme.Warn}
	}
	if s := screenFor(e, r.Row.Ref()); s != nil {
		return push{s}
	}
	return say{r.Key.String() + " does not exist any more", theme.Warn}
}

func chainKeys(s board[chainKey, chainRow]) []Binding {
	by := func(e Env) (*world.Workload, string) {
		r, why := s.picked()
		switch {
		case why != "":
			return nil, why
		case r.By == nil:
			return nil, "no preemption of this Workload is known"
		}
		w := e.Snap.Workload(r.By.UID)
		if w == nil {
			return nil, "the preemptor is not known (deleted, or not readable)"
		}
		return w, ""
	}
	return []Binding{{
		Keys: keys("p"), Name: "preemptor", Help: "go to the Workload that preempted this one",
		Enabled: func(e Env) (bool, string) {
			_, why := by(e)
			return why == "", why
		},
		Run: func(e Env) (Screen, Intent) {
			w, _ := by(e)
			return s, push{newWorkload(w)}
		},
	}}
}

// now is the Workload as it is now; nil where it is not there.
func (r chainRow) now(e Env) *world.Workload {
	if r.Row != nil {
		return e.Snap.WorkloadOf(r.Row.Ref())
	}
	return e.Snap.Workload(r.UID)
}

// step is the row's own preemption, or an empty one.
func (r chainRow) step() chain.Step {
	if r.Step == nil {
		return chain.Step{}
	}
	return *r.Step
}

func chainColumns() []column[chainRow] {
	type r = chainRow
	return []column[r]{
		{Column: table.Column{Title: "WORKLOAD", Min: 26, Max: 46}, compare: by(func(r r) string { return r.Key.String() })},
		{Column: table.Column{Title: "PRIO", Right: true, Min: 4, Max: 11}, falling: true, compare: by(func(r r) int64 {
			if r.Priority == nil {
				return math.MinInt64 // what is not known comes before everything
			}
			return int64(*r.Priority)
		})},
		{Column: table.Column{Title: "QUEUE", Min: 10, Max: 24, Drop: 4}, compare: func(l look) func(a, b r) int {
			return func(a, b r) int { return cmp.Compare(chainQueue(l.snap, a), chainQueue(l.snap, b)) }
		}},
		{Column: table.Column{Title: "AGO", Right: true, Min: 5, Max: 6}, falling: true, compare: func(look) func(a, b r) int {
			return func(a, b r) int { return b.tree.Latest.Compare(a.tree.Latest) }
		}},
		{Column: table.Column{Title: "REASON", Min: 19, Max: 29, Drop: 6}, compare: by(func(r r) string { return r.step().Reason })},
		{Column: table.Column{Title: "HOLDS", Min: 5, Max: 5}},
		{Column: table.Column{Title: "BY POLICY", Min: 26, Max: 48, Drop: 7}},
		{Column: table.Column{Title: "WHAT BECAME OF IT", Min: 24, Max: 24, Grow: 1}},
	}
}

// fitChains leaves out the queue, which the strip names, where there is no room.
func fitChains(e Env, cols []table.Column) {
	const queue = 2
	if e.W < 100 && cols[queue].Sorted == 0 {
		cols[queue].Max, cols[queue].Min, cols[queue].Title = 0, 0, ""
	}
}

// chainHeads say what is not known of the preemptors, and what events add.
func chainHeads(e Env, s chains) []string {
	nameless := 0
	if rows := s.board.last.rows; len(rows) > 0 {
		nameless = rows[0].sum.nameless
	}
	word, role := "", theme.Warn
	switch {
	case s.asked != 0:
		word, role = "reading events"+e.Theme.Glyph.Ellipsis, theme.Dim
	case s.got.err != nil && len(s.got.value.Events) > 0:
		word = "Not all events were read: " + problem(s.got.err)[0] + ". Names are from those read " + age(e.Now, s.got.at) + " ago."
	case s.got.err != nil:
		word = "Events are not known: " + problem(s.got.err)[0]
	case s.got.done:
		word, role = "Events read "+age(e.Now, s.got.at)+" ago.", theme.Dim
		if nameless > 0 {
			word += " They do not name " + plural(nameless, "preemptor") + "; the server forgets them after an hour unless told otherwise."
		}
	case nameless > 0:
		word = "Not known by name: " + plural(nameless, "preemptor") + ", deleted, not readable, or not named by Kueue."
		if e.events != nil {
			word += " r reads events, which may name more."
		}
	}
	if word == "" {
		return nil
	}
	return wrapped(e, word, role)
}

// goneWord says why a Workload that is named by another is not there.
func goneWord(e Env) string {
	if limit := e.Snap.Contract.Limit(); limit != "" {
		return "deleted, or not read (only " + limit + " is)"
	}
	return "deleted, or in a namespace that may not be read"
}
