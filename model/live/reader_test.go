package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/pods"
	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/world"
)

// reading returns a Reader of a server whose handlers go by path.
func reading(t *testing.T, routes map[string]http.HandlerFunc) *Reader {
	t.Helper()
	mux := http.NewServeMux()
	for path, h := range routes {
		mux.HandleFunc("GET "+path, h)
	}
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	r, err := NewReader(kube.Reader(&rest.Config{Host: srv.URL}, "test"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func says(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// failure is an answer as the API server gives it.
func failure(code int, reason, message string) http.HandlerFunc {
	m, _ := json.Marshal(message) // of a string it cannot fail
	return says(code, fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"message":%s,"code":%d}`, reason, m, code))
}

// deadline is a context that runs out when hang is asked.
type deadline struct {
	context.Context
	once sync.Once
	done chan struct{}
}

func newDeadline(t *testing.T) *deadline {
	return &deadline{Context: t.Context(), done: make(chan struct{})}
}

// Done implements context.Context.
func (d *deadline) Done() <-chan struct{} { return d.done }

// Err implements context.Context.
func (d *deadline) Err() error {
	select {
	case <-d.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// hang is a handler that never answers.
func (d *deadline) hang(_ http.ResponseWriter, r *http.Request) {
	d.once.Do(func() { close(d.done) })
	<-r.Context().Done()
}

// pagesOf answers list requests with n items, each of which item makes, in pages
// of the size that is asked for. When expires is the place of a page's first item,
// the list expires there, once.
func pagesOf(t *testing.T, kind, apiVersion string, n, expires int, item func(i int) any, asked *[]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		*asked = append(*asked, fmt.Sprintf("%s limit=%s continue=%s", r.URL.Path, q.Get("limit"), q.Get("continue")))
		from, limit := 0, n
		_, _ = fmt.Sscan(q.Get("continue"), &from)
		if q.Get("limit") != "" {
			_, _ = fmt.Sscan(q.Get("limit"), &limit)
		}
		if from > 0 && from == expires {
			failure(410, "Expired", "the list is too old")(w, r)
			return
		}
		to, next := min(n, from+limit), ""
		if to < n {
			next = fmt.Sprint(to)
		}
		items := make([]any, 0, limit)
		for i := from; i < to; i++ {
			items = append(items, item(i))
		}
		body, err := json.Marshal(map[string]any{"kind": kind, "apiVersion": apiVersion, "metadata": map[string]any{"continue": next}, "items": items})
		if err != nil {
			t.Error(err)
		}
		says(200, string(body))(w, r)
	}
}

func aPod(i int) any {
	return map[string]any{"metadata": map[string]any{"name": fmt.Sprintf("p%04d", i), "namespace": "ns"}}
}

func TestPodsComeInPages(t *testing.T) {
	tests := map[string]struct {
		namespace string
		n         int
		expires   int
		asked     []string
	}{
		"none":       {"ns", 0, 0, []string{"/api/v1/namespaces/ns/pods limit=500 continue="}},
		"one page":   {"ns", 500, 0, []string{"/api/v1/namespaces/ns/pods limit=500 continue="}},
		"more pages": {"", 1001, 0, []string{"/api/v1/pods limit=500 continue=", "/api/v1/pods limit=500 continue=500", "/api/v1/pods limit=500 continue=1000"}},
		"the list expires on the way": {"", 1200, 1000, []string{
			"/api/v1/pods limit=500 continue=", "/api/v1/pods limit=500 continue=500", "/api/v1/pods limit=500 continue=1000", "/api/v1/pods limit= continue=",
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var asked []string
			h := pagesOf(t, "PodList", "v1", tc.n, tc.expires, aPod, &asked)
			got, err := reading(t, map[string]http.HandlerFunc{"/api/v1/pods": h, "/api/v1/namespaces/ns/pods": h}).Pods(t.Context(), tc.namespace)
			if err != nil {
				t.Fatal(err)
			}
			var names, want []string
			for i := range got {
				names = append(names, got[i].Name)
			}
			for i := range tc.n {
				want = append(want, fmt.Sprintf("p%04d", i))
			}
			if d := cmp.Diff(want, names); d != "" {
				t.Errorf("pods (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tc.asked, asked); d != "" {
				t.Errorf("requests (-want +got):\n%s", d)
			}
		})
	}
}

func TestNodes(t *testing.T) {
	r := reading(t, map[string]http.HandlerFunc{"/api/v1/nodes": says(200, `{"kind":"NodeList","apiVersion":"v1","items":[
		{"metadata":{"name":"n1","labels":{"gpu":"a100"}},"status":{"conditions":[{"type":"Ready","status":"True"}]}}]}`)})
	got, err := r.Nodes(t.Context())
	if d := cmp.Diff([]world.Node{{Meta: world.Meta{Key: world.Key{Name: "n1"}}, Labels: map[string]string{"gpu": "a100"}, Ready: true}}, got); d != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, d)
	}
}

// The server picks the nodes that have the labels.
func TestNodesWithLabels(t *testing.T) {
	asked := ""
	r := reading(t, map[string]http.HandlerFunc{"/api/v1/nodes": func(w http.ResponseWriter, q *http.Request) {
		asked = q.URL.Query().Get("labelSelector")
		says(200, `{"kind":"NodeList","apiVersion":"v1","items":[]}`)(w, q)
	}})
	if _, err := r.NodesWith(t.Context(), map[string]string{"gpu": "a100", "zone": "x"}); err != nil || asked != "gpu=a100,zone=x" {
		t.Errorf("asked for %q, error %v", asked, err)
	}
	if _, err := r.NodesWith(t.Context(), map[string]string{"gpu": "no such value!"}); err == nil {
		t.Error("labels that no node can have are asked for")
	}
}

func TestReadErrors(t *testing.T) {
	denied := world.Unreadable{Resource: "pods", Verb: "list", Namespace: "ns"}
	tests := map[string]struct {
		answer  http.HandlerFunc
		message string
		advice  string
		denied  bool
	}{
		"403":     {failure(403, "Forbidden", "said the server\x1b[2J"), `cannot list pods in namespace ns: said the server\x1b[2J`, "Ask for the right to list pods", true},
		"401":     {failure(401, "Unauthorized", "who are you"), "who are you", "log in again", false},
		"429":     {failure(429, "TooManyRequests", "busy"), "busy", "try again later", false},
		"500":     {failure(500, "InternalError", "etcd is gone"), "etcd is gone", "", false},
		"503":     {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "down", http.StatusServiceUnavailable) }, "currently unable to handle", "", false},
		"hanging": {nil, "deadline exceeded", "whether the server can be reached", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			ctx := newDeadline(t)
			if tc.answer == nil {
				tc.answer = ctx.hang
			}
			got, err := reading(t, map[string]http.HandlerFunc{"/api/v1/namespaces/ns/pods": tc.answer}).Pods(ctx, "ns")
			var failed *ReadError
			if got != nil || !errors.As(err, &failed) {
				t.Fatalf("%v, %v; want a ReadError", got, err)
			}
			if !strings.Contains(err.Error(), tc.message) || !strings.Contains(failed.Advice(), tc.advice) || (tc.advice == "") != (failed.Advice() == "") {
				t.Errorf("%q, advice %q; want %q and %q", err, failed.Advice(), tc.message, tc.advice)
			}
			if u, ok := failed.Denied(); ok != tc.denied || u != denied {
				t.Errorf("denied %v %v", u, ok)
			}
		})
	}
}

// narrow must never leave out a pod that package pods would tie to the Workload.
// Each pod has the labels that the job's own controller writes.
func TestNarrowLeavesNoPodOut(t *testing.T) {
	controller := true
	pod := func(name, owner, uid string, l map[string]string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("u-" + name), Labels: l}}
		if owner != "" {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: owner, Name: "x", UID: types.UID(uid), Controller: &controller}}
		}
		return p
	}
	tests := []struct {
		kind   string
		pod    *corev1.Pod
		narrow bool
	}{
		{"Job", pod("p", "Job", "u-job", map[string]string{"batch.kubernetes.io/controller-uid": "u-job", "controller-uid": "u-job"}), true},
		{"Pod", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "job", UID: "u-job"}}, true},
		{"JobSet", pod("p", "Job", "u-1", map[string]string{"jobset.sigs.k8s.io/jobset-name": "job", "jobset.sigs.k8s.io/jobset-uid": "u-job"}), true},
		{"JobSet", pod("p", "Job", "u-1", map[string]string{"jobset.sigs.k8s.io/jobset-name": "job"}), true},
		{"TrainJob", pod("p", "Job", "u-1", map[string]string{"jobset.sigs.k8s.io/jobset-name": "job", "jobset.sigs.k8s.io/jobset-uid": "u-set"}), true},
		{"MPIJob", pod("p", "MPIJob", "u-job", map[string]string{"training.kubeflow.org/job-name": "job", "training.kubeflow.org/operator-name": "mpi-operator"}), true},
		{"PyTorchJob", pod("p", "PyTorchJob", "u-job", map[string]string{"training.kubeflow.org/job-name": "job", "training.kubeflow.org/operator-name": "pytorchjob-controller"}), true},
		{"RayCluster", pod("p", "RayCluster", "u-job", map[string]string{"ray.io/cluster": "job"}), true},
		{"SparkApplication", pod("p", "", "", map[string]string{"sparkoperator.k8s.io/app-name": "job"}), true},
		{"AppWrapper", pod("p", "Job", "u-1", map[string]string{"workload.codeflare.dev/appwrapper": "job"}), true},
		{"StatefulSet", pod("p", "StatefulSet", "u-job", map[string]string{"kueue.x-k8s.io/pod-group-name": "wl"}), false},
		{"SomethingElse", pod("p", "SomethingElse", "u-job", nil), false},
	}
	for _, tc := range tests {
		t.Run(tc.kind, func(t *testing.T) {
			w := &world.Workload{Meta: world.Meta{Key: world.Key{Namespace: "ns", Name: "wl"}}, Owner: &world.Owner{Kind: tc.kind, Name: "job", UID: "u-job"}}
			if got := pods.Of(w, []world.Pod{project.Pod(tc.pod)}); len(got) != 1 {
				t.Fatal("package pods does not tie this pod: the test proves nothing")
			}
			o := narrow(w)
			s, err := labels.Parse(o.LabelSelector)
			if err != nil {
				t.Fatal(err)
			}
			if !s.Matches(labels.Set(tc.pod.Labels)) || o.FieldSelector != "" && o.FieldSelector != "metadata.name="+tc.pod.Name {
				t.Errorf("%+v leaves the pod out", o)
			}
			if (o.LabelSelector+o.FieldSelector != "") != tc.narrow {
				t.Errorf("%+v, want narrow %v", o, tc.narrow)
			}
		})
	}
	long := &world.Workload{Owner: &world.Owner{Kind: "JobSet", Name: strings.Repeat("x", 64), UID: "u"}}
	if o := narrow(long); o.LabelSelector != "" {
		t.Errorf("a name that is too long for a label is asked for: %q", o.LabelSelector)
	}
	if o := narrow(&world.Workload{}); o.LabelSelector+o.FieldSelector != "" {
		t.Errorf("a group of pods is narrowed to %+v", o)
	}
}

func TestPodsOf(t *testing.T) {
	r := reading(t, map[string]http.HandlerFunc{"/api/v1/namespaces/ns/pods": func(w http.ResponseWriter, r *http.Request) {
		if got := r.URL.Query().Get("labelSelector"); got != "batch.kubernetes.io/controller-uid=u-job" {
			t.Errorf("asked for %q", got)
		}
		says(200, `{"kind":"PodList","apiVersion":"v1","items":[
			{"metadata":{"name":"mine","namespace":"ns","labels":{"batch.kubernetes.io/controller-uid":"u-job"}}},
			{"metadata":{"name":"another's","namespace":"ns","labels":{"batch.kubernetes.io/controller-uid":"u-job"},"annotations":{"kueue.x-k8s.io/workload":"other"}}}]}`)(w, r)
	}})
	w := &world.Workload{Meta: world.Meta{Key: world.Key{Namespace: "ns", Name: "wl"}}, Owner: &world.Owner{Kind: "Job", Name: "job", UID: "u-job"}}
	got, err := r.PodsOf(t.Context(), w)
	if err != nil || len(got) != 1 || got[0].Name != "mine" {
		t.Errorf("%+v, %v; want the pod called mine", got, err)
	}
}

func TestEvents(t *testing.T) {
	const fresh, old = "/apis/events.k8s.io/v1/namespaces/ns/events", "/api/v1/namespaces/ns/events"
	at := time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)
	// One that a recorder of events.k8s.io wrote: through core/v1 its times are null.
	const fresh1 = `{"kind":"EventList","apiVersion":"events.k8s.io/v1","items":[
		{"metadata":{"name":"b","namespace":"ns","uid":"2"},"regarding":{"kind":"Workload","namespace":"ns","name":"w","uid":"u"},"reason":"Pending","note":"later","type":"Warning","eventTime":"2026-12-02T12:00:05.000000Z","deprecatedLastTimestamp":null},
		{"metadata":{"name":"a","namespace":"ns","uid":"1"},"regarding":{"kind":"Workload","namespace":"ns","name":"w","uid":"u"},"reason":"Pending","note":"sooner","type":"Normal","eventTime":"2026-12-02T12:00:00.000000Z"}]}`
	const old1 = `{"kind":"EventList","apiVersion":"v1","items":[
		{"metadata":{"name":"b","namespace":"ns","uid":"2"},"involvedObject":{"kind":"Workload","namespace":"ns","name":"w","uid":"u"},"reason":"Pending","message":"later","type":"Warning","eventTime":"2026-12-02T12:00:05.000000Z","firstTimestamp":null,"lastTimestamp":null},
		{"metadata":{"name":"a","namespace":"ns","uid":"1"},"involvedObject":{"kind":"Workload","namespace":"ns","name":"w","uid":"u"},"reason":"Pending","message":"sooner","type":"Normal","eventTime":"2026-12-02T12:00:00.000000Z","firstTimestamp":null,"lastTimestamp":null}]}`
	event := func(name, uid, typ, message string, at time.Time) world.Event {
		return world.Event{
			Key: world.Key{Namespace: "ns", Name: name}, UID: types.UID(uid), Kind: world.KindWorkload,
			Object: world.Key{Namespace: "ns", Name: "w"}, ObjectUID: "u", Type: typ, Reason: "Pending", Message: message, At: at,
		}
	}
	both := []world.Event{event("a", "1", "Normal", "sooner", at), event("b", "2", "Warning", "later", at.Add(5*time.Second))}
	selects := func(want string, h http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if got := r.URL.Query().Get("fieldSelector"); got != want {
				t.Errorf("%s asked for %q, want %q", r.URL.Path, got, want)
			}
			h(w, r)
		}
	}
	forbidden := failure(403, "Forbidden", "no")
	tests := map[string]struct {
		uid    types.UID
		routes map[string]http.HandlerFunc
		want   []world.Event
		denied string // resource
	}{
		"the new API":        {"u", map[string]http.HandlerFunc{fresh: selects("regarding.uid=u", says(200, fresh1)), old: selects("never", forbidden)}, both, ""},
		"of everything":      {"", map[string]http.HandlerFunc{fresh: selects("", says(200, fresh1))}, both, ""},
		"forbidden, the old": {"u", map[string]http.HandlerFunc{fresh: forbidden, old: selects("involvedObject.uid=u", says(200, old1))}, both, ""},
		"absent, the old":    {"u", map[string]http.HandlerFunc{old: selects("involvedObject.uid=u", says(200, old1))}, both, ""},
		"both forbidden":     {"u", map[string]http.HandlerFunc{fresh: forbidden, old: forbidden}, nil, "events"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := reading(t, tc.routes).Events(t.Context(), "ns", tc.uid)
			if d := cmp.Diff(EventList{Events: tc.want}, got); d != "" {
				t.Errorf("events (-want +got):\n%s", d)
			}
			var failed *ReadError
			if errors.As(err, &failed) != (tc.denied != "") {
				t.Fatalf("error %v", err)
			}
			if failed != nil && (failed.Resource != tc.denied || !apierrors.IsForbidden(err)) {
				t.Errorf("error %v of %s", err, failed.Resource)
			}
		})
	}
}

// Of Kueue's kinds and not of namesakes, in one order; the first refusal ends it with
// what came before.
func TestKueueEvents(t *testing.T) {
	kinds := map[string]string{
		"Workload": `{"metadata":{"name":"a"},"regarding":{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"Workload","name":"w"},"eventTime":"2026-12-02T12:00:09.000000Z"},
			{"metadata":{"name":"other"},"regarding":{"apiVersion":"example.com/v1","kind":"Workload","name":"w"},"eventTime":"2026-12-02T12:00:01.000000Z"}`,
		"ClusterQueue": `{"metadata":{"name":"b"},"regarding":{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","name":"q"},"eventTime":"2026-12-02T12:00:05.000000Z"}`,
		"LocalQueue":   `{"metadata":{"name":"c"},"regarding":{"kind":"LocalQueue","name":"q"},"eventTime":"2026-12-02T12:00:07.000000Z"}`,
		"Cohort":       "", "AdmissionCheck": "",
	}
	answer := func(refuse string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			kind, ok := strings.CutPrefix(r.URL.Query().Get("fieldSelector"), "regarding.kind=")
			items, known := kinds[kind]
			switch {
			case !ok || !known:
				t.Errorf("asked for %q", r.URL.Query().Get("fieldSelector"))
			case kind == refuse:
				failure(500, "InternalError", "gone")(w, r)
			default:
				says(200, `{"kind":"EventList","apiVersion":"events.k8s.io/v1","items":[`+items+`]}`)(w, r)
			}
		}
	}
	for refuse, want := range map[string][]string{"": {"b", "c", "a"}, "LocalQueue": {"a", "b"}} {
		got, err := reading(t, map[string]http.HandlerFunc{"/apis/events.k8s.io/v1/namespaces/ns/events": answer(refuse)}).KueueEvents(t.Context(), "ns")
		var names []string
		for _, e := range got.Events {
			names = append(names, e.Name)
		}
		if d := cmp.Diff(want, names); d != "" || (err != nil) != (refuse != "") {
			t.Errorf("%s refused: error %v (-want +got):\n%s", refuse, err, d)
		}
	}
}

func TestManyEventsAreCut(t *testing.T) {
	item := func(i int) any {
		return map[string]any{"metadata": map[string]any{"name": fmt.Sprintf("e%05d", i), "namespace": "ns", "uid": fmt.Sprint(i)}}
	}
	for _, tc := range []struct {
		n, events, requests int
		cut                 bool
	}{{4999, 4999, 10, false}, {5000, 5000, 10, false}, {5001, 5000, 10, true}, {100000, 5000, 10, true}} {
		var asked []string
		r := reading(t, map[string]http.HandlerFunc{"/apis/events.k8s.io/v1/events": pagesOf(t, "EventList", "events.k8s.io/v1", tc.n, 0, item, &asked)})
		got, err := r.Events(t.Context(), "", "")
		if err != nil || len(got.Events) != tc.events || got.Cut != tc.cut || len(asked) != tc.requests {
			t.Errorf("of %d: %d events, cut %v, %d requests, %v; want %+v", tc.n, len(got.Events), got.Cut, len(asked), err, tc)
		}
	}
}

// What came before a failure is not thrown away.
func TestEventsBeforeAFailureAreKept(t *testing.T) {
	var asked []string
	h := pagesOf(t, "EventList", "events.k8s.io/v1", 600, 0, func(i int) any { return map[string]any{"metadata": map[string]any{"name": fmt.Sprint(i)}} }, &asked)
	r := reading(t, map[string]http.HandlerFunc{"/apis/events.k8s.io/v1/events": func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("continue") != "" {
			failure(500, "InternalError", "gone")(w, r)
			return
		}
		h(w, r)
	}})
	got, err := r.Events(t.Context(), "", "")
	if len(got.Events) != 500 || err == nil || !slices.IsSortedFunc(got.Events, func(a, b world.Event) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("%d events, %v; want the first page and an error", len(got.Events), err)
	}
}
