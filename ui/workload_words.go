package ui

import (
	"cli.holdfast.dev/holdfast/model/health"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// queuePath is the way of a Workload: LocalQueue, then ClusterQueue.
func queuePath(e Env, w *world.Workload) string {
	q, ok := e.Snap.QueueOf(w)
	switch {
	case w.LocalQueue == "" && !ok:
		return "no queue"
	case !ok:
		return w.LocalQueue + " " + e.Theme.Glyph.Arrow + " ?"
	}
	return w.LocalQueue + " " + e.Theme.Glyph.Arrow + " " + q
}

func stateRole(s world.State) theme.Role {
	switch s {
	case world.Evicting, world.Deactivated:
		return theme.Warn
	case world.Finished:
		return theme.Dim
	}
	return theme.Plain
}

// sentence is the explanation, or Kueue's own words, or that nothing is known.
func sentence(x reason.Explanation) string {
	switch {
	case x.Sentence != "":
		return x.Sentence
	case x.Message != "":
		return "Kueue: " + x.Message
	case x.Reason != "":
		return "Kueue: " + x.Reason
	}
	return "unknown: Kueue has said nothing yet"
}

func adviceRole(x reason.Explanation) theme.Role {
	switch x.Advice {
	case reason.AdviceEscalate:
		return theme.Alarm
	case reason.AdviceChange:
		return theme.Warn
	}
	return theme.Plain
}

// advice says what to do and who must.
func advice(x reason.Explanation) string {
	word := map[reason.Advice]string{
		reason.AdviceWait: "WAIT", reason.AdviceChange: "CHANGE", reason.AdviceEscalate: "ESCALATE",
	}[x.Advice]
	if word == "" {
		return ""
	}
	if x.Actor != "" {
		word += ": " + x.Actor
	}
	return word
}

// blame says, of a Workload that waits since a preemption that came soon after a change of
// a spec, what there is to do beside waiting if that was not meant, and why. Empty: no such
// change is known. The alert on the glance says the same of all of them.
func blame(e Env, w *world.Workload) (call, why string) {
	c, after, actor, ok := health.Blame(e.Snap, e.fresh().chains, w, e.Now)
	if !ok {
		return "", ""
	}
	return advice(reason.Explanation{Advice: reason.AdviceChange, Actor: actor}) + ", if it was not meant",
		"Preempted " + span(after) + " after a change of " + object(c.Object) + " by " + c.Manager + "."
}
