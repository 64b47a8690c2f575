package live

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	visibility "sigs.k8s.io/kueue/apis/visibility/v1beta2"

	"cli.holdfast.dev/holdfast/model/world"
)

func pendingOf(ns, name, queue string, cq, lq int32) visibility.PendingWorkload {
	p := visibility.PendingWorkload{PositionInClusterQueue: cq, PositionInLocalQueue: lq}
	p.Namespace, p.Name = ns, name
	p.LocalQueueName = "main"
	if queue != "" {
		p.LocalQueueName = "other"
	}
	return p
}

func place(ns, name, queue string, cq, lq int) Position {
	return Position{Key: world.Key{Namespace: ns, Name: name}, LocalQueue: queue, ClusterQueue: cq, Local: lq}
}

func TestPositions(t *testing.T) {
	tests := map[string]struct {
		items     []visibility.PendingWorkload
		namespace string
		want      []Position
	}{
		"none": {nil, "", []Position{}},
		// Kueue 0.17.0 counts LocalQueues of one name in two namespaces as one.
		"two queues of one name": {
			[]visibility.PendingWorkload{pendingOf("a", "x", "", 0, 0), pendingOf("b", "y", "", 1, 1), pendingOf("a", "z", "", 2, 2), pendingOf("a", "o", "o", 3, 0)}, "",
			[]Position{place("a", "x", "main", 1, 1), place("b", "y", "main", 2, 1), place("a", "z", "main", 3, 2), place("a", "o", "other", 4, 1)},
		},
		// and mixes them in the answer about one of them.
		"about one of them": {
			[]visibility.PendingWorkload{pendingOf("b", "y", "", 0, 0), pendingOf("a", "x", "", 1, 1), pendingOf("b", "v", "", 4, 2), pendingOf("a", "z", "", 7, 3)}, "a",
			[]Position{place("a", "x", "main", 2, 1), place("a", "z", "main", 8, 2)},
		},
		"nonsense and hostile names": {
			[]visibility.PendingWorkload{pendingOf("a", "x", "", -1, 0), pendingOf("a", "\x1b[2J", "", 0, 0)}, "",
			[]Position{place("a", `\x1b[2J`, "main", 1, 1)},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, positions(tc.items, tc.namespace)); d != "" {
				t.Errorf("positions (-want +got):\n%s", d)
			}
		})
	}
}

func TestWhyPositionsAreEstimated(t *testing.T) {
	cq, lq := "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/q/pendingworkloads", "/apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/ns/localqueues/q/pendingworkloads"
	missing := failure(404, "NotFound", `localqueue.visibility.kueue.x-k8s.io "q" not found`)
	tests := map[string]struct {
		path   string
		answer http.HandlerFunc
		want   string // begins so
	}{
		"fine":                 {cq, says(200, `{"items":[]}`), ""},
		"403":                  {cq, failure(403, "Forbidden", "no"), "no access: get clusterqueues.visibility.kueue.x-k8s.io/pendingworkloads is not allowed (403)"},
		"403 of a LocalQueue":  {lq, failure(403, "Forbidden", "no"), "no access: get localqueues.visibility.kueue.x-k8s.io/pendingworkloads is not allowed (403)"},
		"404":                  {cq, missing, "Kueue does not know ClusterQueue q (404)"},
		"404 of a LocalQueue":  {lq, missing, "Kueue keeps no order of LocalQueue ns/q: it is held, or Kueue does not know it (404)"},
		"the API is not there": {"/else", missing, "this cluster does not serve the API group visibility.kueue.x-k8s.io"},
		"429":                  {cq, failure(429, "TooManyRequests", "busy"), "the server is busy (429)"},
		"500":                  {cq, failure(500, "InternalError", "Internal error occurred: nil\x1b"), `Kueue's Visibility API fails (500), before Kueue 0.18.6 and 0.19.2 as long as any pending Workload has no priority: Internal error occurred: nil\x1b`},
		"503": {cq, func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "service unavailable", http.StatusServiceUnavailable)
		}, "Kueue's Visibility API is not available (503); see whether Kueue's manager runs: "},
		"504":     {cq, failure(504, "Timeout", "slow"), "Kueue's Visibility API fails: slow"},
		"hanging": {cq, nil, "Kueue's Visibility API gave no answer in time"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			ctx := newDeadline(t)
			if tc.answer == nil {
				tc.answer = ctx.hang
			}
			r := reading(t, map[string]http.HandlerFunc{tc.path: tc.answer})
			var got []Position
			var why string
			if tc.path == lq {
				got, why = r.LocalPositions(ctx, world.Key{Namespace: "ns", Name: "q"}, 10)
			} else {
				got, why = r.Positions(ctx, "q", 10)
			}
			if (why == "") != (tc.want == "") || !strings.HasPrefix(why, tc.want) || why != "" && got != nil {
				t.Errorf("%v, why %q; want %q", got, why, tc.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, why := reading(t, nil).Positions(ctx, "q", 10); why != "the question was broken off" {
		t.Errorf("broken off: %q", why)
	}
	gone, err := NewReader(nowhere(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, why := gone.Positions(t.Context(), "q", 10); !strings.HasPrefix(why, "Kueue's Visibility API cannot be reached: ") {
		t.Errorf("no server: %q", why)
	}
}

// A real answer of Kueue, saved as it came.
func TestPositionsOfARealAnswer(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("testdata", "pendingworkloads.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s visibility.PendingWorkloadsSummary
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	got := positions(s.Items, "")
	if len(got) == 0 || len(got) != len(s.Items) {
		t.Fatalf("%d positions of %d", len(got), len(s.Items))
	}
	for i, p := range got {
		// Written by a Kueue that counts each LocalQueue for itself.
		want := place(s.Items[i].Namespace, s.Items[i].Name, string(s.Items[i].LocalQueueName), int(s.Items[i].PositionInClusterQueue)+1, int(s.Items[i].PositionInLocalQueue)+1)
		if p != want || p.ClusterQueue != i+1 {
			t.Errorf("%+v, want %+v", p, want)
		}
	}
}
