package reason

import (
	"fmt"
	"slices"
	"strings"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// quotaOrFlavor judges a Workload whose queues are in order: what it needs
// against the quota of every flavor that could serve it. Kueue's message, which
// may be old and may leave flavors out, decides only what cannot be computed.
// ok is false where the numbers are not known.
func (x *Explainer) quotaOrFlavor(w *world.Workload, message string) (e Explanation, ok bool) {
	name, found := x.s.QueueOf(w)
	q, node := x.s.ClusterQueue(name), x.s.Tree.ClusterQueue(name)
	if !found || q == nil || node == nil || node.Cycle != nil || !numbersKnown(x.s, q) {
		return Explanation{}, false
	}
	f := x.measure(w, q, node, message)
	if e, no := f.notCovered(q, message); no {
		return e, true
	}
	fits, sure := f.assignable(potential, serving)
	switch {
	case !sure:
		return Explanation{}, false
	case !fits:
		e = f.never(q)
	case topologyText.MatchString(message):
		e = Explanation{Class: Topology, Advice: AdviceWait, Sentence: "The nodes of its topology have no room for it now: " + words("", message) + "."}
		e.Obstacles = []Obstacle{{ObstacleTopology, w.Ref().String(), words("", message)}}
		e.Shortfall = f.shortfalls()
	default:
		e = f.waits(q)
	}
	if f.unknown != "" {
		e.Sentence += " (Not certain: " + f.unknown + ".)"
	}
	if e.NeverFits != nil && !f.certain(*e.NeverFits) {
		e.NeverFits = nil
	}
	return e, true
}

// certain reports whether what is not seen leaves the verdict, never fits or not,
// as it is. Most of it can only add to what is needed or turn flavors down.
func (f fit) certain(never bool) bool {
	if !never {
		return f.unknown == ""
	}
	if f.told {
		if fits, sure := f.assignable(potential, everything); fits || !sure {
			return false // it rests on what Kueue said some time ago
		}
	}
	return !f.less
}

// numbersKnown reports whether the quota arithmetic for the queue rests on
// everything that it needs: with cohorts unread, what is free is a guess.
func numbersKnown(s *store.Snapshot, q *world.ClusterQueue) bool {
	kinds := []world.Kind{world.KindClusterQueue, world.KindWorkload}
	if q.Cohort != "" {
		kinds = append(kinds, world.KindCohort)
	}
	for _, k := range kinds {
		if f := s.Fresh(k); !f.Usable() || f.Feed == world.Denied {
			return false
		}
	}
	return true
}

// notCovered explains a request for a resource that the queue has no quota for.
// The manager may be configured to leave resources out (excludeResourcePrefixes),
// or those that a queue does not cover (quotaCheckStrategy, 0.18), so only Kueue's
// message proves it.
func (f fit) notCovered(q *world.ClusterQueue, message string) (Explanation, bool) {
	var sure []string
	for _, m := range notCovered.FindAllStringSubmatch(message, -1) {
		if !slices.Contains(sure, m[1]) {
			sure = append(sure, m[1])
		}
	}
	// A request that is gone, or covered now, is an old message's.
	sure = slices.DeleteFunc(sure, func(r string) bool { return len(f.uncovered) > 0 && !slices.Contains(f.uncovered, r) || covers(q, r) })
	if len(sure) == 0 {
		return Explanation{}, false
	}
	slices.Sort(sure)
	what := strings.Join(sure, ", ")
	e := Explanation{
		Class: Quota, Advice: AdviceChange, Actor: jobOwner + " or " + queueAdmin, NeverFits: yes(),
		Sentence: fmt.Sprintf("ClusterQueue %s has no quota for %s: ask for another resource, or use another queue.", q.Name, what),
	}
	for _, r := range sure {
		e.Obstacles = append(e.Obstacles, Obstacle{ObstacleQuota, q.Ref().String(), r + " is not covered by the ClusterQueue"})
	}
	return e, true
}

func covers(q *world.ClusterQueue, resource string) bool {
	for _, g := range q.Groups {
		if slices.Contains(g.Resources, resource) {
			return true
		}
	}
	return false
}

func yes() *bool { b := true; return &b }
func no() *bool  { return new(bool) }

// never explains a demand that cannot be met under today's quota, by the flavors
// that refuse it where that is what makes the difference.
func (f fit) never(q *world.ClusterQueue) Explanation {
	e := Explanation{Class: Quota, Advice: AdviceChange, NeverFits: yes()}
	bad := f.asks[0]
	for _, a := range f.asks {
		if len(f.couldServe(nil, a)) == 0 {
			bad = a
			break
		}
	}
	for _, r := range bad.refused {
		e.Obstacles = append(e.Obstacles, Obstacle{r.kind, "ResourceFlavor/" + r.flavor, r.why})
	}
	if all, _ := f.assignable(potential, everything); all && len(bad.refused) > 0 && len(f.couldServe(nil, bad)) == 0 {
		e.Class, e.Actor = Flavor, jobOwner
		why := refusalWords(bad.refused)
		switch {
		case !slices.ContainsFunc(bad.refused, func(r refusal) bool { return r.kind != ObstacleTopology }):
			e.Class, e.Actor = Topology, jobOwner+" or "+queueAdmin
		case !slices.ContainsFunc(bad.refused, func(r refusal) bool { return r.kind != ObstacleFlavorMissing }):
			e.Actor = queueAdmin
		}
		e.Sentence = fmt.Sprintf("No flavor can serve its %s: %s.", resourcesOf(bad), why)
		if len(bad.serve) > 0 {
			e.Actor = jobOwner + " or " + queueAdmin
			e.Sentence = fmt.Sprintf("No flavor can serve its %s: %s; %s.", resourcesOf(bad), f.most(bad), why)
			e.Obstacles = append(e.Obstacles, Obstacle{ObstacleQuota, q.Ref().String(), f.most(bad)})
		}
		return e
	}
	if len(bad.serve) == 0 && len(bad.refused) == 0 {
		e.Class, e.Actor = Flavor, queueAdmin
		e.Sentence = fmt.Sprintf("No flavor of its ClusterQueue has %s.", resourcesOf(bad))
		return e
	}
	e.Actor = jobOwner + " or " + queueAdmin
	detail := f.most(bad)
	if len(f.couldServe(nil, bad)) > 0 {
		detail = f.sum()
		if len(bad.refused) > 0 {
			detail += "; " + refusalWords(bad.refused)
		}
	}
	e.Sentence = "Can never fit: " + detail + ". Ask for less, or have the quota raised."
	e.Obstacles = append(e.Obstacles, Obstacle{ObstacleQuota, q.Ref().String(), detail})
	return e
}

// refusalWords puts the refusals into one line, the first few in full.
func refusalWords(all []refusal) string {
	const few = 3
	var out []string
	for i, r := range all {
		if i == few {
			out = append(out, fmt.Sprintf("%d more flavors refuse", len(all)-few))
			break
		}
		out = append(out, r.why)
	}
	return strings.Join(out, "; ")
}

// resourcesOf names what the ask needs, or what it names where it needs nothing.
func resourcesOf(a ask) string {
	var out []string
	for _, n := range a.needs {
		out = append(out, n.Resource)
	}
	if len(out) == 0 {
		out = a.names
	}
	return strings.Join(out, ", ")
}

// most says what the ask needs and what its flavors have at most.
func (f fit) most(a ask) string {
	cells := f.nearest(a)
	if len(cells) == 0 {
		return "needs " + needsOf(a)
	}
	worst := cells[0]
	for _, c := range cells {
		if c.Need > c.Most {
			worst = c
			break
		}
	}
	most := worst.Most.Text(worst.Resource)
	if n := len(a.serve); n > 1 {
		return fmt.Sprintf("needs %s %s in one flavor, and none of %d has more than %s", worst.Need.Text(worst.Resource), worst.Resource, n, f.largest(a, worst.Resource).Text(worst.Resource))
	}
	return fmt.Sprintf("needs %s, %s at most", need(worst), most)
}

// largest is the most of the resource that any of the flavors could ever give.
func (f fit) largest(a ask, resource string) world.Amount {
	var out world.Amount
	for _, name := range a.serve {
		c, _ := f.node.Cell(world.FlavorResource{Flavor: name, Resource: resource})
		out = max(out, c.Potential)
	}
	return out
}

// sum says what all pod sets need together where each of them alone would fit.
func (f fit) sum() string {
	total := map[string]world.Amount{}
	var order []string
	for _, a := range f.asks {
		for _, n := range a.needs {
			if _, ok := total[n.Resource]; !ok {
				order = append(order, n.Resource)
			}
			total[n.Resource] = total[n.Resource].Add(n.Amount)
		}
	}
	var parts []string
	for _, r := range order {
		parts = append(parts, total[r].Text(r)+" "+r)
	}
	return "its pod sets need " + strings.Join(parts, ", ") + " together, more than its flavors have at most"
}

func needsOf(a ask) string {
	var out []string
	for _, n := range a.needs {
		out = append(out, n.Amount.Text(n.Resource)+" "+n.Resource)
	}
	return strings.Join(out, ", ")
}

func need(x Shortfall) string {
	return fmt.Sprintf("%s %s of %s", x.Need.Text(x.Resource), x.Resource, x.Flavor)
}

// waits explains a demand that fits some day, or now.
func (f fit) waits(q *world.ClusterQueue) Explanation {
	e := Explanation{Class: Quota, Advice: AdviceWait, NeverFits: no()}
	now, sure := f.assignable(free, serving)
	var cells []Shortfall
	if !now {
		cells = f.blocking()
	}
	if len(cells) == 0 {
		e.Class = QueueOrder
		e.Sentence = fmt.Sprintf("It asks for nothing of what ClusterQueue %s has quota for: waits for its turn.", q.Name)
		if a, ok := f.first(); ok {
			c := f.nearest(a)[0]
			e.Sentence = fmt.Sprintf("Needs %s and %s are free now: waits for its turn.", need(c), c.Free.Text(c.Resource))
		}
		if q.Strategy == "StrictFIFO" {
			e.Sentence += " The queue is StrictFIFO: nothing passes a Workload that is before it."
		}
		return e
	}
	e.Shortfall = f.shortfalls()
	var parts []string
	for _, c := range cells {
		parts = append(parts, c.Missing.Text(c.Resource)+" "+c.Resource+" of "+c.Flavor)
	}
	first := cells[0]
	e.Sentence = fmt.Sprintf("Needs %s: %s free, %s at most. Waits for %s to come back.", need(first), first.Free.Text(first.Resource), first.Most.Text(first.Resource), first.Missing.Text(first.Resource))
	if len(parts) > 1 {
		e.Sentence = strings.TrimSuffix(e.Sentence, ".") + ", and for " + strings.Join(parts[1:], ", ") + "."
	}
	for _, p := range parts {
		e.Obstacles = append(e.Obstacles, Obstacle{ObstacleQuota, q.Ref().String(), p + " missing"})
	}
	if !sure {
		e.Sentence += " (Not certain: there are too many ways to place its pod sets to try them all.)"
	}
	return e
}

// first is the first ask that needs anything.
func (f fit) first() (ask, bool) {
	i := slices.IndexFunc(f.asks, func(a ask) bool { return len(a.needs) > 0 })
	if i < 0 {
		return ask{}, false
	}
	return f.asks[i], true
}
