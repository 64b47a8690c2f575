package health

import (
	"time"

	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/world"
)

// said is an alert without its words.
type said struct {
	Class    string
	Severity string
	Object   string
	Count    int
	Advice   reason.Advice
	Actor    string
}

func sayings(all []Alert) []said {
	out := []said{}
	for _, a := range all {
		out = append(out, said{string(a.Class), string(a.Severity), a.Object.String(), a.Count, a.Advice, a.Actor})
	}
	return out
}

func reserving(name string, checks ...world.CheckState) *world.Workload {
	w := job(name, world.Reserving, cond("QuotaReserved", "True", "QuotaReserved", "", time.Hour))
	w.ClusterQueue, w.Checks = "q", checks
	return w
}

func check(name, state, message string) world.CheckState {
	return world.CheckState{Name: name, State: state, Message: message, At: now.Add(-time.Hour)}
}

func activeCheck(name string) *world.Check {
	return &world.Check{Meta: named("", name), Controller: "x.example.com/y", Conditions: world.Conditions{cond("Active", "True", "Active", "", 0)}}
}

func evicting(name, why string, ago time.Duration) *world.Workload {
	w := job(name, world.Evicting, cond("Evicted", "True", why, "", ago), cond("QuotaReserved", "True", "QuotaReserved", "", time.Hour))
	w.ClusterQueue = "q"
	return w
}

func admitted(name string, conds ...world.Condition) *world.Workload {
	w := job(name, world.Admitted, append(conds, cond("QuotaReserved", "True", "QuotaReserved", "", time.Hour), cond("Admitted", "True", "Admitted", "", time.Hour))...)
	w.ClusterQueue = "q"
	return w
}

func gone(kind world.Kind, ns, name string) world.Ref {
	return world.Ref{Kind: kind, Key: world.Key{Namespace: ns, Name: name}}
}

const (
	admin  = "platform admin"
	owner  = "job owner"
	either = "job owner or platform admin"
	checks = "owner of the admission check"
)
