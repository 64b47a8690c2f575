package pack

import (
	"encoding/json"
	"time"

	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// Of packs the ClusterQueues of the names with everything that bears on what
// Kueue's scheduler does with them: their LocalQueues and Workloads, the namespaces
// of those, and all Cohorts, ResourceFlavors, AdmissionChecks, Topologies and
// RuntimeClasses. Nil packs all ClusterQueues, and then also what belongs to none.
// The answer is whole only if the names are whole trees (Trees).
//
// The sentences, without full stops, say what could not be packed or was taken for
// granted. Of reads the snapshot and does not block; it may be called from any
// goroutine.
//
// These differ from the objects on purpose:
//   - maximumExecutionTimeSeconds is left out: no time passes in a preview, and
//     Kueue's controller would end a Workload by the clock on the wall.
//   - Finished Workloads are left out: they hold nothing and nothing waits for them.
//   - Workloads that are being deleted are left out (with a sentence): they end by
//     themselves.
//   - A Workload whose backoff has not ended stays in it for good (with a sentence),
//     and one whose time has come has no requeueAt any more.
//   - What waits and claims devices (DRA) is left out (with a sentence): what it asks
//     for stands in objects that are not read.
//   - podSetUpdates of admission checks are left out: only topologies need them, of
//     which there are none without nodes.
func Of(s *store.Snapshot, queues map[string]bool) (*World, []string) {
	p := &packer{
		s: s, queues: queues, w: &World{At: s.At, NoTopology: true},
		texts: newTable[string](), shapes: newTable[string](), requests: newTable[string](), assigned: newTable[string](), rests: newTable[string](),
		owners: newTable[Owner](), conditions: newTable[Condition](), podSets: [][]PodSet{nil}, podSetsBy: map[string]int{"": 0},
		locals: map[world.Key]bool{}, spaces: map[string]bool{}, facts: map[string]*facts{}, placed: map[string]bool{},
		away: map[string]string{}, fixed: map[string]string{}, restOf: map[string]project.Rest{},
	}
	p.place()
	p.clusterQueues()
	p.workloads()
	p.localQueues()
	p.cohorts()
	p.flavors()
	p.checks()
	p.others()
	p.w.Texts, p.w.Owners, p.w.Conditions, p.w.PodSets = p.texts.all, p.owners.all, p.conditions.all, p.podSets
	p.w.Shapes, p.w.Requests, p.w.Assigned, p.w.Rests = raw(p.shapes), raw(p.requests), raw(p.assigned), raw(p.rests)
	return p.w, p.notes()
}

// packer is the work of one Of.
type packer struct {
	s      *store.Snapshot
	queues map[string]bool // nil: all
	w      *World

	texts, shapes, requests, assigned, rests *table[string]
	owners                                   *table[Owner]
	conditions                               *table[Condition]
	podSets                                  [][]PodSet
	podSetsBy                                map[string]int

	locals map[world.Key]bool // LocalQueues of packed Workloads
	spaces map[string]bool    // namespaces that are needed
	facts  map[string]*facts  // by shape
	placed map[string]bool    // ClusterQueues of which a flavor has a topology
	away   map[string]string  // topologyRequests without what asks for a level
	fixed  map[string]string  // assignments without topology
	restOf map[string]project.Rest
	count  counts
}

// takes reports whether the ClusterQueue is to be packed.
func (p *packer) takes(clusterQueue string) bool { return p.queues == nil || p.queues[clusterQueue] }

// place finds the ClusterQueues of which a flavor has a topology.
func (p *packer) place() {
	for _, q := range p.s.ClusterQueues {
		for _, name := range q.Flavors() {
			if f := p.s.Flavor(name); f != nil && f.Topology != "" {
				p.placed[q.Name] = true
				if p.takes(q.Name) {
					p.count.topology(name)
				}
			}
		}
	}
}

func (p *packer) clusterQueues() {
	for _, q := range p.s.ClusterQueues {
		if p.takes(q.Name) {
			o := p.object(q.Meta, q.Spec, q.Conditions)
			o.Counts = [3]int32{q.Status.Pending, q.Status.Reserving, q.Status.Admitted}
			p.w.ClusterQueues = append(p.w.ClusterQueues, o)
		}
	}
	p.w.AnyNamespace = !p.s.Fresh(world.KindNamespace).Usable()
}

func (p *packer) localQueues() {
	for _, q := range p.s.LocalQueues {
		if p.takes(q.ClusterQueue) || p.locals[q.Key] {
			p.w.LocalQueues = append(p.w.LocalQueues, p.object(q.Meta, q.Spec, nil))
			p.spaces[q.Namespace] = true
		}
	}
}

// cohorts packs every Cohort: a change may bring any of them into a tree. Those
// of which the way up ends in a cycle come along only where a packed ClusterQueue
// is among them.
func (p *packer) cohorts() {
	var cycles map[*quota.Node]bool
	for _, q := range p.s.ClusterQueues {
		if n := p.s.Tree.ClusterQueue(q.Name); n != nil && n.Cycle != nil && p.takes(q.Name) {
			if cycles == nil {
				cycles = map[*quota.Node]bool{}
			}
			cycles[rootOf(p.s.Tree, n)] = true
		}
	}
	for _, c := range p.s.Cohorts {
		if n := p.s.Tree.Cohort(c.Name); p.queues != nil && n != nil && n.Cycle != nil && !cycles[rootOf(p.s.Tree, n)] {
			continue
		}
		p.w.Cohorts = append(p.w.Cohorts, p.object(c.Meta, c.Spec, nil))
	}
}

// flavors packs every ResourceFlavor. Where they cannot be read, those that are
// named exist and have nothing that keeps a pod away.
func (p *packer) flavors() {
	for _, f := range p.s.Flavors {
		p.w.Flavors = append(p.w.Flavors, p.object(f.Meta, withoutTopology(f), nil))
	}
	if p.s.Fresh(world.KindResourceFlavor).Usable() {
		return
	}
	p.supposed(&p.w.Flavors, func(name string) bool { return p.s.Flavor(name) != nil }, (*world.ClusterQueue).Flavors)
	p.count.supposedFlavors = p.w.Flavors[len(p.s.Flavors):]
}

// checks packs every AdmissionCheck. Where they cannot be read, those that are
// named exist and are active.
func (p *packer) checks() {
	for _, c := range p.s.Checks {
		p.w.Checks = append(p.w.Checks, p.object(c.Meta, c.Spec, c.Conditions))
	}
	if p.s.Fresh(world.KindAdmissionCheck).Usable() {
		return
	}
	p.supposed(&p.w.Checks, func(name string) bool { return p.s.Check(name) != nil }, checkNames)
	supposed := p.w.Checks[len(p.s.Checks):]
	for i := range supposed {
		active := Condition{Type: world.CondActive, Status: "True", Reason: "Active"}
		supposed[i].Conditions = []int64{int64(p.conditions.of(active)), p.seconds(p.s.At), 0}
	}
	p.count.supposedChecks = supposed
}

func checkNames(q *world.ClusterQueue) []string {
	var out []string
	for _, c := range q.Checks {
		out = append(out, c.Name)
	}
	return out
}

// supposed adds an empty object for each name that a packed ClusterQueue has and
// no row.
func (p *packer) supposed(to *[]Object, known func(string) bool, names func(*world.ClusterQueue) []string) {
	done := map[string]bool{}
	for _, q := range p.s.ClusterQueues {
		if !p.takes(q.Name) {
			continue
		}
		for _, name := range names(q) {
			if !done[name] && !known(name) {
				done[name] = true
				*to = append(*to, Object{Name: name, Spec: json.RawMessage("{}")})
			}
		}
	}
}

// others packs what bears on requests and on who may be where.
func (p *packer) others() {
	for _, t := range p.s.Topologies {
		p.w.Topologies = append(p.w.Topologies, Topology{Name: t.Name, Levels: t.Levels})
	}
	for _, r := range p.s.RuntimeClasses {
		p.w.Runtimes = append(p.w.Runtimes, RuntimeClass{Name: r.Name, Overhead: r.Overhead})
	}
	for _, n := range p.s.Namespaces {
		if p.queues == nil || p.spaces[n.Name] {
			p.w.Namespaces = append(p.w.Namespaces, Namespace{Name: n.Name, Labels: n.Labels})
		}
	}
	for _, l := range p.s.LimitRanges {
		if p.queues == nil || p.spaces[l.Namespace] {
			p.w.LimitRanges = append(p.w.LimitRanges, LimitRange{Namespace: l.Namespace, Name: l.Name, Limits: l.Limits})
		}
	}
	p.namespaces()
}

func (p *packer) object(m world.Meta, spec string, conditions world.Conditions) Object {
	return Object{
		Namespace: m.Namespace, Name: m.Name, UID: UID(m.UID), Generation: m.Generation, Deleting: m.Deleting,
		Spec: message(spec), Conditions: p.conditionsOf(conditions, nil),
	}
}

func (p *packer) seconds(t time.Time) int64 {
	if t.IsZero() {
		return noTime
	}
	return t.Unix() - p.s.At.Unix()
}
