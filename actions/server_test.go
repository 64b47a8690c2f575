package actions

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// apiServer stores objects with the optimistic locking and the dry-run of the
// real one, so that tests can come between a plan and its execution. What Kueue
// makes of a write is played by react.
type apiServer struct {
	*httptest.Server
	mu         sync.Mutex
	objects    map[string]map[string]any // by path below /apis
	rv         int
	writes     int                              // requests that stored something
	before     func(r *http.Request, n int) int // called before the nth write; a status other than 0 is the answer
	react      func(o map[string]any)           // called with a stored object, may change it
	warning    string
	pages      int // items a page of a list; 0: all
	expire     bool
	hideQueues bool
	undone     bool
	// owner owns spec.cohortName of everything, for server-side applies; empty: nobody.
	owner string
	// stores is called with what an apply makes of an object, and may change it; trying
	// before each apply that is tried, watched with each watch. denied ends the paths
	// that may not be read.
	stores          func(o map[string]any)
	trying, watched func()
	denied          string
}

const base = "/apis/kueue.x-k8s.io/v1beta2/"

func newAPIServer(t *testing.T) *apiServer {
	s := &apiServer{objects: map[string]map[string]any{}, rv: 100, react: taken}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

// taken is Kueue taking up a spec at once.
func taken(o map[string]any) {
	spec, _ := o["spec"].(map[string]any)
	status, reason := "True", "Ready"
	if p := spec["stopPolicy"]; p == "Hold" || p == "HoldAndDrain" {
		status, reason = "False", "Stopped"
	}
	o["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Active", "status": status, "reason": reason, "message": "m", "observedGeneration": metaOf(o)["generation"]}}}
}

func metaOf(o map[string]any) map[string]any { return o["metadata"].(map[string]any) }

func (s *apiServer) next() string { s.rv++; return strconv.Itoa(s.rv) }

// put stores an object as somebody else would.
func (s *apiServer) put(path, kind string, meta, spec map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := filepath.Base(path)
	meta["name"], meta["resourceVersion"] = name, s.next()
	if _, ok := meta["uid"]; !ok {
		meta["uid"] = "uid-" + name
	}
	if _, ok := meta["generation"]; !ok {
		meta["generation"] = 1
	}
	o := map[string]any{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": meta, "spec": spec}
	s.react(o)
	s.objects[base+path] = o
}

// touch changes an object as a status write does.
func (s *apiServer) touch(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	metaOf(s.objects[base+path])["resourceVersion"] = s.next()
}

// edit changes a spec as a colleague does.
func (s *apiServer) edit(path, field string, v any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[base+path]
	o["spec"].(map[string]any)[field] = v
	m := metaOf(o)
	m["resourceVersion"], m["generation"] = s.next(), asInt(m["generation"])+1
}

func asInt(v any) int {
	n, _ := strconv.Atoi(fmt.Sprint(v))
	return n
}

func (s *apiServer) get(path string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return clone(s.objects[base+path])
}

func clone(o map[string]any) map[string]any {
	raw, _ := json.Marshal(o)
	var out map[string]any
	_ = json.Unmarshal(raw, &out)
	return out
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if s.warning != "" {
		w.Header().Set("Warning", `299 - "`+s.warning+`"`)
	}
	switch {
	case s.denied != "" && strings.HasSuffix(r.URL.Path, s.denied):
		refuse(w, 403, "Forbidden", s.denied+" is forbidden")
	case r.Method == http.MethodPatch && r.Header.Get("Content-Type") == "application/apply-patch+yaml":
		s.apply(w, r)
	case r.Method == http.MethodPatch:
		s.patch(w, r)
	case r.Method == http.MethodPost:
		s.create(w, r)
	case r.URL.Query().Get("watch") != "":
		s.watch(w, r)
	case strings.HasSuffix(r.URL.Path, "/workloads"):
		s.list(w, r)
	case strings.HasSuffix(r.URL.Path, "/localqueues"):
		if s.hideQueues {
			refuse(w, 403, "Forbidden", "localqueues is forbidden")
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "LocalQueueList", "apiVersion": "kueue.x-k8s.io/v1beta2", "metadata": map[string]any{}, "items": []any{
			map[string]any{"kind": "LocalQueue", "apiVersion": "kueue.x-k8s.io/v1beta2", "metadata": map[string]any{"namespace": "ns", "name": "lq"}, "spec": map[string]any{"clusterQueue": "q"}},
		}})
	case strings.HasSuffix(r.URL.Path, "/events"):
		refuse(w, 403, "Forbidden", "events is forbidden")
	default:
		s.mu.Lock()
		o := clone(s.objects[r.URL.Path])
		s.mu.Unlock()
		if o != nil {
			_ = json.NewEncoder(w).Encode(o)
			return
		}
		refuse(w, 404, "NotFound", r.URL.Path+" not found")
	}
}

func refuse(w http.ResponseWriter, code int, reason, message string) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": message})
}

func (s *apiServer) patch(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	p, err := jsonpatch.DecodePatch(raw)
	if err != nil || r.Header.Get("Content-Type") != "application/json-patch+json" {
		refuse(w, 400, "BadRequest", "not a JSON patch")
		return
	}
	dry := r.URL.Query().Get("dryRun") == "All"
	if !dry && s.before != nil {
		s.mu.Lock()
		n := s.writes
		s.mu.Unlock()
		if code := s.before(r, n); code == -1 {
			panic(http.ErrAbortHandler) // the connection breaks without an answer
		} else if code != 0 {
			refuse(w, code, map[int]string{403: "Forbidden", 500: "InternalError"}[code], "said the server")
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[r.URL.Path]
	if o == nil {
		refuse(w, 404, "NotFound", "not found")
		return
	}
	// The library is the API server's own, and so are its words.
	after, err := p.Apply([]byte(dump(o)))
	if err != nil {
		refuse(w, 422, "Invalid", failedTest) // no word on which test
		return
	}
	var merged map[string]any
	_ = json.Unmarshal(after, &merged)
	if dump(merged["spec"]) != dump(o["spec"]) {
		metaOf(merged)["generation"] = asInt(metaOf(o)["generation"]) + 1
	}
	if !dry {
		metaOf(merged)["resourceVersion"] = s.next()
		s.react(merged)
		s.objects[r.URL.Path] = merged
		s.writes++
	}
	_ = json.NewEncoder(w).Encode(merged)
}

func dump(v any) string { b, _ := json.Marshal(v); return string(b) }

// watch ends at once where something changed since the version that is asked
// for, as an expired one does; the reader then reads again.
func (s *apiServer) watch(w http.ResponseWriter, r *http.Request) {
	if s.watched != nil {
		s.watched()
	}
	w.(http.Flusher).Flush()
	from := asInt(r.URL.Query().Get("resourceVersion"))
	for {
		s.mu.Lock()
		newer := s.rv > from
		s.mu.Unlock()
		if newer {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (s *apiServer) list(w http.ResponseWriter, r *http.Request) {
	from := asInt(r.URL.Query().Get("continue"))
	if s.expire && from > 0 {
		refuse(w, 410, "Expired", "the continue token is too old")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var items []any
	for i := 0; ; i++ {
		o := s.objects[fmt.Sprintf("%snamespaces/ns/workloads/w%d", base, i)]
		if o == nil {
			break
		}
		items = append(items, o)
	}
	meta := map[string]any{"resourceVersion": "77"}
	to := len(items)
	if s.pages > 0 && from+s.pages < to {
		to = from + s.pages
		meta["continue"] = strconv.Itoa(to)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "WorkloadList", "apiVersion": "kueue.x-k8s.io/v1beta2", "metadata": meta, "items": items[from:to]})
}

var tick = time.Date(2026, 12, 2, 13, 20, 0, 0, time.UTC)

// ours is a real clock that always shows the same time: waiting works, and
// records come out the same.
type ours struct{ clock.RealClock }

func (ours) Now() time.Time { return tick }

// desk returns a Desk on the server with a world of one queue and its Workloads.
func desk(t *testing.T, s *apiServer, change func(*Options)) *Desk {
	t.Helper()
	st := store.New(ours{})
	for _, k := range world.WatchedKinds() {
		st.SetFreshness(k, world.Freshness{Feed: world.Live, Synced: true})
	}
	st.SetContract(world.Contract{Used: "v1beta2", Served: []string{"v1beta2", "v1beta1"}, User: "kim", Server: s.URL})
	st.Put(&world.ClusterQueue{Meta: world.Meta{Key: world.Key{Name: "q"}, UID: "uid-q"}, Preemption: world.PreemptionPolicy{WithinClusterQueue: "Never", ReclaimWithinCohort: "Never", BorrowWithinCohort: "Never"}})
	st.Put(&world.LocalQueue{Meta: world.Meta{Key: world.Key{Namespace: "ns", Name: "lq"}}, ClusterQueue: "q"})
	for i, state := range []world.State{world.Admitted, world.Admitted, world.Reserving, world.Pending, world.Finished, world.Evicting} {
		w := &world.Workload{Meta: world.Meta{Key: world.Key{Namespace: "ns", Name: fmt.Sprintf("w%d", i)}, UID: types.UID(fmt.Sprint(i))}, Active: true, LocalQueue: "lq", State: state}
		if state == world.Admitted || state == world.Reserving || state == world.Evicting {
			w.ClusterQueue = "q"
		}
		st.Put(w)
	}
	snap := st.Snapshot()
	o := Options{
		Config: kube.Writer(&rest.Config{Host: s.URL}, "test", false), World: func() *store.Snapshot { return snap }, Context: "prod", Clock: ours{},
		Journal: NewJournal(filepath.Join(t.TempDir(), "state", "journal.jsonl")), ExportDir: t.TempDir(), DraftDir: filepath.Join(t.TempDir(), "drafts"), VerifyFor: 5 * time.Second,
	}
	if change != nil {
		change(&o)
	}
	d, err := NewDesk(o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var queueRef = world.Ref{Kind: world.KindClusterQueue, Key: world.Key{Name: "q"}, UID: "uid-q"}
