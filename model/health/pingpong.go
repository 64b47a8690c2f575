package health

import (
	"fmt"
	"slices"
	"strings"

	"cli.holdfast.dev/holdfast/model/chain"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/world"
)

// pingPong adds the Workloads that preempt each other again and again, on the one
// of the least name.
func (c *collector) pingPong(chains []chain.Chain) {
	for _, loop := range chain.PingPong(chains) {
		ws, again := chain.Again(c.s, loop)
		if !again {
			continue
		}
		var who, queues []string
		least := &loop[0]
		for i := range loop {
			step := &loop[i]
			who = append(who, victim(ws[i], chain.Times(ws[i])))
			if step.Victim.Less(least.Victim) {
				least = step
			}
			if q := step.PreemptorQueue; q != "" && !slices.Contains(queues, q) {
				queues = append(queues, q)
			}
		}
		slices.Sort(who)
		slices.Sort(queues)
		what := some(who) + " preempt each other in turn"
		if len(who) == 1 {
			what = who[0] + " is preempted by a Workload of its own job"
		}
		what += ": none gets to its end until a priority or a preemption policy changes"
		if len(queues) > 0 {
			what += fmt.Sprintf(" (ClusterQueues: %s)", strings.Join(queues, ", "))
		}
		c.add(Alert{
			Class: PingPong, Severity: Critical, Object: world.Ref{Kind: world.KindWorkload, Key: least.Victim, UID: least.VictimUID},
			Explanation: what + ".", Advice: reason.AdviceChange, Actor: "owner of the preemption policy", Count: len(who),
		})
	}
}

// victim names a Workload and how often it was preempted; 0 is not known.
func victim(w *world.Workload, times int) string {
	if times == 0 {
		return w.Key.String()
	}
	return fmt.Sprintf("%s (%d times)", w.Key, times)
}
