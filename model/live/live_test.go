package live

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// server speaks just enough of the API server's list and watch to be broken in
// the ways that real ones break.
type server struct {
	*httptest.Server
	mu        sync.Mutex
	version   string
	watchList bool
	objects   map[string][]map[string]any // by resource
	fail      map[string]int              // by resource: the status of every answer
	watches   map[string][]chan map[string]any
	routes    map[string]http.HandlerFunc // by path, before everything else
}

func newServer(t *testing.T) *server {
	s := &server{version: "v1beta2", watchList: true, objects: map[string][]map[string]any{}, fail: map[string]int{}, watches: map[string][]chan map[string]any{}, routes: map[string]http.HandlerFunc{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	answer := func(code int, v any) {
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(v)
	}
	resource := path.Base(r.URL.Path)
	s.mu.Lock()
	code, version, route := s.fail[resource], s.version, s.routes[r.URL.Path]
	objects := append([]map[string]any(nil), s.objects[resource]...)
	s.mu.Unlock()
	switch {
	case route != nil:
		route(w, r)
	case code != 0:
		reason := map[int]string{403: "Forbidden", 404: "NotFound", 500: "InternalError", 401: "Unauthorized"}[code]
		answer(code, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": "said the server"})
	case r.URL.Path == "/version":
		answer(200, map[string]any{"gitVersion": "v1.36.3"})
	case r.URL.Path == "/apis/kueue.x-k8s.io":
		answer(200, map[string]any{"kind": "APIGroup", "apiVersion": "v1", "name": "kueue.x-k8s.io", "versions": []any{map[string]any{"groupVersion": "kueue.x-k8s.io/" + version, "version": version}}})
	case strings.Contains(r.URL.Path, "selfsubjectreviews"):
		answer(201, map[string]any{"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1", "status": map[string]any{"userInfo": map[string]any{"username": "kim"}}})
	case r.URL.Query().Get("watch") != "" && (s.watchList || r.URL.Query().Get("sendInitialEvents") == ""):
		s.watch(w, r, resource, objects)
	case r.URL.Query().Get("watch") != "":
		answer(422, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Invalid", "code": 422, "message": "sendInitialEvents is forbidden"})
	default:
		answer(200, map[string]any{"kind": s.kindOf(resource) + "List", "apiVersion": s.apiVersion(resource), "metadata": map[string]any{"resourceVersion": "10"}, "items": objects})
	}
}

func (s *server) kindOf(resource string) string {
	for _, k := range kinds() {
		if k.resource == resource {
			return string(k.kind)
		}
	}
	return "Unknown"
}

func (s *server) apiVersion(resource string) string {
	for _, k := range kinds() {
		switch {
		case k.resource != resource || k.group == kube.Group:
		case k.group == coreGroup:
			return "v1"
		default:
			return k.group + "/v1"
		}
	}
	return "kueue.x-k8s.io/" + s.version
}

func (s *server) watch(w http.ResponseWriter, r *http.Request, resource string, objects []map[string]any) {
	ch := make(chan map[string]any, 16)
	s.mu.Lock()
	s.watches[resource] = append(s.watches[resource], ch)
	s.mu.Unlock()
	send := func(e any) {
		_ = json.NewEncoder(w).Encode(e)
		w.(http.Flusher).Flush()
	}
	if r.URL.Query().Get("sendInitialEvents") != "" {
		for _, o := range objects {
			send(map[string]any{"type": "ADDED", "object": o})
		}
		send(map[string]any{"type": "BOOKMARK", "object": map[string]any{"kind": s.kindOf(resource), "apiVersion": s.apiVersion(resource), "metadata": map[string]any{"resourceVersion": "10", "annotations": map[string]any{"k8s.io/initial-events-end": "true"}}}})
	}
	w.(http.Flusher).Flush()
	for {
		select {
		case e, ok := <-ch:
			if !ok {
				return
			}
			send(e)
		case <-r.Context().Done():
			return
		}
	}
}

func (s *server) put(resource string, o map[string]any) {
	o["kind"], o["apiVersion"] = s.kindOf(resource), s.apiVersion(resource)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[resource] = append(s.objects[resource], o)
}

func (s *server) event(t *testing.T, typ, resource string, o map[string]any) {
	t.Helper()
	o["kind"], o["apiVersion"] = s.kindOf(resource), s.apiVersion(resource)
	eventually(t, "a watch of "+resource, func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.watches[resource]) > 0 })
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ch := range s.watches[resource] {
		select {
		case ch <- map[string]any{"type": typ, "object": o}:
		default: // a watch that has ended
		}
	}
}

func (s *server) cut(resource string, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail[resource] = code
	for _, ch := range s.watches[resource] {
		close(ch)
	}
	s.watches[resource] = nil
}

func start(t *testing.T, s *server) *Watcher { t.Helper(); return startAt(t, s, clock.RealClock{}) }

func startAt(t *testing.T, s *server, c clock.WithTicker) *Watcher {
	t.Helper()
	w := New(Options{Config: kube.Reader(&rest.Config{Host: s.URL}, "test"), Clock: c, ManagerNamespace: "ks", ManagerName: "km", Log: func(l string) { t.Log(l) }})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		s.CloseClientConnections()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("Run: %v", err)
			}
		case <-time.After(30 * time.Second):
			t.Error("Run does not end with its context")
		}
	})
	return w
}

func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(40 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if cond() {
			return
		}
	}
	t.Fatalf("not seen: %s", what)
}

func workload(name, queue, rv string) map[string]any {
	return map[string]any{"metadata": map[string]any{"name": name, "namespace": "ns", "uid": "u-" + name, "resourceVersion": rv}, "spec": map[string]any{"queueName": queue, "podSets": []any{map[string]any{"name": "main", "count": 1}}}}
}

func allLive(s *store.Snapshot) bool {
	for _, k := range append(world.WatchedKinds(), world.SideKinds()...) {
		if s.Fresh(k).Feed != world.Live {
			return false
		}
	}
	return true
}

func TestWatches(t *testing.T) {
	for _, mode := range []struct {
		version   string
		watchList bool
	}{{"v1beta2", true}, {"v1beta2", false}, {"v1beta1", true}} {
		t.Run(fmt.Sprintf("%s watchList=%v", mode.version, mode.watchList), func(t *testing.T) {
			s := newServer(t)
			s.version, s.watchList = mode.version, mode.watchList
			cohort := "cohortName"
			if mode.version == "v1beta1" {
				cohort = "cohort"
			}
			s.put("clusterqueues", map[string]any{"metadata": map[string]any{"name": "q", "uid": "u-q", "resourceVersion": "5"}, "spec": map[string]any{cohort: "co"}})
			s.put("workloads", workload("a", "lq", "6"))
			w := start(t, s)
			eventually(t, "everything is live", func() bool { return allLive(w.Snapshot()) })
			if q := w.Snapshot().ClusterQueue("q"); q == nil || q.Cohort != "co" {
				t.Errorf("ClusterQueue %+v, want one in cohort co", q)
			}
			if c := w.Snapshot().Contract; c.Used != mode.version {
				t.Errorf("version %q is used, want %s", c.Used, mode.version)
			}
			s.event(t, "ADDED", "workloads", workload("b", "lq", "11"))
			s.event(t, "MODIFIED", "workloads", workload("a", "other", "12"))
			eventually(t, "the change", func() bool {
				a := w.Snapshot().WorkloadByKey(world.Key{Namespace: "ns", Name: "a"})
				return a != nil && a.LocalQueue == "other" && len(w.Snapshot().Workloads) == 2
			})
			s.event(t, "DELETED", "workloads", workload("b", "lq", "13"))
			eventually(t, "the deletion", func() bool { return len(w.Snapshot().Workloads) == 1 })
			eventually(t, "who we are", func() bool {
				return w.Snapshot().Contract.User == "kim" && w.Snapshot().Contract.ServerVersion == "v1.36.3"
			})
		})
	}
}

func TestOneDeniedResourceHidesNoOther(t *testing.T) {
	s := newServer(t)
	s.put("workloads", workload("a", "lq", "6"))
	s.fail["clusterqueues"], s.fail["namespaces"], s.fail["cohorts"] = 403, 500, 404
	w := start(t, s)
	eventually(t, "the workloads", func() bool { return w.Snapshot().Fresh(world.KindWorkload).Feed == world.Live })
	for k, want := range map[world.Kind]world.Feed{world.KindClusterQueue: world.Denied, world.KindNamespace: world.Failing, world.KindCohort: world.Absent} {
		eventually(t, string(k)+" "+want.String(), func() bool { return w.Snapshot().Fresh(k).Feed == want })
		if f := w.Snapshot().Fresh(k); f.Usable() || !strings.Contains(f.Detail, "said the server") {
			t.Errorf("%s: usable %v, detail %q", k, f.Usable(), f.Detail)
		}
	}
}

func TestOldDataStaysWithTheReason(t *testing.T) {
	s := newServer(t)
	s.put("workloads", workload("a", "lq", "6"))
	w := start(t, s)
	eventually(t, "everything is live", func() bool { return allLive(w.Snapshot()) })
	s.cut("workloads", 403)
	eventually(t, "denied", func() bool { return w.Snapshot().Fresh(world.KindWorkload).Feed == world.Denied })
	if f := w.Snapshot().Fresh(world.KindWorkload); !f.Usable() || len(w.Snapshot().Workloads) != 1 || f.Heard.IsZero() {
		t.Errorf("%d workloads, %+v: what was known must stay, with its age", len(w.Snapshot().Workloads), f)
	}
}

// The server takes the watch away and answers nothing for a while: what is shown
// is then of before, and must not be called live.
func TestAWatchThatEndsIsNotLive(t *testing.T) {
	f := &feed{}
	begin := time.Date(2026, 12, 2, 0, 0, 0, 0, time.UTC)
	f.listed(begin, 1)
	old := f.opened()
	f.closed(old, begin.Add(time.Second))
	if got := f.freshness(begin.Add(2*time.Second), nil).Feed; got != world.Live {
		t.Errorf("a watch that is being renewed: %s", got)
	}
	if got := f.freshness(begin.Add(time.Minute), nil).Feed; got != world.Delayed {
		t.Errorf("a watch that stays away: %s", got)
	}
	f.opened()
	if got := f.freshness(begin.Add(time.Minute), nil).Feed; got != world.Live {
		t.Errorf("a watch that came back: %s", got)
	}
	f.closed(old, begin.Add(2*time.Second)) // the old one's end is noticed late
	if got := f.freshness(begin.Add(time.Minute), nil).Feed; got != world.Live {
		t.Errorf("after the late end of the watch before: %s", got)
	}
	f.begins()
	f.answered(begin.Add(time.Minute))
	if got := f.freshness(begin.Add(time.Minute), nil); got.Feed != world.Delayed || !got.Synced {
		t.Errorf("a list that is read anew: %+v", got)
	}
	f.listed(begin.Add(time.Minute), 1)
	if got := f.freshness(begin.Add(time.Minute), nil).Feed; got != world.Live {
		t.Errorf("after the list: %s", got)
	}
}

func TestExpiredCredentials(t *testing.T) {
	s := newServer(t)
	s.put("workloads", workload("a", "lq", "6"))
	w := start(t, s)
	eventually(t, "everything is live", func() bool { return allLive(w.Snapshot()) })
	s.cut("workloads", 401)
	eventually(t, "the words", func() bool {
		f := w.Snapshot().Fresh(world.KindWorkload)
		return f.Feed == world.Failing && strings.Contains(f.Detail, "log in again") && f.Usable()
	})
}

func TestNoServerAtAll(t *testing.T) {
	s := newServer(t)
	s.CloseClientConnections()
	s.Close()
	w := start(t, s)
	eventually(t, "disconnected", func() bool {
		_, f := w.Snapshot().Worst()
		return f.Feed == world.Disconnected && strings.Contains(f.Detail, "refused")
	})
}

func TestNoKueue(t *testing.T) {
	s := newServer(t)
	s.fail["kueue.x-k8s.io"] = 404
	w := start(t, s)
	eventually(t, "absent", func() bool {
		f := w.Snapshot().Fresh(world.KindWorkload)
		return f.Feed == world.Absent && strings.Contains(f.Detail, "Kueue is not installed")
	})
}

func TestSilentFeedIsDelayed(t *testing.T) {
	f := &feed{}
	begin := time.Date(2026, 12, 2, 0, 0, 0, 0, time.UTC)
	if got := f.freshness(begin, nil).Feed; got != world.Syncing {
		t.Errorf("at first %s", got)
	}
	f.listed(begin, 3)
	if got := f.freshness(begin.Add(silence), nil); got.Feed != world.Live || got.Count != 3 {
		t.Errorf("after a list: %+v", got)
	}
	late := f.freshness(begin.Add(silence+time.Second), nil)
	if late.Feed != world.Delayed || !late.Heard.Equal(begin) || !late.Synced {
		t.Errorf("after a long silence: %+v", late)
	}
	f.answered(begin.Add(2 * silence)) // a bookmark
	if got := f.freshness(begin.Add(2*silence), nil).Feed; got != world.Live {
		t.Errorf("after a bookmark: %s", got)
	}
	if got := f.freshness(begin.Add(2*silence), context.DeadlineExceeded); got.Feed != world.Disconnected {
		t.Errorf("with a probe that times out: %+v", got)
	}
}
