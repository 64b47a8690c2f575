package report

import (
	"cli.holdfast.dev/holdfast/model/chain"
	"cli.holdfast.dev/holdfast/model/health"
	"cli.holdfast.dev/holdfast/model/text"
)

func chainOf(c *chain.Chain) Chain {
	out := Chain{Links: make([]Link, 0, len(c.Links)), End: string(c.End)}
	for i := range c.Links {
		s := &c.Links[i]
		l := Link{
			Victim: s.Victim.String(), VictimUID: text.Clean(string(s.VictimUID)), VictimPriority: s.VictimPriority,
			Preemptor: keyText(s.Preemptor), PreemptorUID: given(s.PreemptorUID), PreemptorPriority: s.PreemptorPriority,
			PreemptorClusterQueue: given(s.PreemptorQueue), Reason: s.Reason, PolicyHolds: s.PolicyHolds,
			At: moment(s.At), History: s.History, Recreated: s.Recreated, Recovery: recovery(&s.Recovery),
		}
		var policy string
		if l.PolicyHolds == nil {
			policy = "policyHolds: not enough is known of both sides and of the policy"
		}
		l.Unknown = because(preemptorUnknown(l.PreemptorUID, l.Preemptor), policy)
		out.Links = append(out.Links, l)
	}
	return out
}

func recovery(r *chain.Recovery) Recovery {
	out := Recovery{State: string(r.State), RequeueAt: moment(r.RequeueAt), RequeueCount: r.RequeueCount, ReclaimablePods: r.ReclaimablePods}
	if r.PastExecutionSeconds != nil {
		n := int64(*r.PastExecutionSeconds)
		out.PastExecutionSeconds = &n
	}
	if r.Checkpoint != nil {
		out.Checkpoint = &Checkpoint{Key: r.Checkpoint.Key, Value: r.Checkpoint.Value}
	}
	return out
}

func alerts(in []health.Alert) []Alert {
	out := make([]Alert, 0, len(in))
	for _, a := range in {
		out = append(out, Alert{
			Class: string(a.Class), Severity: string(a.Severity), Object: Object{Kind: string(a.Object.Kind), Namespace: a.Object.Namespace, Name: a.Object.Name},
			Explanation: a.Explanation, Advice: string(a.Advice), Actor: a.Actor, Count: a.Count,
		})
	}
	return out
}

func slo(in health.SLO) SLO {
	out := SLO{
		PendingCount: in.Pending, OldestWaitSeconds: seconds(in.OldestWait), EvictionRatio: in.EvictionRatio, Scope: in.Scope, Unknown: in.Unknown,
		BorrowingRatio: make([]Borrowing, 0, len(in.Borrowing)), Evictions: make([]Evictions, 0, len(in.Evictions)),
	}
	if w := in.Wait; w != nil {
		out.WaitSeconds = &Spread{P50: *seconds(&w.P50), P95: *seconds(&w.P95)}
	}
	for _, x := range in.Borrowing {
		out.BorrowingRatio = append(out.BorrowingRatio, Borrowing{
			Flavor: x.Flavor, Resource: x.Resource, Borrowed: x.Borrowed.Text(x.Resource), Reserved: x.Reserved.Text(x.Resource), Ratio: x.Ratio,
		})
	}
	for _, e := range in.Evictions {
		out.Evictions = append(out.Evictions, Evictions(e))
	}
	return out
}
