package actions

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// PlanExport plans to write the state of the scope's Workloads into a new
// private file.
func (d *Desk) PlanExport(_ context.Context, scope Scope) (Plan, error) {
	s := d.opts.World()
	if err := scope.exists(s); err != nil {
		return Plan{}, err
	}
	p := d.plan(Export)
	dir, err := filepath.Abs(d.opts.ExportDir)
	if err != nil {
		return Plan{}, err
	}
	name := fmt.Sprintf("holdfast-%s-%s-%s.json", fileWord(d.opts.Context), fileWord(scope.String()), d.opts.Clock.Now().UTC().Format("20060102T150405Z"))
	p.Export = &ExportPlan{Scope: scope, Path: filepath.Join(dir, name)}
	queueOf := func(k world.Key) string {
		if lq := s.LocalQueue(k); lq != nil {
			return lq.ClusterQueue
		}
		return ""
	}
	for _, w := range s.Workloads {
		if scope.has(queueOf, w.Namespace, w.LocalQueue, w.ClusterQueue) {
			p.Export.Count++
		}
	}
	if why := incomplete(s, world.Ref{Kind: world.KindClusterQueue}); why != "" {
		p.Incomplete = why + " The export asks the server itself and holds what it answers."
	}
	p.Notes = append(p.Notes, redactionNote, "An existing file is never replaced; the file is read back before it is called done.")
	p.Confirm = Confirm{ConfirmYes, "y"}
	return p, nil
}

// redactionNote is said of an export from which secrets are taken out.
const redactionNote = "Env values, args, commands and secret-looking annotations are redacted."

// WithPodEnv returns an export plan that redacts nothing, and says so.
func (p Plan) WithPodEnv() Plan {
	x := *p.Export
	x.IncludePodEnv = true
	p.Export = &x
	p.Notes = slices.Clone(p.Notes)
	for i, n := range p.Notes {
		if n == redactionNote {
			p.Notes[i] = "NOTHING is redacted: env values, args and annotations go into the file as they are."
		}
	}
	return p
}

// exists refuses a scope whose queue or namespace is known not to be there: a slip
// of the pen must not give an empty file for evidence.
func (s Scope) exists(snap *store.Snapshot) error {
	live := func(k world.Kind) bool { return snap.Fresh(k).Feed == world.Live }
	gone := false
	switch {
	case s.Cohort != "":
		gone = live(world.KindClusterQueue) && len(QueuesBelow(snap, s.Cohort)) == 0
	case s.ClusterQueue != "":
		gone = live(world.KindClusterQueue) && snap.ClusterQueue(s.ClusterQueue) == nil
	case s.LocalQueue.Name != "":
		read := snap.Contract.Namespace == "" || snap.Contract.Namespace == s.LocalQueue.Namespace
		gone = read && live(world.KindLocalQueue) && snap.LocalQueue(s.LocalQueue) == nil
	case s.Namespace != "":
		gone = live(world.KindNamespace) && snap.Namespace(s.Namespace) == nil
	}
	if gone {
		return &Problem{What: s.String() + " does not exist", Do: "Look at the name. Nothing was written."}
	}
	return nil
}

// String is the scope in words ("ClusterQueue team-a-cq").
func (s Scope) String() string {
	switch {
	case s.ClusterQueue != "":
		return "ClusterQueue " + s.ClusterQueue
	case s.LocalQueue.Name != "":
		return "LocalQueue " + s.LocalQueue.String()
	case s.Namespace != "":
		return "Namespace " + s.Namespace
	}
	return "all Workloads"
}

// has reports whether a Workload belongs to the scope. clusterQueue is the one
// it is admitted to, or empty; then its LocalQueue decides, for which queueOf
// returns the ClusterQueue.
func (s Scope) has(queueOf func(world.Key) string, namespace, localQueue, clusterQueue string) bool {
	switch {
	case s.ClusterQueue != "":
		if clusterQueue == "" {
			clusterQueue = queueOf(world.Key{Namespace: namespace, Name: localQueue})
		}
		return clusterQueue == s.ClusterQueue
	case s.LocalQueue.Name != "":
		return s.LocalQueue == world.Key{Namespace: namespace, Name: localQueue}
	case s.Namespace != "":
		return s.Namespace == namespace
	}
	return true
}

// namespace is the namespace that the list can be limited to; empty: all.
func (s Scope) namespace() string {
	if s.LocalQueue.Name != "" {
		return s.LocalQueue.Namespace
	}
	return s.Namespace
}

// fileWord keeps what is safe in a file name, so that no name from a cluster or
// a kubeconfig chooses a folder.
func fileWord(s string) string {
	out := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return '-'
	}, s)
	if len(out) > 60 {
		out = out[:60]
	}
	return strings.Trim(out, "-.")
}
