package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"cli.holdfast.dev/holdfast/model/text"
)

// whole calls check for every value in v, with its path.
func whole(v reflect.Value, path string, check func(path string, v reflect.Value)) {
	check(path, v)
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			whole(v.Elem(), path, check)
		}
	case reflect.Struct:
		if v.Type().String() == "time.Time" {
			return
		}
		for i := range v.NumField() {
			whole(v.Field(i), path+"."+v.Type().Field(i).Name, check)
		}
	case reflect.Slice:
		for i := range v.Len() {
			whole(v.Index(i), fmt.Sprintf("%s[%d]", path, i), check)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			whole(it.Key(), path+"{key}", check)
			whole(it.Value(), path+"{"+it.Key().String()+"}", check)
		}
	}
}

// nullable are the lists and maps that may be null.
func nullable(path string) bool {
	return strings.HasSuffix(path, ".Cycle") || strings.HasSuffix(path, ".NodeLabels")
}

// documents are the report of a random cluster and the explanations of some of its
// Workloads.
func documents(t *rapid.T) []any {
	in := random{t}.input()
	docs := []any{Build(in)}
	for _, w := range in.Snapshot.Workloads[:min(len(in.Snapshot.Workloads), 3)] {
		docs = append(docs, Explain(in, w))
	}
	return docs
}

func TestListsAreNeverNullAndTextIsClean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := documents(t)
		for _, doc := range docs {
			whole(reflect.ValueOf(doc), "$", func(path string, v reflect.Value) {
				switch v.Kind() {
				case reflect.Slice, reflect.Map:
					if v.IsNil() && !nullable(path) {
						t.Errorf("%s is null", path)
					}
				case reflect.String:
					if s := v.String(); text.Clean(s) != s {
						t.Errorf("%s is %q", path, s)
					}
				}
			})
		}
	})
}

func TestTextIsCleanAndIndented(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := documents(t)
		var b bytes.Buffer
		for _, doc := range docs {
			if err := doc.(interface{ Text(io.Writer) error }).Text(&b); err != nil {
				t.Fatal(err)
			}
		}
		if err := docs[0].(*Report).Glance(&b); err != nil {
			t.Fatal(err)
		}
		for l := range strings.Lines(b.String()) {
			l = strings.TrimSuffix(l, "\n")
			if text.Clean(l) != l || strings.TrimRight(l, " ") != l {
				t.Errorf("line %q", l)
			}
		}
	})
}

// by is the place in an order of strings, in which no byte of a name stands
// before the separator.
func by(parts ...string) string { return strings.Join(parts, "\x00") }

func isSorted[T any](t *rapid.T, what string, all []T, key func(*T) string) {
	if !slices.IsSortedFunc(all, func(a, b T) int { return strings.Compare(key(&a), key(&b)) }) {
		t.Errorf("%s are not sorted: %+v", what, all)
	}
}

func TestListsAreSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Build(random{t}.input())
		quota := func(q *Quota) string { return by(q.Flavor, q.Resource) }
		isSorted(t, "cohorts", r.Cohorts, func(c *Cohort) string { return c.Name })
		isSorted(t, "ClusterQueues", r.ClusterQueues, func(c *ClusterQueue) string { return c.Name })
		isSorted(t, "LocalQueues", r.LocalQueues, func(c *LocalQueue) string { return by(c.Namespace, c.Name) })
		isSorted(t, "flavors", r.Flavors, func(c *Flavor) string { return c.Name })
		isSorted(t, "checks", r.AdmissionChecks, func(c *AdmissionCheck) string { return c.Name })
		isSorted(t, "classes", r.PriorityClasses, func(c *PriorityClass) string { return by(c.Kind, c.Name) })
		isSorted(t, "Workloads", r.Workloads, func(c *Workload) string { return by(c.Namespace, c.Name) })
		isSorted(t, "chains", r.Chains, func(c *Chain) string { return strings.Replace(c.Links[0].Victim, "/", "\x00", 1) })
		isSorted(t, "borrowing", r.SLO.BorrowingRatio, func(b *Borrowing) string { return by(b.Flavor, b.Resource) })
		isSorted(t, "evictions", r.SLO.Evictions, func(e *Evictions) string { return e.Reason })
		for i := range r.Cohorts {
			isSorted(t, "quota", r.Cohorts[i].Resources, quota)
		}
		for i := range r.ClusterQueues {
			isSorted(t, "quota", r.ClusterQueues[i].Resources, quota)
		}
		for i := range r.LocalQueues {
			isSorted(t, "use", r.LocalQueues[i].Resources, func(u *LocalUse) string { return by(u.Flavor, u.Resource) })
		}
		for i := range r.Workloads {
			isSorted(t, "evictions", r.Workloads[i].Evictions, func(e *Eviction) string { return by(e.Reason, e.UnderlyingCause) })
			isSorted(t, "checks", r.Workloads[i].Checks, func(c *Check) string { return c.Name })
		}
		for _, f := range r.Flavors {
			isSorted(t, "queues", f.UsedBy, func(s *string) string { return *s })
		}
	})
}

// What is null, though the world has a value for it, is said to be unknown.
func TestNullIsExplained(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Build(random{t}.input())
		said := func(what, unknown string, nulls ...bool) {
			if slices.Contains(nulls, true) && unknown == "" {
				t.Errorf("%s has a null that is not explained", what)
			}
		}
		quota := func(what string, qs []Quota) {
			for _, q := range qs {
				said(what+" "+q.Flavor, q.Unknown, q.Subtree == nil, q.Reserved == nil, q.Available == nil, q.Potential == nil, q.Uncovered == nil)
			}
		}
		for _, c := range r.Cohorts {
			said("Cohort "+c.Name, c.Unknown, c.Implicit == nil)
			quota("Cohort "+c.Name, c.Resources)
		}
		for _, q := range r.ClusterQueues {
			said(q.Name, q.Unknown, q.Active == nil, q.Evicting == nil)
			quota(q.Name, q.Resources)
			if q.Hold != nil {
				said("hold", q.Hold.Unknown, q.Hold.By == nil, q.Hold.Reason == nil, q.Hold.Previous == nil)
			}
		}
		for _, q := range r.LocalQueues {
			said(q.Name, q.Unknown, q.Active == nil, q.SelectorMatches == nil)
		}
		for _, f := range r.Flavors {
			said(f.Name, f.Unknown, f.Exists == nil, f.Nodes == nil && ptr.Deref(f.Exists, true))
		}
		for _, c := range r.AdmissionChecks {
			said(c.Name, c.Unknown, c.Exists == nil, c.Active == nil)
		}
		for _, c := range r.PriorityClasses {
			said(c.Name, c.Unknown, c.Exists == nil)
		}
		for _, w := range r.Workloads {
			pending := w.State == "pending"
			said(w.Name, w.Unknown, w.ClusterQueue == nil, pending && w.Position == nil, pending && w.NeverFits == nil, pending && w.WaitSeconds == nil)
			for _, c := range w.Checks {
				said(c.Name, c.Unknown, c.ControllerActive == nil)
			}
			if p := w.Preemption; p != nil {
				said("preemption of "+w.Name, p.Unknown, p.Preemptor == nil)
			}
		}
		for _, c := range r.Chains {
			for _, l := range c.Links {
				said("link of "+l.Victim, l.Unknown, l.Preemptor == nil, l.PolicyHolds == nil)
			}
		}
		said("slo", r.SLO.Unknown, r.SLO.PendingCount == nil)
	})
}

// The writers give what the libraries' own encoders give, and it reads back.
func TestWritersAgreeWithTheEncoders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := documents(t)
		for _, doc := range docs {
			var got, want bytes.Buffer
			if err := WriteJSON(&got, doc); err != nil {
				t.Fatal(err)
			}
			e := json.NewEncoder(&want)
			e.SetEscapeHTML(false)
			if err := e.Encode(doc); err != nil {
				t.Fatal(err)
			}
			var compact bytes.Buffer // the lines are ours, the rest is the encoder's
			if err := json.Compact(&compact, got.Bytes()); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(strings.TrimSpace(want.String()), compact.String()); d != "" {
				t.Fatalf("JSON (-encoder +writer):\n%s", d)
			}
			back := reflect.New(reflect.TypeOf(doc).Elem()).Interface()
			d := json.NewDecoder(&got)
			d.DisallowUnknownFields()
			if err := d.Decode(back); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(doc, back); d != "" {
				t.Fatalf("read back (-was +is):\n%s", d)
			}
			var y bytes.Buffer
			if err := WriteYAML(&y, doc); err != nil {
				t.Fatal(err)
			}
			again := reflect.New(reflect.TypeOf(doc).Elem()).Interface()
			if err := yaml.UnmarshalStrict(y.Bytes(), again); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(doc, again); d != "" {
				t.Fatalf("YAML read back (-was +is):\n%s", d)
			}
		}
	})
}

func TestTwiceIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := random{t}.input()
		if d := cmp.Diff(Build(in), Build(in)); d != "" {
			t.Errorf("(-first +second):\n%s", d)
		}
	})
}
