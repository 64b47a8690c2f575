package ui

import (
	"cmp"
	"strconv"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/filter"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// workloads is the list of Workloads.
type workloads = board[world.Ref, *world.Workload]

func newWorkloads() workloads {
	return newBoard(&sheet[world.Ref, *world.Workload]{
		name: "Workloads", noun: "Workload", own: "state, priority, age", of: []world.Kind{world.KindWorkload},
		columns: workloadColumns(), fields: workloadFields(), none: "There are no Workloads.",
		key:  (*world.Workload).Ref,
		list: listWorkloads,
		same: sameWorkloads, dear: explained,
		now: func(e Env, w *world.Workload) (*world.Workload, bool) {
			if now := e.Snap.WorkloadOf(w.Ref()); now != nil {
				return now, false
			}
			return w, true
		},
		alive: func(e Env, r world.Ref) bool { return e.Snap.WorkloadOf(r) != nil },
		cells: workloadCells, strip: workloadStrip, pane: workloadPane, fit: fitWorkloads,
		open: func(_ Env, w *world.Workload) Intent { return push{newWorkload(w)} }, yaml: true,
		keys: workloadKeys,
	})
}

// sameWorkloads reports that two snapshots give the same list. What a Workload waits
// for is not its own affair alone.
func sameWorkloads(a, b *store.Snapshot, q filter.Query) bool {
	if explained(q) {
		return a.Seq == b.Seq
	}
	return same(a.Workloads, b.Workloads) && samePlaces(a, b, q)
}

func workloadKeys(s workloads) []Binding {
	if s.marking() {
		return severalActions(s, "Workload", marked(s, (*world.Workload).Ref), workloadRefusal, actions.Deactivate, actions.Reactivate, actions.Reprioritize)
	}
	pick := func(e Env) (*world.Workload, string) {
		w, why := s.picked()
		if why != "" {
			return nil, why
		}
		if now := e.Snap.WorkloadOf(w.Ref()); now != nil {
			w = now
		}
		return w, ""
	}
	return append([]Binding{{Keys: keys("x"), Name: "export", Help: "write Workloads to a file", Run: func(e Env) (Screen, Intent) {
		return s, open{chooser{title: "Export which Workloads?", choices: exportChoices(e, s)}}
	}}}, workloadActions(s, pick)...)
}

func exportChoices(e Env, s workloads) []choice {
	var at []choice
	if w, _, ok := s.list.Selected(); ok {
		at = append(at, exports("Workloads of namespace "+w.Namespace, actions.Scope{Namespace: w.Namespace}))
		if w.LocalQueue != "" {
			at = append(at, exports("Workloads of LocalQueue "+w.Namespace+"/"+w.LocalQueue, actions.Scope{LocalQueue: world.Key{Namespace: w.Namespace, Name: w.LocalQueue}}))
		}
		if q, ok := e.Snap.QueueOf(w); ok {
			at = append(at, exports("Workloads of ClusterQueue "+q, actions.Scope{ClusterQueue: q}))
		}
	}
	return append(at, exports("all Workloads", actions.Scope{}))
}

// by compares rows by a value.
func by[T any, V cmp.Ordered](value func(T) V) func(look) func(a, b T) int {
	return func(look) func(a, b T) int {
		return func(a, b T) int { return cmp.Compare(value(a), value(b)) }
	}
}

func workloadColumns() []column[*world.Workload] {
	type w = *world.Workload
	return []column[w]{
		{Column: table.Column{Title: "NAMESPACE", Min: 10, Max: 18, Drop: 4}, compare: by(func(w w) string { return w.Namespace })},
		{Column: table.Column{Title: "JOB", Min: 14, Max: 30}, compare: by(func(w w) string { return w.JobName() })},
		{Column: table.Column{Title: "WORKLOAD", Min: 16, Max: 34, Drop: 7}, compare: by(func(w w) string { return w.Name })},
		{Column: table.Column{Title: "QUEUE", Min: 18, Max: 34, Drop: 6}, compare: func(l look) func(a, b w) int {
			return func(a, b w) int {
				x, _ := l.snap.QueueOf(a)
				y, _ := l.snap.QueueOf(b)
				return cmp.Or(cmp.Compare(x, y), cmp.Compare(a.LocalQueue, b.LocalQueue))
			}
		}},
		{Column: table.Column{Title: "PRIO", Right: true, Min: 4, Max: 11, Drop: 5}, compare: by(func(w w) int32 { return w.Priority }), falling: true},
		{Column: table.Column{Title: "STATE", Min: 9, Max: 11}, compare: by(func(w w) int { return stateRank[w.State] })},
		{Column: table.Column{Title: "AGE", Right: true, Min: 5, Max: 6}, compare: func(look) func(a, b w) int {
			return func(a, b w) int { return b.Created.Compare(a.Created) }
		}, falling: true},
		{Column: table.Column{Title: "WHY", Min: 20, Max: 20, Grow: 1, Drop: 2}},
	}
}

// Places of columns that go where there is no room.
const (
	workloadColumn = 2
	queueColumn    = 3
)

// fitWorkloads leaves out what the strip below says: the room is better spent on why.
func fitWorkloads(e Env, cols []table.Column) {
	hide := func(i int) { cols[i].Max, cols[i].Min, cols[i].Title, cols[i].Sorted = 0, 0, "", 0 }
	if e.W < 100 && cols[queueColumn].Sorted == 0 {
		hide(queueColumn)
	}
	if e.W < 150 && cols[workloadColumn].Sorted == 0 {
		hide(workloadColumn)
	}
}

func workloadCells(e Env, w *world.Workload, gone bool) []table.Cell {
	why := table.Cell{Text: "does not exist any more"}
	if !gone {
		x := e.why(w)
		why = table.Cell{Text: sentence(x), Role: adviceRole(x)}
	}
	return []table.Cell{
		{Text: w.Namespace}, {Text: w.JobName(), Role: theme.Strong}, {Text: w.Name}, {Text: queuePath(e, w)},
		{Text: strconv.Itoa(int(w.Priority))}, {Text: w.State.String(), Role: stateRole(w.State)}, {Text: age(e.Now, w.Created)}, why,
	}
}

// workloadStrip says who is under the cursor, and why in full.
func workloadStrip(e Env, w *world.Workload, gone bool) strip {
	out := strip{head: w.Namespace + "/" + w.JobName(), tail: "  " + queuePath(e, w) + "  priority " + strconv.Itoa(int(w.Priority))}
	if gone {
		out.text = "does not exist any more"
		return out
	}
	x := e.why(w)
	out.text, out.role, out.call = sentence(x), adviceRole(x), advice(x)
	if call, why := blame(e, w); call != "" {
		out.call += "; " + call
		out.text = why + " " + out.text
	}
	return out
}

// workloadPane is the page of a Workload, without what has to be read for it.
func workloadPane(e Env, w *world.Workload, _ int) []string {
	s, p := newWorkload(w), newPaper(e)
	name, right := s.Title(e)
	p.raw(e.Theme.Paint(theme.Strong, name) + "   " + right)
	p.gap()
	s.whyDoc(p)
	s.placeDoc(p)
	p.gap()
	s.podsDoc(p)
	s.checksDoc(p)
	p.gap()
	s.chainDoc(p)
	return p.plainLines()
}
