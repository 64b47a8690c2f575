package ui

import (
	"slices"
	"strings"

	"github.com/sahilm/fuzzy"

	"cli.holdfast.dev/holdfast/model/quota"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// place is somewhere the palette can go, or something that it can do.
type place struct {
	name, hint string
	// also are words by which it is found besides its name.
	also string
	// alias is another word for the first of its name.
	alias string
	// to does it; rest is what was typed after the first word.
	to func(e Env, rest string) Intent
	// enabled says whether it can be done now; nil: always.
	enabled func(Env) (bool, string)
}

// refusal says why it cannot be done now; empty where it can.
func (p place) refusal(e Env) string {
	if p.enabled == nil {
		return ""
	}
	if ok, why := p.enabled(e); !ok {
		return why
	}
	return ""
}

// mostPlaces bounds the answers.
const mostPlaces = 50

// haunt is what the palette finds places in.
type haunt struct {
	snap *store.Snapshot
	// commands take an argument; deeds are the keys of the screen below and of the root.
	commands, deeds []Binding
	contexts        []string
	context         string
}

// findPlaces lists the places whose names hold the text, then what can be done by that
// name, then what resembles it: what is only begun to be typed goes somewhere rather
// than doing something. Without a text it lists the tabs and what can be done.
func findPlaces(h haunt, text string) []place {
	for _, b := range h.commands {
		if word, _, ok := strings.Cut(text, " "); ok && word == b.Command {
			return []place{command(b)} // what follows is no name
		}
	}
	text = strings.TrimSpace(text)
	tabs, doing := h.tabs(), h.doing()
	if text == "" {
		return append(tabs, doing...)
	}
	names := append(tabs, h.objects()...)
	out := h.habits(text)
	jobs := h.jobs(text)
	exact, begins, holds := matching(names, text)
	same, like, in := matching(doing, text)
	for _, ps := range [][]place{exact, same, begins, holds, jobs, like, in} {
		out = append(out, ps...)
	}
	if len(out) < mostPlaces {
		out = append(out, resembling(append(names, doing...), text)...)
	}
	if len(out) == 0 {
		out = resembling(h.everyJob(), text)
	}
	return out[:min(len(out), mostPlaces)]
}

// habits are what the text stands for with people who know kubectl, k9s and vi, where it is
// the whole of what they typed.
func (h haunt) habits(text string) []place {
	tab := func(t Tab) []place { return []place{h.tabs()[t]} }
	switch text {
	case "q", "q!", "qa", "quit", "exit":
		return []place{{name: "quit", hint: "leave holdfast", to: func(Env, string) Intent { return quit{} }}}
	case "cq", "lq", "clusterqueues", "localqueues":
		return tab(TabQueues)
	case "wl":
		return tab(TabWorkloads)
	case "rf", "resourceflavors":
		return tab(TabFlavors)
	case "ctx", "context", "contexts":
		if !slices.ContainsFunc(h.contexts, func(c string) bool { return c != h.context }) {
			return []place{{name: "context", hint: "another cluster of the kubeconfig", enabled: func(Env) (bool, string) {
				return false, "there is no other context in the kubeconfig"
			}}}
		}
	}
	return nil
}

// matching are the places that have the text in their names: those that are it, those
// of which a word begins with it, and the rest.
func matching(all []place, text string) (exact, begins, holds []place) {
	for _, p := range all {
		name := strings.ToLower(p.name + " " + p.also)
		if p.alias != "" {
			name += " " + p.alias + " " + strings.ToLower(p.also)
		}
		switch i := strings.Index(name, text); {
		case i < 0:
		case strings.ToLower(p.name) == text || p.also == text:
			exact = append(exact, p)
		case i == 0 || strings.Contains(name, " "+text):
			begins = append(begins, p)
		default:
			holds = append(holds, p)
		}
	}
	return exact, begins, holds
}

// resembling are the places whose letters hold those of the text in their order and
// that matching leaves out.
func resembling(all []place, text string) []place {
	var out []place
	for _, m := range fuzzy.FindFrom(text, placeNames(all)) {
		p := all[m.Index]
		if strings.Contains(strings.ToLower(p.name+" "+p.also), text) {
			continue
		}
		if out = append(out, p); len(out) == mostPlaces {
			break
		}
	}
	return out
}

type placeNames []place

func (p placeNames) Len() int            { return len(p) }
func (p placeNames) String(i int) string { return p[i].name }

func (h haunt) tabs() []place {
	var out []place
	for t := range tabs {
		hint := ""
		if k := t.key(); k != "" {
			hint = "key " + k
		}
		out = append(out, place{name: t.String(), hint: hint, to: func(Env, string) Intent { return visit{tab: t} }})
	}
	return out
}

// command is a command that takes an argument.
func command(b Binding) place {
	return place{name: b.Command + " " + b.Argument, also: b.Command, hint: b.Help, enabled: b.Enabled, to: func(e Env, rest string) Intent {
		return swap{dialog: b.With(e, rest)}
	}}
}

// doing is what can be done: what takes an argument, and what a key does here.
func (h haunt) doing() []place {
	var out []place
	for _, b := range h.commands {
		out = append(out, command(b))
	}
	for _, b := range h.deeds {
		if b.Name == "" || b.Command != "" || b.has(":") {
			continue
		}
		key := b.Keys[0]
		out = append(out, place{name: b.Name, hint: "key " + showKey(key) + ": " + b.Help, enabled: b.Enabled, to: func(Env, string) Intent { return press{key} }})
	}
	return out
}

// objects are the queues, what they are set up with, namespaces and contexts.
func (h haunt) objects() []place {
	var out []place
	object := func(kind world.Kind, tab Tab, ref world.Ref) {
		out = append(out, place{name: string(kind) + " " + ref.Key.String(), also: ref.Name, to: going(tab, ref)})
	}
	for _, q := range h.snap.ClusterQueues {
		object(world.KindClusterQueue, TabQueues, q.Ref())
	}
	for _, q := range h.snap.LocalQueues {
		object(world.KindLocalQueue, TabQueues, q.Ref())
	}
	for _, f := range h.snap.Flavors {
		object(world.KindResourceFlavor, TabFlavors, f.Ref())
	}
	for _, k := range h.snap.Checks {
		object(world.KindAdmissionCheck, TabChecks, k.Ref())
	}
	for _, c := range h.snap.PriorityClasses {
		object(world.KindWorkloadPriorityClass, TabPriorities, c.Ref())
	}
	for _, name := range cohortsOf(h.snap.Tree) {
		out = append(out, place{name: "Cohort " + name, also: name, to: func(Env, string) Intent {
			return visit{tab: TabCohorts, screen: newCohortsAt(name), alone: true}
		}})
	}
	for _, ns := range namespacesOf(h.snap) {
		out = append(out, place{name: "namespace " + ns, also: ns, alias: "ns", hint: "its Workloads", to: func(Env, string) Intent {
			return visit{tab: TabWorkloads, screen: newWorkloads().filtered("ns:=" + ns), alone: true}
		}})
	}
	for _, c := range h.contexts {
		if c == h.context {
			continue
		}
		out = append(out, place{name: "context " + c, also: c, alias: "ctx", hint: "leave this cluster and go to that one", to: func(Env, string) Intent { return depart{c} }})
	}
	return out
}

// cohortsOf lists the cohorts of the tree, those that are only named too, from the top.
func cohortsOf(t *quota.Tree) []string {
	var out []string
	var walk func([]*quota.Node)
	walk = func(ns []*quota.Node) {
		for _, n := range ns {
			if n.Kind == world.KindCohort {
				out = append(out, n.Name)
				walk(n.Children)
			}
		}
	}
	walk(t.Roots)
	return out
}

// namespacesOf lists the namespaces that have LocalQueues or Workloads.
func namespacesOf(s *store.Snapshot) []string {
	var out []string
	add := func(ns string) {
		if i, ok := slices.BinarySearch(out, ns); !ok {
			out = slices.Insert(out, i, ns)
		}
	}
	for _, q := range s.LocalQueues {
		add(q.Namespace)
	}
	last := ""
	for _, w := range s.Workloads { // sorted by namespace
		if w.Namespace != last {
			last = w.Namespace
			add(last)
		}
	}
	return out
}

// going goes to the object's page in the tab.
func going(tab Tab, ref world.Ref) func(Env, string) Intent {
	return func(e Env, _ string) Intent {
		if s := screenFor(e, ref); s != nil {
			return visit{tab: tab, screen: s}
		}
		return say{ref.String() + " does not exist any more", theme.Warn}
	}
}

func placeOf(w *world.Workload) place {
	return place{name: "Workload " + w.Namespace + "/" + w.JobName() + " (" + w.State.String() + ")", to: going(TabWorkloads, w.Ref())}
}

// jobs are the Workloads that have the text in a name, as many as are shown.
func (h haunt) jobs(text string) []place {
	var out []place
	for _, w := range h.snap.Workloads {
		if strings.Contains(w.Namespace+"/"+w.JobName(), text) || strings.Contains(w.Name, text) {
			if out = append(out, placeOf(w)); len(out) == mostPlaces {
				break
			}
		}
	}
	return out
}

func (h haunt) everyJob() []place {
	out := make([]place, 0, len(h.snap.Workloads))
	for _, w := range h.snap.Workloads {
		out = append(out, placeOf(w))
	}
	return out
}
