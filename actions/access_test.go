package actions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// reviewed has the server answer access reviews by the rule, and returns what it was
// asked.
func reviewed(t *testing.T, s *apiServer, allowed func(*authv1.ResourceAttributes) bool) *[]string {
	t.Helper()
	var asked []string
	inner := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews") {
			inner.ServeHTTP(w, r)
			return
		}
		raw, _ := io.ReadAll(r.Body)
		review, _, err := scheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
		if err != nil {
			t.Error(err)
			return
		}
		a := review.(*authv1.SelfSubjectAccessReview).Spec.ResourceAttributes
		asked = append(asked, fmt.Sprintf("%s %s.%s %s/%s", a.Verb, a.Resource, a.Group, a.Namespace, a.Name))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "status": map[string]any{"allowed": allowed(a)}})
	})
	return &asked
}

// What the server said of the right to edit an object is told apart from what nobody
// asked it.
func TestRightsOnConfiguration(t *testing.T) {
	s := newAPIServer(t)
	reviewed(t, s, func(a *authv1.ResourceAttributes) bool {
		return a.Resource == "workloadpriorityclasses" || a.Resource == "resourceflavors" && a.Name == "mine"
	})
	named := func(name string) world.Meta { return world.Meta{Key: world.Key{Name: name}} }
	d := deskOn(t, s, func(st *store.Store) {
		st.Put(&world.Flavor{Meta: named("mine")})
		st.Put(&world.Flavor{Meta: named("theirs")})
		st.Put(&world.PriorityClass{Meta: named("gold")})
	})
	type right struct {
		May, Granted bool
		Why          string
	}
	ask := func(k world.Kind, name string) right {
		ref := world.Ref{Kind: k, Key: world.Key{Name: name}}
		ok, why := d.May(ref, Edit)
		return right{ok, d.Granted(ref), why}
	}
	if got := ask(world.KindResourceFlavor, "mine"); got != (right{May: true}) {
		t.Errorf("before the server was asked: %+v", got)
	}
	d.LoadAccess(t.Context())
	for _, tc := range []struct {
		kind world.Kind
		name string
		want right
	}{
		{world.KindResourceFlavor, "mine", right{May: true, Granted: true}},
		{world.KindResourceFlavor, "theirs", right{Why: "your account may not patch ResourceFlavor theirs; ask a platform admin"}},
		{world.KindResourceFlavor, "made since", right{May: true}},
		{world.KindWorkloadPriorityClass, "gold", right{May: true, Granted: true}},
		{world.KindCohort, "c", right{May: true}},
		{world.KindAdmissionCheck, "c", right{Why: "a AdmissionCheck is not edited here"}},
	} {
		if diff := cmp.Diff(tc.want, ask(tc.kind, tc.name)); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tc.kind, tc.name, diff)
		}
	}
}

// The nodes of a ResourceFlavor are those that have its labels; none are asked for
// where it names no label.
func TestDetailNodes(t *testing.T) {
	ref := world.Ref{Kind: world.KindResourceFlavor, Key: world.Key{Name: "a100"}}
	node := world.Node{Meta: world.Meta{Key: world.Key{Name: "n1"}}}
	for name, tc := range map[string]struct {
		labels map[string]any
		fails  error
		nodes  []world.Node
		why    string
	}{
		"labels":    {labels: map[string]any{"gpu": "a100"}, nodes: []world.Node{node}},
		"no labels": {},
		"refused":   {labels: map[string]any{"gpu": "a100"}, fails: errors.New("no right"), why: "cannot read the nodes of ResourceFlavor/a100: no right"},
	} {
		s := newAPIServer(t)
		spec := map[string]any{}
		if tc.labels != nil {
			spec["nodeLabels"] = tc.labels
		}
		s.put("resourceflavors/a100", "ResourceFlavor", map[string]any{}, spec)
		d := desk(t, s, func(o *Options) {
			o.NodesWith = func(_ context.Context, labels map[string]string) ([]world.Node, error) {
				if labels["gpu"] != "a100" {
					t.Errorf("%s: asked for %v", name, labels)
				}
				return tc.nodes, tc.fails
			}
		})
		got, err := d.Detail(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.nodes, got.Nodes); diff != "" || got.NodesUnknown != tc.why {
			t.Errorf("%s: %q, want %q (-want +got):\n%s", name, got.NodesUnknown, tc.why, diff)
		}
	}
	st := store.New(ours{})
	st.Put(&world.Flavor{Meta: world.Meta{Key: ref.Key}, NodeLabels: map[string]string{"gpu": "a100"}})
	with := node
	with.Labels = map[string]string{"gpu": "a100", "zone": "x"}
	file := &Offline{Name: "f", Snapshot: st.Snapshot(), Nodes: []world.Node{node, with}, HasNodes: true}
	got, err := file.Detail(t.Context(), ref)
	if diff := cmp.Diff([]world.Node{with}, got.Nodes); diff != "" || err != nil || got.NodesUnknown != "" {
		t.Errorf("from a file: %v %q (-want +got):\n%s", err, got.NodesUnknown, diff)
	}
	file.Nodes, file.HasNodes = nil, false
	if got, err := file.Detail(t.Context(), ref); err != nil || got.NodesUnknown != "the file holds no nodes" {
		t.Errorf("from a file without nodes: %v %q", err, got.NodesUnknown)
	}
}
