package actions

import (
	"fmt"
	"strings"

	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// stillStopped says what keeps a queue from admitting once its own stop is lifted:
// each thing that is known to, and each of which it is not known.
func stillStopped(s *store.Snapshot, ref world.Ref) (notes, unknown []string) {
	say := func(what string) { notes = append(notes, "Resuming is not enough: "+what+".") }
	var q *world.ClusterQueue
	if ref.Kind == world.KindLocalQueue {
		lq := s.LocalQueue(ref.Key)
		if lq == nil {
			return nil, []string{"What else keeps " + ref.String() + " closed: it is not among the LocalQueues that are known."}
		}
		q = s.ClusterQueue(lq.ClusterQueue)
		if q == nil {
			if s.Fresh(world.KindClusterQueue).Usable() {
				say(fmt.Sprintf("ClusterQueue/%s, to which it leads, does not exist", lq.ClusterQueue))
				return notes, nil
			}
			return nil, []string{fmt.Sprintf("Whether ClusterQueue/%s, to which it leads, is open: it cannot be read.", lq.ClusterQueue)}
		}
		if match, known := reason.SelectorMatches(s, q, lq.Namespace); known && !match {
			say(fmt.Sprintf("%s does not admit namespace %s", q.Ref(), lq.Namespace))
		}
	} else if q = s.ClusterQueue(ref.Name); q == nil {
		return nil, []string{"What else keeps " + ref.String() + " closed: it is not among the ClusterQueues that are known."}
	}
	obstacles, sentences := reason.QueueObstacles(s, q)
	for i, o := range obstacles {
		if o.Kind != reason.ObstacleClusterQueueHeld || ref.Kind == world.KindLocalQueue {
			say(strings.TrimSuffix(sentences[i], "."))
		}
	}
	for _, k := range []world.Kind{world.KindResourceFlavor, world.KindAdmissionCheck, world.KindCohort} {
		if named := k == world.KindResourceFlavor || k == world.KindAdmissionCheck && len(q.Checks) > 0 || k == world.KindCohort && q.Cohort != ""; named && !s.Fresh(k).Usable() {
			unknown = append(unknown, fmt.Sprintf("Whether one of the %ss that %s names keeps it closed: the list of them is %s.", k, q.Ref(), s.Fresh(k).Feed))
		}
	}
	if ref.Kind == world.KindLocalQueue {
		return notes, unknown
	}
	var held []string
	for _, lq := range s.LocalQueues {
		if lq.ClusterQueue == q.Name && lq.StopPolicy.Stopped() {
			held = append(held, lq.Key.String())
		}
	}
	if len(held) > 0 {
		say(fmt.Sprintf("%d of its LocalQueues are held themselves (%s) and stay so", len(held), anyOf(held)))
	}
	return notes, unknown
}
