package chain

import (
	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/world"
)

// member is a victim as a link names it; a name alone may stand for a Workload that
// is gone and for one that came after it.
type member struct {
	world.Key
	uid types.UID
}

func (s *Step) victim() member { return member{s.Victim, s.VictimUID} }

// PingPong returns the loops among the chains, each once: Workloads that preempt
// each other in turn, first to last as the links run. A loop of one is a job that
// was preempted by a Workload of its own.
func PingPong(chains []Chain) [][]Step {
	var out [][]Step
	seen := map[member]bool{}
	for _, c := range chains {
		var loop []Step
		for _, s := range c.Links {
			if s.Loop {
				loop = append(loop, s)
			}
		}
		// Each Workload has one last preemption, so no two loops share one.
		if len(loop) > 0 && !seen[loop[0].victim()] {
			out = append(out, loop)
		}
		for _, s := range loop {
			seen[s.victim()] = true
		}
	}
	return out
}
