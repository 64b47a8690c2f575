package actions

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"cli.holdfast.dev/holdfast/model/bundle"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// PlanExport plans to write the scope's Workloads, and what explains them, into a
// new private bundle.
func (d *Desk) PlanExport(_ context.Context, scope Scope) (Plan, error) {
	s := d.opts.World()
	if err := exists(scope, s); err != nil {
		return Plan{}, err
	}
	p := d.plan(Export)
	dir, err := filepath.Abs(d.opts.ExportDir)
	if err != nil {
		return Plan{}, err
	}
	name := fmt.Sprintf("holdfast-%s-%s-%s.tar.gz", fileWord(d.opts.Context), fileWord(scope.String()), d.opts.Clock.Now().UTC().Format("20060102T150405Z"))
	p.Export = &ExportPlan{Scope: scope, Path: filepath.Join(dir, name)}
	queues := Queues(s, scope)
	for _, w := range s.Workloads {
		if scope.Has(queues, w.Namespace, w.LocalQueue, w.ClusterQueue) {
			p.Export.Count++
		}
	}
	if why := Incomplete(s, world.Ref{Kind: world.KindClusterQueue}); why != "" {
		p.Incomplete = why + " The export asks the server itself and holds what it answers."
	}
	p.Notes = append(p.Notes, redactionNote, "With them go all queues, cohorts, flavors, checks, classes and namespaces, the Workloads' events and the report.", "An existing file is never replaced; the file is read back and verified before it is called done.")
	p.Confirm = Confirm{ConfirmYes, "y"}
	return p, nil
}

// Queues answers for a scope what the snapshot says of queues. It does not block.
func Queues(s *store.Snapshot, scope Scope) bundle.Queues {
	below := map[string]bool{}
	if scope.Cohort != "" {
		for _, q := range QueuesBelow(s, scope.Cohort) {
			below[q.Name] = true
		}
	}
	return bundle.Queues{
		Of: func(k world.Key) string {
			if lq := s.LocalQueue(k); lq != nil {
				return lq.ClusterQueue
			}
			return ""
		},
		Below: func(q string) bool { return below[q] },
	}
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
func exists(s Scope, snap *store.Snapshot) error {
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
