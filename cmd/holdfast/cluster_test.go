package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// cluster is an API server with Kueue's objects, for the commands as a person types
// them: it lists, watches, patches and dry-runs, and Kueue's answer to a write is
// played by react.
type cluster struct {
	*httptest.Server
	t       *testing.T
	mu      sync.Mutex
	rv      int
	objects map[string]map[string]any // by path
	writes  []string                  // the paths of what was stored
	react   func(o map[string]any)    // called with what is stored; holds mu
	// forbidden is a resource that may not be patched.
	forbidden string
}

const kueueAPI = "/apis/kueue.x-k8s.io/v1beta2/"

// listedKinds are the kinds of the lists that the program reads.
var listedKinds = map[string]string{
	"clusterqueues": "ClusterQueue", "cohorts": "Cohort", "localqueues": "LocalQueue", "resourceflavors": "ResourceFlavor", "admissionchecks": "AdmissionCheck",
	"workloadpriorityclasses": "WorkloadPriorityClass", "topologies": "Topology", "workloads": "Workload", "namespaces": "Namespace", "limitranges": "LimitRange",
	"runtimeclasses": "RuntimeClass", "priorityclasses": "PriorityClass",
}

func newCluster(t *testing.T) *cluster {
	c := &cluster{t: t, rv: 10, objects: map[string]map[string]any{}, react: func(map[string]any) {}}
	c.Server = httptest.NewServer(c)
	t.Cleanup(func() { c.CloseClientConnections(); c.Close() })
	return c
}

// put stores an object at the path, which gives it its name and apiVersion.
func (c *cluster) put(at, kind string, o map[string]any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rv++
	meta, _ := o["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
	}
	meta["name"], meta["uid"], meta["generation"], meta["resourceVersion"] = path.Base(at), "uid-"+path.Base(at), 1, strconv.Itoa(c.rv)
	if _, rest, ok := strings.Cut(at, "/namespaces/"); ok && strings.Contains(rest, "/") {
		meta["namespace"], _, _ = strings.Cut(rest, "/")
	}
	o["apiVersion"], o["kind"], o["metadata"] = apiOf(at), kind, meta
	c.objects[at] = o
}

// field is a part of an object by its path of names; nil where it is not there.
func (c *cluster) field(at string, names ...string) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	var v any = c.objects[at]
	for _, n := range names {
		m, _ := v.(map[string]any)
		v = m[n]
	}
	return v
}

// stored are the paths of what was written so far.
func (c *cluster) stored() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string{}, c.writes...)
}

// try runs the program on the cluster as kim, without a terminal, with a journal of its
// own whose path it returns.
func (c *cluster) try(args ...string) (out, errs string, code int, journal string) {
	c.t.Helper()
	dir := c.t.TempDir()
	config := filepath.Join(dir, "config")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: '%s'}}]\nusers: [{name: kim, user: {}}]\ncontexts: [{name: prod, context: {cluster: c, user: kim}}]\ncurrent-context: prod\n", c.URL)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	journal = filepath.Join(dir, "journal.jsonl")
	out, errs, code = try(c.t, append([]string{"--kubeconfig", config, "--journal", journal}, args...)...)
	return out, errs, code, journal
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	resource := path.Base(r.URL.Path)
	_, list := listedKinds[resource]
	switch {
	case r.URL.Path == "/version":
		says(w, 200, map[string]any{"gitVersion": "v1.36.3"})
	case r.URL.Path == strings.TrimSuffix(path.Dir(kueueAPI), "/v1beta2"):
		says(w, 200, map[string]any{"kind": "APIGroup", "apiVersion": "v1", "name": "kueue.x-k8s.io", "versions": []any{map[string]any{"groupVersion": "kueue.x-k8s.io/v1beta2", "version": "v1beta2"}}})
	case resource == "selfsubjectreviews":
		says(w, 201, map[string]any{"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1", "status": map[string]any{"userInfo": map[string]any{"username": "kim"}}})
	case r.Method == http.MethodPatch:
		c.patch(w, r)
	case r.Method != http.MethodGet:
		refuses(w, 405, "MethodNotAllowed", r.Method+" is not served")
	case list && r.URL.Query().Get("watch") != "":
		c.watch(w, r, resource)
	case list:
		says(w, 200, map[string]any{"kind": listedKinds[resource] + "List", "apiVersion": apiOf(r.URL.Path), "metadata": map[string]any{"resourceVersion": c.version()}, "items": c.all(resource)})
	default:
		c.mu.Lock()
		o, err := json.Marshal(c.objects[r.URL.Path])
		c.mu.Unlock()
		if err != nil || string(o) == "null" {
			refuses(w, 404, "NotFound", r.URL.Path+" not found")
			return
		}
		_, _ = w.Write(o)
	}
}

func says(w http.ResponseWriter, code int, v any) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v)
}

func refuses(w http.ResponseWriter, code int, reason, message string) {
	says(w, code, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": message})
}

func (c *cluster) version() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strconv.Itoa(c.rv)
}

// apiOf is the apiVersion of what is at the path: /api/V/... or /apis/GROUP/V/...
func apiOf(at string) string {
	parts := strings.Split(at, "/")
	if parts[1] == "api" {
		return parts[2]
	}
	return parts[2] + "/" + parts[3]
}

// all are the objects of a resource in whatever namespace.
func (c *cluster) all(resource string) []json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := []json.RawMessage{}
	for at, o := range c.objects {
		if path.Base(path.Dir(at)) == resource {
			raw, _ := json.Marshal(o)
			out = append(out, raw)
		}
	}
	return out
}

// watch sends what is there to those who ask for it. The watch of one object ends when
// something is newer than what the asker has, who then reads again.
func (c *cluster) watch(w http.ResponseWriter, r *http.Request, resource string) {
	send := func(typ string, o any) { _ = json.NewEncoder(w).Encode(map[string]any{"type": typ, "object": o}) }
	if r.URL.Query().Get("sendInitialEvents") != "" {
		for _, o := range c.all(resource) {
			send("ADDED", o)
		}
		send("BOOKMARK", map[string]any{"kind": listedKinds[resource], "apiVersion": apiOf(r.URL.Path), "metadata": map[string]any{
			"resourceVersion": c.version(), "annotations": map[string]any{"k8s.io/initial-events-end": "true"},
		}})
	}
	w.(http.Flusher).Flush()
	one, from := r.URL.Query().Get("fieldSelector") != "", r.URL.Query().Get("resourceVersion")
	for !one || c.version() == from {
		select {
		case <-r.Context().Done():
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// patch applies a JSON patch, or tries it.
func (c *cluster) patch(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	resource, name := path.Base(path.Dir(r.URL.Path)), path.Base(r.URL.Path)
	if resource == c.forbidden {
		refuses(w, 403, "Forbidden", fmt.Sprintf("%s %q is forbidden: User \"kim\" cannot patch resource %q", resource, name, resource))
		return
	}
	raw, _ := io.ReadAll(r.Body)
	p, err := jsonpatch.DecodePatch(raw)
	before, _ := json.Marshal(c.objects[r.URL.Path])
	if err != nil || string(before) == "null" {
		refuses(w, 400, "BadRequest", fmt.Sprintf("no JSON patch of an object: %v", err))
		return
	}
	raw, err = p.Apply(before)
	if err != nil {
		refuses(w, 422, "Invalid", "the server rejected our request due to an error in our request")
		return
	}
	var was, after map[string]any
	_ = json.Unmarshal(before, &was)
	_ = json.Unmarshal(raw, &after)
	meta := after["metadata"].(map[string]any)
	if a, b := fmt.Sprint(was["spec"]), fmt.Sprint(after["spec"]); a != b {
		meta["generation"] = meta["generation"].(float64) + 1
	}
	if r.URL.Query().Get("dryRun") == "" {
		c.rv++
		meta["resourceVersion"] = strconv.Itoa(c.rv)
		c.objects[r.URL.Path] = after
		c.writes = append(c.writes, r.URL.Path)
		c.react(after)
	}
	says(w, 200, after)
}
