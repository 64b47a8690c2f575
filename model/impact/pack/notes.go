package pack

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kueue/pkg/constants"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"

	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/world"
)

// counts are what the sentences are made of.
type counts struct {
	deleting, deletingHold  int
	devices, devicesWaiting int
	backoff                 int
	placed                  int // Workloads of ClusterQueues that place pods by topology
	slices, variants        int
	topologyFlavors         []string

	supposedFlavors, supposedChecks []Object
	missingSpaces                   []string
}

func (c *counts) topology(flavor string) {
	if !slices.Contains(c.topologyFlavors, flavor) {
		c.topologyFlavors = append(c.topologyFlavors, flavor)
	}
}

// marks counts the Workloads of which there may be several for one job.
func (c *counts) marks(w *world.Workload, r *project.Rest) {
	if r.Annotations[constants.ElasticJobAnnotation] == "true" {
		c.slices++
	}
	if r.Labels[controllerconstants.ConcurrentAdmissionParentLabelKey] != "" || w.Owner != nil && w.Owner.Kind == string(world.KindWorkload) {
		c.variants++
	}
}

// namespaces packs the namespaces that are needed and have no row where nobody may
// read them, and notes those that do not exist.
func (p *packer) namespaces() {
	var missing []string
	for name := range p.spaces {
		if p.s.Namespace(name) == nil {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	if !p.w.AnyNamespace {
		p.count.missingSpaces = missing
		return
	}
	for _, name := range missing {
		p.w.Namespaces = append(p.w.Namespaces, Namespace{Name: name})
	}
}

// notes are the sentences.
func (p *packer) notes() []string {
	c := &p.count
	var out []string
	note := func(when bool, format string, a ...any) {
		if when {
			out = append(out, fmt.Sprintf(format, a...))
		}
	}
	note(p.w.AnyNamespace && p.selects(), "the namespaces cannot be read: each is taken to match the selectors of the ClusterQueues")
	note(len(c.missingSpaces) > 0, "there is no %s %s: Kueue admits no Workload there", plural(len(c.missingSpaces), "namespace"), few(c.missingSpaces))
	note(!p.s.Fresh(world.KindCohort).Usable(), "the Cohorts cannot be read: they are taken to have no quota of their own, no limits and no parent")
	note(len(c.supposedFlavors) > 0, "the ResourceFlavors cannot be read: %s taken to exist and to keep no pod away", are(names(c.supposedFlavors)))
	note(len(c.supposedChecks) > 0, "the AdmissionChecks cannot be read: %s taken to exist and to be active", are(names(c.supposedChecks)))
	note(!p.s.Fresh(world.KindLimitRange).Usable(), "the LimitRanges cannot be read: Workloads may ask for more than is counted, or not be allowed")
	blind := p.blindRuntimes()
	note(blind > 0, "the RuntimeClasses cannot be read: %s for more than is counted, by the overhead of pods", workloads(blind, "asks", "ask"))
	note(len(c.topologyFlavors) > 0, "topology is not looked at: whether pods of %s room on the nodes of %s %s is not known, nor which of the flavors with and without a topology they may get",
		workloads(c.placed, "finds", "find"), plural(len(c.topologyFlavors), "flavor"), few(c.topologyFlavors))
	note(c.devices > 0, "%s devices (DRA), which are not read: %d that %s left out, and what others hold is counted as it was admitted",
		workloads(c.devices, "claims", "claim"), c.devicesWaiting, verb(c.devicesWaiting, "waits is", "wait are"))
	note(c.variants > 0, "%s to concurrent admission: which variants there will be is not foreseen", workloads(c.variants, "belongs", "belong"))
	note(c.slices > 0, "%s size while running (elastic jobs): whether that happens is not foreseen", workloads(c.slices, "may change its", "may change their"))
	note(c.backoff > 0, "%s for a time at which Kueue tries again, and %s out of the queues until then", workloads(c.backoff, "waits", "wait"), verb(c.backoff, "stays", "stay"))
	note(c.deleting > 0, "%s being deleted and left out: what %d of them still %s counts as free", workloads(c.deleting, "is", "are"), c.deletingHold, verb(c.deletingHold, "holds", "hold"))
	return out
}

// selects reports whether a packed ClusterQueue has a selector that may match.
func (p *packer) selects() bool {
	return slices.ContainsFunc(p.s.ClusterQueues, func(q *world.ClusterQueue) bool {
		return p.takes(q.Name) && q.Namespaces != nil && !q.Namespaces.Empty()
	})
}

// blindRuntimes counts the Workloads whose overhead cannot be known.
func (p *packer) blindRuntimes() int {
	if p.s.Fresh(world.KindRuntimeClass).Usable() {
		return 0
	}
	unknown := make([]bool, len(p.shapes.all))
	for i, s := range p.shapes.all {
		name := p.factsOf(s).runtime
		unknown[i] = name != "" && p.s.RuntimeClass(name) == nil
	}
	n := 0
	for i := range p.w.Workloads {
		if slices.ContainsFunc(p.podSets[p.w.Workloads[i].PodSets], func(ps PodSet) bool { return unknown[ps.Shape] }) {
			n++
		}
	}
	return n
}

func names(in []Object) []string {
	out := make([]string, len(in))
	for i := range in {
		out[i] = in[i].Name
	}
	slices.Sort(out)
	return out
}

// most bounds how many names a sentence has.
const most = 5

func few(names []string) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func are(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return few(names) + " are"
}

func plural(n int, what string) string {
	if n == 1 {
		return what
	}
	return what + "s"
}

// workloads says what one or several Workloads do.
func workloads(n int, one, several string) string {
	return fmt.Sprintf("%d %s %s", n, plural(n, "Workload"), verb(n, one, several))
}

func verb(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}
