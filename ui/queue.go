package ui

import (
	"cmp"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/doc"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// queue shows one ClusterQueue or LocalQueue whole.
type queue struct {
	ref    world.Ref
	view   doc.View
	detail loaded
	// waiting are the Workloads that wait for it, the first ones first.
	waiting joined[[]*world.Workload]
}

func newQueue(ref world.Ref) queue { return queue{ref: ref} }

// Title is Screen's.
func (s queue) Title(e Env) (string, string) {
	if _, _, ok := policyOf(e, s.ref); !ok {
		return s.ref.Key.String(), string(s.ref.Kind) + " does not exist any more"
	}
	return s.ref.Key.String(), string(s.ref.Kind)
}

// Keys is Screen's.
func (s queue) Keys() []Binding {
	out := append([]Binding{{Keys: keys("enter", "right", "l"), Name: "open", Help: "open what the cursor is on", Run: s.enter}},
		detailKeys(s.detail, func(l loaded, c tea.Cmd) (Screen, Intent) {
			if l.yaml != s.detail.yaml {
				s.view = doc.View{}
			}
			s.detail = l
			return s, run{c}
		}, s.ref)...)
	out = append(out, queueActions(s, func(e Env) (world.Ref, string) {
		if _, _, ok := policyOf(e, s.ref); !ok {
			return s.ref, s.ref.String() + " does not exist any more"
		}
		return s.ref, ""
	})...)
	return append(out, moving(func(e Env, m table.Motion) Screen {
		s.view = s.view.Move(m, s.doc(e), e.H)
		return s
	})...)
}

func (s queue) enter(e Env) (Screen, Intent) { return follow(e, s, s.view, s.doc(e)) }

// follow opens what the cursor of a page is on; stay is the page itself.
func follow(e Env, stay Screen, view doc.View, lines []doc.Line) (Screen, Intent) {
	ref, ok := view.Selected(lines, e.H)
	if !ok {
		return stay, say{"the cursor is on nothing that can be opened: down goes to the next that can", theme.Warn}
	}
	return stay, opening(e, ref)
}

// opening goes to the object's page, or says why there is none.
func opening(e Env, ref world.Ref) Intent {
	if next := screenFor(e, ref); next != nil {
		return push{next}
	}
	return say{object(ref) + " does not exist any more, or cannot be read", theme.Warn}
}

// screenFor returns the screen of an object, or nil when it is not known or has none.
func screenFor(e Env, ref world.Ref) Screen {
	switch ref.Kind {
	case world.KindWorkload:
		if w := e.Snap.WorkloadOf(ref); w != nil {
			return newWorkload(w)
		}
	case world.KindClusterQueue, world.KindLocalQueue:
		if _, _, ok := policyOf(e, ref); ok {
			return newQueue(ref)
		}
	case world.KindCohort:
		if e.Snap.Tree.Cohort(ref.Name) != nil {
			return newCohortsAt(ref.Name)
		}
	case world.KindResourceFlavor:
		return aboutFlavors().find(e.Snap, ref)
	case world.KindAdmissionCheck:
		return aboutChecks().find(e.Snap, ref)
	case world.KindWorkloadPriorityClass, world.KindPriorityClass:
		return aboutClasses().find(e.Snap, ref)
	}
	return nil
}

// Update is Screen's.
func (s queue) Update(e Env, m tea.Msg) (Screen, Intent) {
	switch m := m.(type) {
	case shownMsg:
		var read, join tea.Cmd
		s.detail, read = s.detail.shown(e, m.first, s.ref)
		s.waiting, join = s.waiting.shown(e, m.came, waitsFor(s.ref))
		return s, run{tea.Batch(read, join)}
	case beatMsg:
		var read, join tea.Cmd
		s.detail, read = s.detail.shown(e, false, s.ref)
		s.waiting, join = s.waiting.beat(e, waitsFor(s.ref))
		return s, run{tea.Batch(read, join)}
	case joinedMsg[[]*world.Workload]:
		s.waiting, _ = s.waiting.take(e, m)
	case detailMsg:
		s.detail = s.detail.take(e, m)
	}
	return s, nil
}

// waitsFor makes the list of the Workloads that wait for a queue.
func waitsFor(ref world.Ref) joiner[[]*world.Workload] {
	return joiner[[]*world.Workload]{
		same: func(a, b *store.Snapshot) bool {
			return same(a.Workloads, b.Workloads) && same(a.LocalQueues, b.LocalQueues)
		},
		of: func(l look) []*world.Workload { return waitingFor(l.snap, ref) },
	}
}

// waitingFor lists the pending Workloads of a queue: the highest priority first,
// then the oldest. Kueue's own order may differ; the Visibility API knows it.
func waitingFor(s *store.Snapshot, ref world.Ref) []*world.Workload {
	in := map[world.Key]bool{}
	if ref.Kind == world.KindLocalQueue {
		in[ref.Key] = true
	} else {
		for _, lq := range s.LocalQueues {
			if lq.ClusterQueue == ref.Name {
				in[lq.Key] = true
			}
		}
	}
	var out []*world.Workload
	for _, w := range s.Workloads {
		if w.State == world.Pending && in[world.Key{Namespace: w.Namespace, Name: w.LocalQueue}] {
			out = append(out, w)
		}
	}
	slices.SortFunc(out, func(a, b *world.Workload) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.Created.Compare(b.Created), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
	})
	return out
}

// View is Screen's.
func (s queue) View(e Env) []string { return pageOf(e.Theme, s.view, s.doc(e), e.W, e.H) }

func (s queue) doc(e Env) []doc.Line {
	if s.detail.yaml {
		return yamlDoc(e, s.detail)
	}
	p := newPaper(e)
	if s.ref.Kind == world.KindClusterQueue {
		s.clusterDoc(p)
	} else {
		s.localDoc(p)
	}
	return p.lines
}
