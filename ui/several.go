package ui

import (
	"cmp"
	"context"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/world"
)

// chooses returns the objects that the person marked, or says why they cannot be acted
// on.
type chooses func(Env) (refs []world.Ref, why string)

// severalActions are the bindings for what can be done with the marked objects, which
// take the places of those for a single one. may says why the action makes no sense for
// an object; empty: it does.
func severalActions(stay Screen, noun string, marked chooses, may func(Env, world.Ref, actions.Action) string, all ...actions.Action) []Binding {
	var out []Binding
	for _, a := range all {
		k := severalKeys[a]
		out = append(out, Binding{
			Keys: keys(k.key), Name: k.name, Help: k.help + " every marked " + noun,
			Enabled: func(e Env) (bool, string) {
				refs, why := marked(e)
				switch {
				case why != "":
					return false, why
				case e.ReadOnly:
					return false, "started with --read-only"
				}
				why = allRefused(e, refs, a, may)
				return why == "", why
			},
			Run: func(e Env) (Screen, Intent) {
				refs, _ := marked(e)
				return stay, open{beginSeveral(e, noun, actions.Several{Action: a, Refs: refs})}
			},
		})
	}
	for _, x := range []struct{ key, name string }{{"e", "edit"}, {"x", "export"}, {"S", "session"}} {
		out = append(out, Binding{Keys: keys(x.key), Name: x.name, Help: x.name, Enabled: func(Env) (bool, string) {
			return false, "for one " + noun + " at a time: take the marks away first"
		}})
	}
	return out
}

// severalKeys are the same keys as for one object.
var severalKeys = map[actions.Action]struct{ key, name, help string }{
	actions.Hold:         {"H", "hold", "hold"},
	actions.Resume:       {"R", "resume", "resume"},
	actions.Drain:        {"D", "drain", "DRAIN: hold, and evict what runs, of"},
	actions.Deactivate:   {"D", "deactivate", "DEACTIVATE"},
	actions.Reactivate:   {"R", "reactivate", "reactivate"},
	actions.Reprioritize: {"P", "priority", "change the priority class of"},
}

// allRefused is why the action makes no sense for any of them; empty where it does for
// one.
func allRefused(e Env, refs []world.Ref, a actions.Action, may func(Env, world.Ref, actions.Action) string) string {
	first := ""
	for _, r := range refs {
		why := may(e, r, a)
		if why == "" {
			ok, no := e.Desk.May(r, a)
			if ok {
				return ""
			}
			why = no
		}
		first = cmp.Or(first, why)
	}
	return "for none of the marked: " + first
}

// beginSeveral asks what the action needs to know, then plans.
func beginSeveral(e Env, noun string, s actions.Several) Dialog {
	what := plural(len(s.Refs), noun)
	if len(s.Refs) == 1 {
		what += ", " + strings.TrimPrefix(nameOf(e, s.Refs[0]), noun+" ")
	}
	title := verb(s.Action) + " " + what
	switch s.Action {
	case actions.Hold, actions.Drain, actions.Deactivate:
		p := newReason(world.Ref{}, s.Action)
		p.title = title
		p.next = func(e Env, words string) Dialog {
			s.Reason = words
			return planSeveral(e, title, s)
		}
		return p
	case actions.Reprioritize:
		c := chooser{title: "Which priority class for " + what + "?"}
		for _, k := range byValue(e.Snap.PriorityClasses) {
			c.choices = append(c.choices, choice{classChoice(k), func(e Env) Dialog {
				s.Class = k.Name
				return planSeveral(e, title, s)
			}})
		}
		if len(c.choices) == 0 {
			return notice{title: c.title, lines: []string{"There is no WorkloadPriorityClass."}}
		}
		return c
	}
	return planSeveral(e, title, s)
}

func planSeveral(e Env, title string, s actions.Several) Dialog {
	desk, ticket := e.Desk, e.Ticket
	return busy{title: title, doing: "Looking at what that means for each", ticket: ticket, do: func(ctx context.Context) tea.Msg {
		p, err := desk.PlanSeveral(ctx, s)
		return plannedMsg{ticket, p, err}
	}}
}

// queueRefusal says why the action makes no sense for the queue.
func queueRefusal(e Env, ref world.Ref, a actions.Action) string {
	p, record, ok := policyOf(e, ref)
	switch {
	case !ok:
		return ref.String() + " does not exist any more"
	case a == actions.Hold && p.Stopped():
		return ref.Name + " is held already (stopPolicy " + string(p) + ")"
	case a == actions.Drain && p == world.StopHoldAndDrain:
		return ref.Name + " is drained already"
	case a == actions.Resume && !p.Stopped() && record == nil:
		return ref.Name + " is not held"
	}
	return ""
}

// workloadRefusal says why the action makes no sense for the Workload.
func workloadRefusal(e Env, ref world.Ref, a actions.Action) string {
	w := e.Snap.WorkloadOf(ref)
	if w == nil {
		return ref.String() + " does not exist any more"
	}
	if why := actions.WorkloadRefusal(w, a); why != "" {
		return w.JobName() + ": " + why
	}
	return ""
}

// marked are the refs of the marked rows of a board, in the order in which they are
// listed.
func marked[K comparable, T any](s board[K, T], ref func(T) world.Ref) chooses {
	return func(Env) ([]world.Ref, string) {
		rows, why := s.chosen()
		if why != "" {
			return nil, why
		}
		out := make([]world.Ref, len(rows))
		for i, r := range rows {
			out[i] = ref(r)
		}
		return out, ""
	}
}

// byValue are the classes, the highest first.
func byValue(in []*world.PriorityClass) []*world.PriorityClass {
	out := slices.Clone(in)
	slices.SortStableFunc(out, func(a, b *world.PriorityClass) int { return int(b.Value) - int(a.Value) })
	return out
}
