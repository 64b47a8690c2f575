package check

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"cli.holdfast.dev/holdfast/model/chain"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

var (
	now = time.Date(2026, 12, 2, 14, 0, 0, 0, time.UTC)
	cpu = world.FlavorResource{Flavor: "std", Resource: "cpu"}
)

func named(ns, name string) world.Meta {
	return world.Meta{Key: world.Key{Namespace: ns, Name: name}, UID: types.UID(ns + "/" + name), Created: now.Add(-time.Hour), Generation: 2}
}

// scene is a ClusterQueue q with 10 cpu in a cohort that has 10 more of its own,
// for namespaces with team=yes, and a LocalQueue in each of two namespaces, of
// which only one is selected.
type scene struct {
	queue *world.ClusterQueue
	rows  []any
	in    Input
	blind world.Kind
}

func newScene() *scene {
	sel, _ := labels.Parse("team=yes")
	return &scene{queue: &world.ClusterQueue{
		Meta: named("", "q"), Cohort: "co", StopPolicy: world.StopNone, Namespaces: sel,
		Groups: []world.ResourceGroup{{Resources: []string{"cpu"}, Flavors: []string{"std"}}},
		Quotas: []world.Quota{{FlavorResource: cpu, Nominal: 10_000}},
	}}
}

func (s *scene) run(t *testing.T) map[Name]Rule {
	t.Helper()
	st := store.New(clocktesting.NewFakePassiveClock(now))
	for _, k := range append(world.WatchedKinds(), world.SideKinds()...) {
		st.SetFreshness(k, world.Freshness{Feed: world.Live, Synced: true})
	}
	if s.blind != "" {
		st.SetFreshness(s.blind, world.Freshness{Feed: world.Denied})
	}
	rows := append([]any{
		s.queue, &world.Cohort{Meta: named("", "co"), Quotas: []world.Quota{{FlavorResource: cpu, Nominal: 10_000}}}, &world.Flavor{Meta: named("", "std")},
		&world.Namespace{Meta: named("", "team"), Labels: map[string]string{"team": "yes"}}, &world.Namespace{Meta: named("", "guest")},
		&world.LocalQueue{Meta: named("team", "lq"), ClusterQueue: "q"}, &world.LocalQueue{Meta: named("guest", "lq"), ClusterQueue: "q"},
	}, s.rows...)
	for _, r := range rows {
		st.Put(r)
	}
	s.in.Snapshot, s.in.Now = st.Snapshot(), now
	out := map[Name]Rule{}
	for _, r := range Run(s.in) {
		out[r.Name] = r
	}
	return out
}

func running(ns, name string, milli world.Amount) *world.Workload {
	return &world.Workload{
		Meta: named(ns, name), LocalQueue: "lq", ClusterQueue: "q", Active: true, State: world.Admitted, Usage: []world.Use{{FlavorResource: cpu, Amount: milli}},
		Conditions: world.Conditions{{Type: world.CondQuotaReserved, Status: "True", At: now.Add(-time.Hour)}, {Type: world.CondAdmitted, Status: "True", At: now.Add(-time.Hour)}},
	}
}

func waiting(ns, name string, milli world.Amount) *world.Workload {
	return &world.Workload{
		Meta: named(ns, name), LocalQueue: "lq", Active: true, State: world.Pending,
		PodSets:    []world.PodSet{{Name: "main", Count: 1, Exact: true, Requests: []world.Request{{Resource: "cpu", Amount: milli}}}},
		Conditions: world.Conditions{{Type: world.CondQuotaReserved, Status: "False", Reason: "Pending", Message: "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor std, 1 more needed", At: now.Add(-time.Hour)}},
	}
}

func yes() *bool { b := true; return &b }
func no() *bool  { return new(bool) }

func limit(s *scene, milli world.Amount, generation int64) {
	s.queue.Quotas[0].BorrowingLimit, s.queue.Generation = &milli, generation
}

func link(holds *bool) []chain.Chain {
	return []chain.Chain{{Links: []chain.Step{{Victim: world.Key{Namespace: "team", Name: "v"}, Reason: "InClusterQueue", PolicyHolds: holds}}}}
}

func TestRules(t *testing.T) {
	tests := map[string]struct {
		rule  Name
		build func(*scene)
		want  Result
	}{
		"nominal: nothing runs":                 {Nominal, func(*scene) {}, NotExercised},
		"nominal: admitted within":              {Nominal, func(s *scene) { s.rows = []any{running("team", "a", 10_000)} }, Pass},
		"nominal: admitted by borrowing only":   {Nominal, func(s *scene) { s.rows = []any{running("team", "a", 12_000)} }, NotExercised},
		"nominal: fits and waits":               {Nominal, func(s *scene) { s.rows = []any{running("team", "a", 4_000), waiting("team", "b", 6_000)} }, Fail},
		"nominal: waits for more than is left":  {Nominal, func(s *scene) { s.rows = []any{running("team", "a", 4_000), waiting("team", "b", 7_000)} }, Pass},
		"nominal: just came":                    {Nominal, func(s *scene) { w := waiting("team", "b", 1_000); w.Created = now; s.rows = []any{w} }, Unknown},
		"nominal: Workloads unreadable":         {Nominal, func(s *scene) { s.blind = world.KindWorkload }, Unknown},
		"nominal: held is not about quota":      {Nominal, func(s *scene) { s.queue.StopPolicy = world.StopHold; s.rows = []any{waiting("team", "b", 1_000)} }, NotExercised},
		"borrowCap: no limit":                   {BorrowCap, func(s *scene) { s.rows = []any{running("team", "a", 12_000)} }, NotExercised},
		"borrowCap: within":                     {BorrowCap, func(s *scene) { limit(s, 2_000, 3); s.rows = []any{running("team", "a", 12_000)} }, Pass},
		"borrowCap: beyond, spec never changed": {BorrowCap, func(s *scene) { limit(s, 1_000, 1); s.rows = []any{running("team", "a", 12_000)} }, Fail},
		"borrowCap: beyond, may be debt":        {BorrowCap, func(s *scene) { limit(s, 1_000, 2); s.rows = []any{running("team", "a", 12_000)} }, Unknown},
		"overLimit: nobody asks for so much":    {OverLimit, func(s *scene) { s.rows = []any{waiting("team", "b", 20_000)} }, NotExercised},
		"overLimit: waits":                      {OverLimit, func(s *scene) { s.rows = []any{waiting("team", "b", 21_000)} }, Pass},
		"preemption: none":                      {Preemption, func(*scene) {}, NotExercised},
		"preemption: allowed":                   {Preemption, func(s *scene) { s.in.Chains = link(yes()) }, Pass},
		"preemption: not allowed":               {Preemption, func(s *scene) { s.in.Chains = append(link(yes()), link(no())...) }, Fail},
		"preemption: cannot be told":            {Preemption, func(s *scene) { s.in.Chains = append(link(yes()), link(nil)...) }, Unknown},
		"selector: nobody outside":              {Selector, func(s *scene) { s.rows = []any{running("team", "a", 1_000)} }, NotExercised},
		"selector: waits without pods":          {Selector, func(s *scene) { s.in.HasPods = true; s.rows = []any{waiting("guest", "b", 1_000)} }, Pass},
		"selector: pods were not read":          {Selector, func(s *scene) { s.rows = []any{waiting("guest", "b", 1_000)} }, Unknown},
		"selector: waits and has pods": {Selector, func(s *scene) {
			s.in.HasPods, s.in.Pods = true, []world.Pod{{Meta: named("guest", "p"), Workload: "b"}}
			s.rows = []any{waiting("guest", "b", 1_000)}
		}, Fail},
		"selector: admitted":               {Selector, func(s *scene) { s.rows = []any{running("guest", "a", 1_000)} }, Fail},
		"selector: namespaces unreadable":  {Selector, func(s *scene) { s.blind = world.KindNamespace; s.rows = []any{waiting("guest", "b", 1_000)} }, Unknown},
		"tenantWrites: nobody asked about": {TenantWrites, func(*scene) {}, NotExercised},
		"tenantWrites: may not":            {TenantWrites, func(s *scene) { s.in.Access = []Access{{Subject: "User/jane", Right: "patch cohorts", Allowed: no()}} }, Pass},
		"tenantWrites: may": {TenantWrites, func(s *scene) {
			s.in.Access = []Access{{Allowed: no()}, {Subject: "User/jane", Right: "patch namespaces team", Allowed: yes()}}
		}, Fail},
		"tenantWrites: no right to ask is no no": {TenantWrites, func(s *scene) { s.in.Access = []Access{{Allowed: no()}, {Subject: "User/jane", Why: "forbidden"}} }, Unknown},
		"classes: no list":                       {Classes, func(s *scene) { w := running("team", "a", 1); w.PriorityClass = "gold"; s.rows = []any{w} }, NotExercised},
		"classes: on the list": {Classes, func(s *scene) {
			w := running("team", "a", 1)
			w.PriorityClass = "gold"
			s.rows = []any{w}
			s.in.Allowed = map[string][]string{"team": {"gold"}}
		}, Pass},
		"classes: not on it": {Classes, func(s *scene) {
			w := running("team", "a", 1)
			w.PriorityClass = "rush"
			s.rows = []any{w}
			s.in.Allowed = map[string][]string{"team": {"gold"}}
		}, Fail},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			tc.build(s)
			got := s.run(t)[tc.rule]
			if got.Result != tc.want {
				t.Errorf("%s, want %s: %+v", got.Result, tc.want, got.Evidence)
			}
			if (len(got.Evidence) == 0) != (tc.want == NotExercised) {
				t.Errorf("%s with evidence %+v", got.Result, got.Evidence)
			}
		})
	}
}

func TestRequired(t *testing.T) {
	tests := map[string]struct {
		result   Result
		required bool
		want     bool
	}{
		"pass":                   {Pass, true, false},
		"fail":                   {Fail, false, true},
		"not exercised":          {NotExercised, false, false},
		"not exercised required": {NotExercised, true, true},
		"unknown":                {Unknown, false, false},
		"unknown required":       {Unknown, true, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var required []Name
			if tc.required {
				required = []Name{Nominal}
			}
			rules := []Rule{{Name: Nominal, Result: tc.result}, {Name: Classes, Result: NotExercised}}
			if got := Failed(rules, required); got != tc.want {
				t.Errorf("failed %v, want %v", got, tc.want)
			}
			var b bytes.Buffer
			if err := WriteJUnit(&b, rules, required); err != nil {
				t.Fatal(err)
			}
			var s junitSuite
			if err := xml.Unmarshal(b.Bytes(), &s); err != nil {
				t.Fatal(err)
			}
			if (s.Failures > 0) != tc.want || s.Tests != 2 {
				t.Errorf("the suite has %d failures of %d:\n%s", s.Failures, s.Tests, b.String())
			}
		})
	}
}

func TestEvidenceIsBounded(t *testing.T) {
	var v verdict
	for range mostEvidence + 7 {
		v.fail("Workload/a/b", "x")
	}
	r := v.rule(Nominal)
	if len(r.Evidence) != mostEvidence || r.More != 7 {
		t.Errorf("%d pieces and %d more", len(r.Evidence), r.More)
	}
	var b strings.Builder
	if err := WriteText(&b, []Rule{r}); err != nil || !strings.Contains(b.String(), "and 52 more") {
		t.Errorf("%v\n%s", err, b.String())
	}
}
