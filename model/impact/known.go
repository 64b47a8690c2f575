package impact

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// The kinds without which nothing can be foretold: who is there decides who fits.
// What is taken for granted where others cannot be read, package pack says.
var needed = []world.Kind{
	world.KindWorkload, world.KindClusterQueue, world.KindLocalQueue, world.KindCohort,
}

// readable reports whether the rows of the kind are all there is.
func readable(s *store.Snapshot, k world.Kind) bool {
	f := s.Fresh(k)
	if k == world.KindCohort && f.Feed == world.Absent {
		return true // a cluster that does not serve Cohorts has none
	}
	return f.Usable() && f.Feed != world.Denied
}

// unreadable says why no preview is possible with what is read, and who could ask;
// nil where it is.
func unreadable(s *store.Snapshot) error {
	if part := s.Contract.Part; part != "" {
		return fmt.Errorf("others' Workloads were not exported (only those of %s), and they decide who fits: export everything, or ask the cluster", part)
	}
	if ns := s.Contract.Namespace; ns != "" {
		return fmt.Errorf("other tenants' Workloads cannot be read (only namespace %s is), and they decide who fits: ask somebody who may list Workloads in all namespaces", ns)
	}
	for _, k := range needed {
		if err := missing(s, k); err != nil {
			return err
		}
	}
	return nil
}

// missing says that the rows of the kind are not all there is; nil where they are.
func missing(s *store.Snapshot, k world.Kind) error {
	if readable(s, k) {
		return nil
	}
	f := s.Fresh(k)
	switch f.Feed {
	case world.Syncing:
		return fmt.Errorf("%s are still being read: ask again in a moment", plural(k))
	case world.Denied:
		return fmt.Errorf("%s may not be read%s: ask somebody who may list them in the whole cluster", plural(k), detail(f))
	}
	return fmt.Errorf("%s are not known (%s%s)", plural(k), f.Feed, detail(f))
}

func detail(f world.Freshness) string {
	if f.Detail == "" {
		return ""
	}
	return ": " + strings.TrimSuffix(f.Detail, ".")
}

func plural(k world.Kind) string {
	if strings.HasSuffix(string(k), "Class") {
		return string(k) + "es"
	}
	return string(k) + "s"
}

// doubts are sentences on what may be old or incomplete of what a preview reads.
func doubts(s *store.Snapshot) []string {
	var out []string
	for _, k := range append(slices.Clone(needed), world.KindResourceFlavor, world.KindAdmissionCheck, world.KindNamespace) {
		f := s.Fresh(k)
		if f.Feed == world.Live || !readable(s, k) || f.Feed == world.Absent {
			continue
		}
		heard := ""
		if !f.Heard.IsZero() {
			heard = ", last heard of at " + f.Heard.UTC().Format(time.TimeOnly) + " UTC"
		}
		out = append(out, fmt.Sprintf("%s are perhaps old, or not all there are (%s%s%s)", plural(k), f.Feed, detail(f), heard))
	}
	return out
}
