package ui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// checkState is what is to be said first of an admission check; the least needs a person
// most.
type checkState uint8

const (
	checkMissing  checkState = iota // asked for, and there is no such object
	checkInactive                   // asked for, and nobody answers
	checkUnknown                    // whether it exists, or is asked for, cannot be read
	checkActive
	checkUnused
)

// String is the word in the column of states.
func (s checkState) String() string {
	return [...]string{"missing", "not active", "?", "active", "unused"}[s]
}

// checkRow is an AdmissionCheck, or the name of one that there is not, with all that
// hangs on it. check is nil where there is no object.
type checkRow struct {
	name  string
	check *world.Check
	state checkState
	uses  []checkUse
	// waits are the Workloads that hold quota and wait for its answer, the first asked
	// first. oldest is since when the first of them does, zero where that is not known.
	waits  []*world.Workload
	oldest time.Time
	// retries are those that it told to try again later and that hold no quota now,
	// rejected those that it refused and that are not over.
	retries, rejected []*world.Workload
}

// checkUse is a ClusterQueue that asks for a check, for every flavor or for some.
type checkUse struct {
	of        world.Ref
	onFlavors []string
}

func (r checkRow) ref() world.Ref {
	if r.check != nil {
		return r.check.Ref()
	}
	return world.Ref{Kind: world.KindAdmissionCheck, Key: world.Key{Name: r.name}}
}

func (r checkRow) there() bool { return r.check != nil }

func sameChecks(a, b *store.Snapshot) bool {
	return same(a.Checks, b.Checks) && same(a.ClusterQueues, b.ClusterQueues) && same(a.Workloads, b.Workloads) &&
		sameKnown(a, b, world.KindAdmissionCheck, world.KindClusterQueue, world.KindWorkload)
}

// checkRows joins the checks with the ClusterQueues that ask for them and the Workloads
// that they were asked about, in one pass over all that there is.
func checkRows(l look) []checkRow {
	s := l.snap
	rows := map[string]*checkRow{}
	row := func(name string) *checkRow {
		if rows[name] == nil {
			rows[name] = &checkRow{name: name}
		}
		return rows[name]
	}
	for _, k := range s.Checks {
		row(k.Name).check = k
	}
	for _, q := range s.ClusterQueues {
		for _, rule := range q.Checks {
			r := row(rule.Name)
			r.uses = append(r.uses, checkUse{q.Ref(), rule.OnFlavors})
		}
	}
	for _, w := range s.Workloads {
		for i := range w.Checks {
			c := &w.Checks[i]
			switch answerOf(w, c) {
			case checkWaits:
				r := row(c.Name)
				r.waits = append(r.waits, w)
			case checkRetries:
				r := row(c.Name)
				r.retries = append(r.retries, w)
			case checkRejects:
				r := row(c.Name)
				r.rejected = append(r.rejected, w)
			}
		}
	}
	out := make([]checkRow, 0, len(rows))
	for _, r := range rows {
		if r.check == nil && len(r.uses)+len(r.waits) == 0 {
			continue // only Workloads that do not wait for it remember it
		}
		r.settle(s)
		out = append(out, *r)
	}
	slices.SortFunc(out, checksByNeed)
	return out
}

// settle says what follows from what was joined.
func (r *checkRow) settle(s *store.Snapshot) {
	asked := func(w *world.Workload) time.Time { return checkOf(w, r.name).At }
	slices.SortStableFunc(r.waits, func(a, b *world.Workload) int { return asked(a).Compare(asked(b)) })
	for _, w := range r.waits {
		if at := asked(w); !at.IsZero() {
			r.oldest = at
			break
		}
	}
	_, listed := knownKind(s, world.KindAdmissionCheck)
	_, read := knownKind(s, world.KindClusterQueue)
	used := len(r.uses)+len(r.waits) > 0
	switch {
	case r.check == nil && !listed:
		r.state = checkUnknown
	case r.check == nil:
		r.state = checkMissing
	case !used && read:
		r.state = checkUnused
	case !r.check.Conditions.True(world.CondActive):
		r.state = checkInactive
	case !used:
		r.state = checkUnknown
	default:
		r.state = checkActive
	}
}

// checksByNeed is the own order: what needs a person first. In each state those that
// refused somebody come first, then those that somebody has waited for the longest.
func checksByNeed(a, b checkRow) int {
	some := func(n int) int { return -min(n, 1) }
	return cmp.Or(cmp.Compare(a.state, b.state), cmp.Compare(some(len(a.rejected)), some(len(b.rejected))),
		cmp.Compare(some(len(a.waits)), some(len(b.waits))), a.oldest.Compare(b.oldest), cmp.Compare(a.name, b.name))
}

// checkAnswer is what a check said of a Workload, as far as that matters now.
type checkAnswer uint8

const (
	checkPasses  checkAnswer = iota // it agreed, or is not its turn, or all is over
	checkWaits                      // the Workload has reserved quota and waits for the answer
	checkRetries                    // it said to try again later
	checkRejects                    // it refused
)

// previously is what Kueue writes when it resets the answers after an eviction.
const previously = "Previously: "

// answerOf reads the state of a check in a Workload. Without quota nobody is asked yet:
// what stands there then is the answer from before, of which the message tells.
func answerOf(w *world.Workload, c *world.CheckState) checkAnswer {
	said := func(state string) bool { return c.State == state || strings.Contains(c.Message, previously+state) }
	switch {
	case w.State == world.Finished:
		return checkPasses
	case w.State == world.Reserving && (c.State == "Pending" || c.State == "Retry"):
		return checkWaits
	case w.HoldsQuota() && c.State == "Ready":
		return checkPasses
	case said("Rejected"):
		return checkRejects
	case (w.State == world.Pending || w.State == world.Evicting) && said("Retry"):
		return checkRetries
	}
	return checkPasses
}

// checkOf is the state of the check in the Workload; the zero value where it has none.
func checkOf(w *world.Workload, name string) world.CheckState {
	for _, c := range w.Checks {
		if c.Name == name {
			return c
		}
	}
	return world.CheckState{}
}
