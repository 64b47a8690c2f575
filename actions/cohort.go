package actions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// QueuesBelow returns the ClusterQueues of a cohort and of every cohort below it, by
// name. Cohorts that are only named count; a cycle is gone through once. It does not
// block.
func QueuesBelow(s *store.Snapshot, cohort string) []world.Ref {
	below := map[string][]string{}
	for _, c := range s.Cohorts {
		if c.Parent != "" {
			below[c.Parent] = append(below[c.Parent], c.Name)
		}
	}
	in := map[string]bool{cohort: true}
	for todo := []string{cohort}; len(todo) > 0; todo = todo[1:] {
		for _, name := range below[todo[0]] {
			if !in[name] {
				in[name] = true
				todo = append(todo, name)
			}
		}
	}
	var out []world.Ref
	for _, q := range s.ClusterQueues {
		if q.Cohort != "" && in[q.Cohort] {
			out = append(out, world.Ref{Kind: world.KindClusterQueue, Key: q.Key, UID: q.UID})
		}
	}
	slices.SortFunc(out, func(a, b world.Ref) int { return a.Key.Compare(b.Key) })
	return out
}

// asIs is why an object of a set is left as it is; it does not end the plan.
type asIs struct{ *Problem }

func (e asIs) Error() string { return e.Problem.Error() }
func (e asIs) Unwrap() error { return e.Problem }

// planCohort plans for every ClusterQueue below a cohort what one plans for each.
// Queues that one leaves as they are (asIs) are named in the notes.
func (d *Desk) planCohort(ctx context.Context, a Action, cohort world.Ref, one func(world.Ref) (Plan, error)) (Plan, error) {
	if err := d.mayWrite(); err != nil {
		return Plan{}, err
	}
	s := d.opts.World()
	if err := Unread(s, cohort); err != nil {
		return Plan{}, err
	}
	queues := QueuesBelow(s, cohort.Name)
	if len(queues) == 0 {
		return Plan{}, &Problem{What: fmt.Sprintf("no ClusterQueue is below %s", cohort), Do: "Look at the name. Nothing was changed."}
	}
	p, err := d.planEach(a, queues, fmt.Sprintf("below %s", cohort), one)
	p.Subject = cohort
	return p, err
}

// planEach plans for every object what one plans for each. Those that one leaves as
// they are (asIs) are named in the notes; where says which objects these are.
func (d *Desk) planEach(a Action, refs []world.Ref, where string, one func(world.Ref) (Plan, error)) (Plan, error) {
	p := d.plan(a)
	var why []string
	for _, ref := range refs {
		q, err := one(ref)
		var leave asIs
		if errors.As(err, &leave) {
			why = append(why, leave.What)
			continue
		}
		if err != nil {
			return Plan{}, err
		}
		p.add(q)
	}
	// A ClusterQueue and one of its LocalQueues have the same Workloads.
	for _, all := range []*[]Affected{&p.RunsOn, &p.LosesReservation, &p.StaysPending, &p.Evicts} {
		*all = once(*all)
	}
	if len(p.Targets) == 0 {
		return Plan{}, &Problem{What: fmt.Sprintf("nothing to %s %s: %s", a, where, strings.Join(why, "; ")), Do: "Nothing was changed."}
	}
	var first []string
	if len(p.Targets) > 1 {
		first = append(first, fmt.Sprintf("%s one after the other, by name. It stops at the first that is not done; to go on, plan again.", number(p.Targets)))
	}
	for _, w := range why {
		first = append(first, "Left as it is: "+w+".")
	}
	p.Notes = append(first, p.Notes...)
	return p, nil
}

// once names each Workload where it stands first.
func once(all []Affected) []Affected {
	seen := make(map[world.Ref]bool, len(all))
	return slices.DeleteFunc(all, func(a Affected) bool {
		twice := seen[a.Ref]
		seen[a.Ref] = true
		return twice
	})
}

// number says how many objects these are, and of what kind.
func number(ts []Target) string {
	kind := string(ts[0].Ref.Kind)
	for _, t := range ts {
		if string(t.Ref.Kind) != kind {
			kind = "object"
		}
	}
	return fmt.Sprintf("%d %ss", len(ts), kind)
}

// Unread is a *Problem where the queue, or which ClusterQueues are below the cohort, is
// not known because a list is not live; nil: it is known. It does not block.
func Unread(s *store.Snapshot, ref world.Ref) error {
	kinds, what, do := []world.Kind{ref.Kind}, fmt.Sprintf("%s is not known as it is now", ref), "Wait until it is read. Nothing was changed."
	if ref.Kind == world.KindCohort {
		kinds = []world.Kind{world.KindCohort, world.KindClusterQueue}
		what, do = fmt.Sprintf("which ClusterQueues are below %s is not known", ref), "Wait until it is read, or take its ClusterQueues one by one. Nothing was changed."
	}
	for _, k := range kinds {
		f := s.Fresh(k)
		if f.Feed == world.Live || k == world.KindCohort && f.Feed == world.Absent {
			continue
		}
		if f.Feed == world.Denied {
			do = "Ask somebody who may list them in the whole cluster, or a platform admin for that right. Nothing was changed."
		}
		return &Problem{What: fmt.Sprintf("%s: the list of %ss is %s%s", what, k, f.Feed, colon(f.Detail)), Do: do}
	}
	return nil
}

// add puts another plan's objects behind those of p; what both say is said once.
func (p *Plan) add(q Plan) {
	p.Targets, p.Edits, p.Diff = append(p.Targets, q.Targets...), append(p.Edits, q.Edits...), append(p.Diff, q.Diff...)
	p.RunsOn, p.LosesReservation = append(p.RunsOn, q.RunsOn...), append(p.LosesReservation, q.LosesReservation...)
	p.StaysPending, p.Evicts = append(p.StaysPending, q.StaysPending...), append(p.Evicts, q.Evicts...)
	p.Notes, p.Warnings, p.Unknown = union(p.Notes, q.Notes), union(p.Warnings, q.Warnings), union(p.Unknown, q.Unknown)
	if p.Incomplete == "" {
		p.Incomplete = q.Incomplete
	}
	if q.Confirm.Level > p.Confirm.Level || p.Confirm.Expects == "" {
		p.Confirm = q.Confirm
	}
	p.Reason = q.Reason
}

func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

// confirmSeveral is the question of a plan for several objects: the name of its
// subject; that of the context, with a number, where somebody is evicted, and where the
// context is marked as production.
func (d *Desk) confirmSeveral(p *Plan) Confirm {
	switch n := len(p.Targets); {
	case p.Confirm.Level == ConfirmContext:
		return d.confirmDrain(p)
	case n > 1 && d.opts.Production:
		return Confirm{ConfirmObjects, fmt.Sprintf("%s %d", d.opts.Context, n)}
	}
	return Confirm{ConfirmName, p.Subject.Name}
}
