package ui

import (
	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/world"
)

// targeter names the queue or Cohort that an action would be for, or says why
// there is none.
type targeter func(Env) (ref world.Ref, why string)

// queueActions are the bindings for what can be done with a queue. stay is the
// screen as it is.
func queueActions(stay Screen, target targeter) []Binding {
	act := func(key, name, help string, a actions.Action, begin func(Env, world.Ref) Dialog) Binding {
		return Binding{
			Keys: keys(key), Name: name, Help: help,
			Enabled: func(e Env) (bool, string) { return mayAct(e, target, a) },
			Run: func(e Env) (Screen, Intent) {
				ref, _ := target(e)
				return stay, open{begin(e, ref)}
			},
		}
	}
	return []Binding{
		act("H", "hold", "hold: what runs goes on, nothing new is admitted", actions.Hold, func(e Env, r world.Ref) Dialog { return newReason(r, actions.Hold) }),
		act("R", "resume", "resume: back to the policy from before the hold", actions.Resume, func(e Env, r world.Ref) Dialog { return planResume(e, r) }),
		act("e", "edit", "edit the spec in your editor; the server tries it before you confirm", actions.Edit, func(e Env, r world.Ref) Dialog { return openEdit(e, r) }),
		act("x", "export", "write its Workloads to a file", actions.Export, func(e Env, r world.Ref) Dialog { return planExport(e, scopeOf(r)) }),
		act("D", "drain", "DRAIN: hold, and evict what runs", actions.Drain, func(e Env, r world.Ref) Dialog { return newReason(r, actions.Drain) }),
		sessionKey(stay, target),
	}
}

func scopeOf(r world.Ref) actions.Scope {
	switch r.Kind {
	case world.KindLocalQueue:
		return actions.Scope{LocalQueue: r.Key}
	case world.KindCohort:
		return actions.Scope{Cohort: r.Name}
	}
	return actions.Scope{ClusterQueue: r.Name}
}

// mayAct says whether the action makes sense for the target now.
func mayAct(e Env, target targeter, a actions.Action) (bool, string) {
	ref, why := target(e)
	if why != "" {
		return false, why
	}
	if e.ReadOnly && a != actions.Export {
		return false, "started with --read-only"
	}
	if ref.Kind == world.KindCohort && a != actions.Edit {
		return mayActBelow(e, ref, a)
	}
	if why := queueRefusal(e, ref, a); why != "" {
		return false, why
	}
	return e.Desk.May(ref, a)
}

// mayActBelow is mayAct for all ClusterQueues below a cohort.
func mayActBelow(e Env, cohort world.Ref, a actions.Action) (bool, string) {
	queues := actions.QueuesBelow(e.Snap, cohort.Name)
	held, recorded, drained := 0, 0, 0
	for _, ref := range queues {
		p, record, _ := policyOf(e, ref)
		if p.Stopped() {
			held++
		}
		if p == world.StopHoldAndDrain {
			drained++
		}
		if record != nil {
			recorded++
		}
	}
	switch {
	case len(queues) == 0:
		return false, "no ClusterQueue is below " + cohort.Name
	case a == actions.Hold && held == len(queues):
		return false, "every ClusterQueue below " + cohort.Name + " is held already"
	case a == actions.Drain && drained == len(queues):
		return false, "every ClusterQueue below " + cohort.Name + " is drained already"
	case a == actions.Resume && recorded == 0:
		return false, "no ClusterQueue below " + cohort.Name + " was held with holdfast"
	}
	return e.Desk.May(cohort, a)
}

// policyOf returns the stop policy and hold record of a queue, and whether it is
// still there. A Cohort has neither.
func policyOf(e Env, ref world.Ref) (world.StopPolicy, *world.HoldRecord, bool) {
	if ref.Kind == world.KindCohort {
		c := e.Snap.Cohort(ref.Name)
		return world.StopNone, nil, c != nil && c.UID == ref.UID
	}
	if ref.Kind == world.KindClusterQueue {
		if q := e.Snap.ClusterQueue(ref.Name); q != nil && q.UID == ref.UID {
			return q.StopPolicy, q.Hold, true
		}
		return "", nil, false
	}
	if q := e.Snap.LocalQueue(ref.Key); q != nil && q.UID == ref.UID {
		return q.StopPolicy, q.Hold, true
	}
	return "", nil, false
}
