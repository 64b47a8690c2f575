package actions

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// pages is an API server with so many Workloads that it makes page by page and does
// not keep. Nothing else may be listed.
func pages(b *testing.B, workloads int) *httptest.Server {
	b.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if !strings.HasSuffix(r.URL.Path, "/workloads") {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"no"}`)
			return
		}
		from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
		to := min(from+pageSize, workloads)
		meta := map[string]any{"resourceVersion": "7"}
		if to < workloads {
			meta["continue"] = strconv.Itoa(to)
		}
		items := make([]any, 0, pageSize)
		for i := from; i < to; i++ {
			items = append(items, map[string]any{
				"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
				"metadata": map[string]any{"namespace": "ns", "name": fmt.Sprintf("job-%05d", i), "uid": fmt.Sprintf("uid-%05d", i), "labels": map[string]any{"app": "train", "user": "kim"}},
				"spec": map[string]any{"queueName": "lq", "podSets": []any{map[string]any{"name": "main", "count": 8, "template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
					"name": "main", "image": "registry.example.com/train:1", "args": []any{"--epochs=10", "--data=/data/set"},
					"env":       []any{map[string]any{"name": "A", "value": "b"}, map[string]any{"name": "C", "value": "d"}},
					"resources": map[string]any{"requests": map[string]any{"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": "1"}},
				}}}}}}},
				"status": map[string]any{"conditions": []any{map[string]any{
					"type": "QuotaReserved", "status": "False", "reason": "Pending", "lastTransitionTime": "2026-09-14T12:00:00Z",
					"message": "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor a100, 8 more needed",
				}}},
			})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadList", "metadata": meta, "items": items})
	}))
	b.Cleanup(s.Close)
	return s
}

// BenchmarkExport is a whole export, read back. MiB-more is the most that the heap
// held at any time beyond what it held before: the pages, and the report, which is
// made of the console's own rows.
func BenchmarkExport(b *testing.B) {
	for _, n := range []int{500, 5_000, 50_000} {
		b.Run(fmt.Sprintf("%d Workloads", n), func(b *testing.B) {
			server := pages(b, n)
			st := store.New(ours{})
			for _, k := range world.WatchedKinds() {
				st.SetFreshness(k, world.Freshness{Feed: world.Live, Synced: true})
			}
			st.SetContract(world.Contract{Used: "v1beta2", Served: []string{"v1beta2"}, User: "kim", Server: server.URL})
			st.Put(&world.LocalQueue{Meta: world.Meta{Key: world.Key{Namespace: "ns", Name: "lq"}}, ClusterQueue: "q"})
			for i := range n {
				st.Put(&world.Workload{Meta: world.Meta{Key: world.Key{Namespace: "ns", Name: fmt.Sprintf("job-%05d", i)}, UID: types.UID(fmt.Sprintf("uid-%05d", i))}, Active: true, LocalQueue: "lq", State: world.Pending})
			}
			snap := st.Snapshot()
			most := 0.0
			for b.Loop() {
				dir := b.TempDir()
				d, err := NewDesk(Options{
					Config: kube.Writer(&rest.Config{Host: server.URL}, "test", false), World: func() *store.Snapshot { return snap }, Context: "prod", Clock: ours{},
					Journal: NewJournal(filepath.Join(dir, "journal.jsonl")), ExportDir: dir, DraftDir: filepath.Join(dir, "drafts"), VerifyFor: time.Second,
				})
				if err != nil {
					b.Fatal(err)
				}
				p, err := d.PlanExport(b.Context(), Scope{})
				if err != nil {
					b.Fatal(err)
				}
				stop := watchHeap()
				r, err := d.Execute(b.Context(), p, "y")
				most = max(most, stop())
				if err != nil || !r.OK() {
					b.Fatalf("%+v, %v", r, err)
				}
			}
			b.ReportMetric(most, "MiB-more")
		})
	}
}

// watchHeap looks at the heap every few milliseconds until the function that it
// returns is called, which gives how many MiB it grew at most.
func watchHeap() func() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	base := m.HeapAlloc
	var most atomic.Uint64
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			case <-time.After(5 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most.Store(max(most.Load(), m.HeapAlloc))
			}
		}
	}()
	return func() float64 {
		close(quit)
		<-done
		return float64(max(most.Load(), base)-base) / (1 << 20)
	}
}
