package health

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/pods"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/world"
)

// queues adds the queues that are held, also those that stop nobody yet, and what
// ClusterQueues name and Kueue cannot use: through these nothing is admitted,
// whether somebody waits now or not.
func (c *collector) queues() {
	silent := map[string][]string{}  // ClusterQueues, by AdmissionCheck
	missing := map[string][]string{} // ClusterQueues, by Topology
	for _, q := range c.s.ClusterQueues {
		causes := reason.ActivityOf(c.s, q).Causes
		c.held(q, causes)
		if slices.Contains(causes, "FlavorNotFound") {
			c.missingFlavors(q)
		}
		c.kueuesWord(q, causes)
		if slices.Contains(causes, "TopologyNotFound") {
			for _, f := range reason.MissingTopologies(c.s, q) {
				if t := f.Topology; !slices.Contains(missing[t], q.Name) {
					missing[t] = append(missing[t], q.Name)
				}
			}
		}
		if !c.usable(world.KindAdmissionCheck) {
			continue
		}
		for _, r := range q.Checks {
			if k := c.s.Check(r.Name); (k == nil || !k.Conditions.True(world.CondActive)) && !slices.Contains(silent[r.Name], q.Name) {
				silent[r.Name] = append(silent[r.Name], q.Name)
			}
		}
	}
	for name, queues := range silent {
		c.silentCheck(name, queues)
	}
	for name, queues := range missing {
		c.about(Alert{
			Class: Class(reason.Topology), Severity: Critical, Object: world.Ref{Kind: world.KindTopology, Key: world.Key{Name: name}},
			Advice: reason.AdviceChange, Actor: platformAdmin,
			Explanation: fmt.Sprintf("Topology %s, which a flavor names, does not exist: ClusterQueues with that flavor admit nothing (%s).", name, some(queues)),
		})
	}
	for _, q := range c.s.LocalQueues {
		if q.StopPolicy.Stopped() {
			c.about(Alert{
				Class: Class(reason.Held), Severity: Warning, Object: q.Ref(), Explanation: holdWords(q.Ref(), q.StopPolicy, q.Hold),
				Advice: reason.AdviceChange, Actor: holderOf(q.Hold), Since: heldSince(q.Hold, q.Conditions),
			})
		}
	}
}

func (c *collector) held(q *world.ClusterQueue, causes []string) {
	if !q.StopPolicy.Stopped() {
		return
	}
	said := holdWords(q.Ref(), q.StopPolicy, q.Hold)
	if more := slices.DeleteFunc(slices.Clone(causes), func(cause string) bool { return cause == "Stopped" }); len(more) > 0 {
		said += fmt.Sprintf(" Resuming it alone will not do: it is also inactive because of %s.", strings.Join(more, ", "))
	}
	c.about(Alert{
		Class: Class(reason.Held), Severity: Warning, Object: q.Ref(), Explanation: said, Advice: reason.AdviceChange, Actor: holderOf(q.Hold),
		Since: heldSince(q.Hold, q.Conditions),
	})
}

// heldSince is when the hold was made, by its record, else by Kueue's word.
func heldSince(r *world.HoldRecord, c world.Conditions) time.Time {
	if r != nil && r.Problem == "" && !r.At.IsZero() {
		return r.At
	}
	return inactiveSince(c, "Stopped")
}

// inactiveSince is since when a queue or check is not active for the cause; zero
// where Kueue does not say that.
func inactiveSince(c world.Conditions, cause string) time.Time {
	if a, ok := c.Get(world.CondActive); ok && a.Status == "False" && a.Reason == cause {
		return a.At
	}
	return time.Time{}
}

func holdWords(q world.Ref, p world.StopPolicy, r *world.HoldRecord) string {
	out := fmt.Sprintf("%s %s is held (%s)", q.Kind, q.Key, p)
	if r != nil && r.Problem == "" {
		if r.By != "" {
			out += " by " + r.By
		}
		if r.Reason != "" {
			out += ` ("` + r.Reason + `")`
		}
	}
	return out + ": nothing is admitted until it is resumed."
}

func holderOf(r *world.HoldRecord) string {
	if r != nil && r.Problem == "" && r.By != "" {
		return r.By
	}
	return holder
}

func (c *collector) usable(kinds ...world.Kind) bool {
	return !slices.ContainsFunc(kinds, func(k world.Kind) bool {
		f := c.s.Fresh(k)
		return !f.Usable() || f.Feed == world.Denied
	})
}

func (c *collector) missingFlavors(q *world.ClusterQueue) {
	gone := slices.DeleteFunc(q.Flavors(), func(f string) bool { return c.s.Flavor(f) != nil })
	if len(gone) == 0 || !c.usable(world.KindResourceFlavor) {
		return // known from Kueue's condition only
	}
	c.about(Alert{
		Class: Class(reason.Flavor), Severity: Critical, Object: q.Ref(), Advice: reason.AdviceChange, Actor: platformAdmin,
		Since:       inactiveSince(q.Conditions, "FlavorNotFound"),
		Explanation: fmt.Sprintf("ClusterQueue %s names ResourceFlavors that do not exist (%s): it admits nothing.", q.Name, some(gone)),
	})
}

// kueuesWord adds a queue that is inactive for a reason that only Kueue's
// condition gives.
func (c *collector) kueuesWord(q *world.ClusterQueue, causes []string) {
	cond, _ := q.Conditions.Get(world.CondActive)
	for _, cause := range causes {
		if cause != cond.Reason || slices.Contains(ownAlert, cause) {
			continue
		}
		c.about(Alert{
			Class: Class(reason.Misconfigured), Severity: Critical, Object: q.Ref(), Advice: reason.AdviceChange, Actor: platformAdmin, Since: cond.At,
			Explanation: fmt.Sprintf("ClusterQueue %s is inactive, says Kueue: %s.", q.Name, strings.TrimSuffix(cond.Message, ".")),
		})
	}
}

// ownAlert are causes that have an alert of their own, or need none.
var ownAlert = []string{"Stopped", "Terminating", "FlavorNotFound", "AdmissionCheckNotFound", "AdmissionCheckInactive", "TopologyNotFound", "CohortCycle", "CohortCycleDetected"}

func (c *collector) silentCheck(name string, queues []string) {
	a := Alert{
		Class: Class(reason.AdmissionCheck), Severity: Critical, Object: world.Ref{Kind: world.KindAdmissionCheck, Key: world.Key{Name: name}},
		Advice: reason.AdviceChange, Actor: platformAdmin, Explanation: fmt.Sprintf("AdmissionCheck %s does not exist", name),
	}
	if k := c.s.Check(name); k != nil {
		a.Advice, a.Actor = reason.AdviceEscalate, "owner of the admission check"
		a.Explanation = fmt.Sprintf("AdmissionCheck %s is not active (controller %s)", name, k.Controller)
		if cond, ok := k.Conditions.Get(world.CondActive); ok && cond.Message != "" {
			a.Explanation += ": " + strings.TrimSuffix(cond.Message, ".")
		}
		if cond, ok := k.Conditions.Get(world.CondActive); ok && cond.Status == "False" {
			a.Since = cond.At
		}
	}
	a.Explanation += fmt.Sprintf("; nobody will answer, and ClusterQueues that ask for it admit nothing (%s).", some(queues))
	c.about(a)
}

// some writes the first few of many names, and how many more there are.
func some(names []string) string {
	const few = 5
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

// stale adds the queues whose status is older than the spec or speaks against the
// Workloads.
func (c *collector) stale() {
	for _, q := range c.s.ClusterQueues {
		c.staleStatus(q.Ref(), c.x.StaleOf(q))
	}
	for _, q := range c.s.LocalQueues {
		c.staleStatus(q.Ref(), c.x.LocalStaleOf(q))
	}
}

func (c *collector) staleStatus(q world.Ref, s reason.Stale) {
	if s.Stale {
		c.add(Alert{
			Class: StaleStatus, Severity: Warning, Object: q, Advice: reason.AdviceEscalate, Actor: platformAdmin,
			Explanation: fmt.Sprintf("The status of %s %s is not to be believed: %s.", q.Kind, q.Key, s.Note),
		})
	}
}

func (c *collector) strangers(all []pods.Stranger) {
	for _, s := range all {
		var sums []string
		for _, r := range s.Requests {
			sums = append(sums, r.Amount.Text(r.Resource)+" "+r.Resource)
		}
		who := fmt.Sprintf("%d pods that belong to no Workload use", s.Pods)
		if s.Pods == 1 {
			who = "1 pod that belongs to no Workload uses"
		}
		c.add(Alert{
			Class: Strangers, Severity: Info, Object: world.Ref{Kind: world.KindResourceFlavor, Key: world.Key{Name: s.Flavor}},
			Advice: reason.AdviceChange, Actor: "owners of those pods or " + platformAdmin,
			Explanation: fmt.Sprintf("%s %s on nodes of ResourceFlavor %s, which its quota promises to others; for example %s.", who, strings.Join(sums, ", "), s.Flavor, s.Example),
		})
	}
}

// unusedFlavors adds the ResourceFlavors of which neither a ClusterQueue nor a
// Cohort has quota.
func (c *collector) unusedFlavors() {
	if !c.usable(world.KindClusterQueue, world.KindCohort) {
		return
	}
	used := map[string]bool{}
	for _, q := range c.s.ClusterQueues {
		for i := range q.Quotas {
			used[q.Quotas[i].Flavor] = true
		}
	}
	for _, h := range c.s.Cohorts {
		for i := range h.Quotas {
			used[h.Quotas[i].Flavor] = true
		}
	}
	for _, f := range c.s.Flavors {
		if !used[f.Name] {
			c.add(Alert{
				Class: UnusedFlavor, Severity: Info, Object: f.Ref(), Advice: reason.AdviceNone,
				Explanation: fmt.Sprintf("No ClusterQueue and no Cohort has quota of ResourceFlavor %s.", f.Name),
			})
		}
	}
}
