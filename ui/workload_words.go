package ui

import (
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
