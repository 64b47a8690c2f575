package ui

import (
	"context"
	"slices"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/world"
)

// picker is the Workload that an action would be for, or says why there is none.
type picker func(Env) (w *world.Workload, why string)

// workloadActions are the bindings for what can be done with a Workload. stay is the
// screen as it is.
func workloadActions(stay Screen, pick picker) []Binding {
	act := func(key, name, help string, a actions.Action, begin func(Env, *world.Workload) Dialog) Binding {
		return Binding{
			Keys: keys(key), Name: name, Help: help,
			Enabled: func(e Env) (bool, string) { return mayOnWorkload(e, pick, a) },
			Run: func(e Env) (Screen, Intent) {
				w, _ := pick(e)
				return stay, open{begin(e, w)}
			},
		}
	}
	return []Binding{
		act("D", "deactivate", "DEACTIVATE: evict it if it runs, and do not queue it again", actions.Deactivate, func(_ Env, w *world.Workload) Dialog {
			return newReason(w.Ref(), actions.Deactivate)
		}),
		act("R", "reactivate", "reactivate: queue it again", actions.Reactivate, func(e Env, w *world.Workload) Dialog {
			return planWorkload(e, w.Ref(), actions.Reactivate, "", "")
		}),
		act("P", "priority", "give it another priority class, by the label of its job", actions.Reprioritize, func(e Env, w *world.Workload) Dialog {
			return newClassChooser(e, w)
		}),
	}
}

// mayOnWorkload says whether the action makes sense for the Workload now.
func mayOnWorkload(e Env, pick picker, a actions.Action) (bool, string) {
	w, why := pick(e)
	switch {
	case why != "":
		return false, why
	case e.ReadOnly:
		return false, "started with --read-only"
	}
	if why := actions.WorkloadRefusal(w, a); why != "" {
		return false, w.JobName() + ": " + why
	}
	if a == actions.Reprioritize && len(classesFor(e, w)) == 0 {
		return false, "there is no other WorkloadPriorityClass"
	}
	return e.Desk.May(w.Ref(), a)
}

// planWorkload waits for the plan of an action on a Workload. class is the new
// priority class, where that is the action, and why the person's reason.
func planWorkload(e Env, ref world.Ref, a actions.Action, class, why string) Dialog {
	desk, ticket := e.Desk, e.Ticket
	return busy{title: verb(a) + " " + object(ref), doing: "Looking at what that means", ticket: ticket,
		do: func(ctx context.Context) tea.Msg {
			var m plannedMsg
			switch a {
			case actions.Deactivate:
				m.plan, m.err = desk.PlanDeactivate(ctx, ref, why)
			case actions.Reactivate:
				m.plan, m.err = desk.PlanReactivate(ctx, ref, why)
			case actions.Reprioritize:
				m.plan, m.err = desk.PlanPriority(ctx, ref, class, why)
			}
			m.ticket = ticket
			return m
		}}
}

// classesFor are the WorkloadPriorityClasses that the Workload does not have, the
// highest first.
func classesFor(e Env, w *world.Workload) []*world.PriorityClass {
	return slices.DeleteFunc(byValue(e.Snap.PriorityClasses), func(c *world.PriorityClass) bool {
		return c.Name == w.PriorityClass && w.PriorityKind == world.KindWorkloadPriorityClass
	})
}

// classChoice names a class with its value.
func classChoice(k *world.PriorityClass) string {
	return k.Name + " (" + strconv.Itoa(int(k.Value)) + ")"
}

// newClassChooser asks which class the Workload is to have.
func newClassChooser(e Env, w *world.Workload) chooser {
	c := chooser{title: "Which priority class? " + w.JobName() + " has " + or(w.PriorityClass, "none") + " (" + strconv.Itoa(int(w.Priority)) + ")"}
	for _, k := range classesFor(e, w) {
		c.choices = append(c.choices, choice{classChoice(k), func(e Env) Dialog {
			return planWorkload(e, w.Ref(), actions.Reprioritize, k.Name, "")
		}})
	}
	return c
}
