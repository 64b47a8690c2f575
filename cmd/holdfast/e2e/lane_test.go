//go:build sandbox

package e2e

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// lane is the way to the API server that a program under test takes: everything
// that it sends can be looked at, and things can happen just before and after.
type lane struct {
	kubeconfig string

	reads   sync.Mutex // of hooks.reading
	mu      sync.Mutex
	sent    []sent
	methods map[string]bool // all that was ever sent
	hooks   hooks
}

// sent is a request that came through.
type sent struct{ Method, Path, Query string }

// writes reports whether the request can change something.
func (s sent) writes() bool {
	return s.Method != http.MethodGet && s.Method != http.MethodHead && !strings.Contains(s.Query, "dryRun=All") &&
		!strings.HasPrefix(s.Path, "/apis/authorization.k8s.io/") && !strings.HasPrefix(s.Path, "/apis/authentication.k8s.io/")
}

// hooks happen around a write, which is the nth of the lane, from 1. The write is
// sent between the two, and its answer withheld until after has returned.
type hooks struct {
	before, after func(n int, s sent)
	// reading happens before each request that changes nothing, one at a time.
	reading func(s sent)
}

// newLane opens a lane with the rights of a person of the sandbox.
func newLane(t *testing.T, person string) *lane {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", filepath.Join(world.dir, person+".kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	rt, err := rest.TransportFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(cfg.Host)
	if err != nil {
		t.Fatal(err)
	}
	l := &lane{methods: map[string]bool{}}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     roundTripper(func(r *http.Request) (*http.Response, error) { return l.pass(rt, r) }),
		FlushInterval: -1, // watches
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}
	srv := httptest.NewServer(proxy)
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	t.Cleanup(func() {
		for m := range l.methods {
			if !slices.Contains([]string{http.MethodGet, http.MethodPost, http.MethodPatch}, m) {
				t.Errorf("the program sent a %s", m)
			}
		}
	})
	l.kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	name := "sandbox-" + person
	kc := clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{name: {Server: srv.URL}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: {}},
		CurrentContext: name,
	}
	if err := clientcmd.WriteToFile(kc, l.kubeconfig); err != nil {
		t.Fatal(err)
	}
	return l
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (l *lane) pass(rt http.RoundTripper, r *http.Request) (*http.Response, error) {
	s := sent{r.Method, r.URL.Path, r.URL.RawQuery}
	l.mu.Lock()
	l.sent = append(l.sent, s)
	l.methods[r.Method] = true
	n, h := 0, l.hooks
	for _, x := range l.sent {
		if x.writes() {
			n++
		}
	}
	l.mu.Unlock()
	if !s.writes() && h.reading != nil {
		l.reads.Lock()
		h.reading(s)
		l.reads.Unlock()
	}
	if s.writes() && h.before != nil {
		h.before(n, s)
	}
	resp, err := rt.RoundTrip(r)
	if s.writes() && h.after != nil {
		h.after(n, s)
	}
	return resp, err
}

// around sets the hooks and forgets what was sent.
func (l *lane) around(h hooks) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hooks, l.sent = h, nil
}

// all returns what was sent.
func (l *lane) all() []sent {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]sent(nil), l.sent...)
}

// env is the environment of somebody who takes the lane.
func (l *lane) env(t *testing.T) []string {
	t.Helper()
	return []string{"KUBECONFIG=" + l.kubeconfig, "XDG_STATE_HOME=" + t.TempDir(), "NO_COLOR=", "KUBE_EDITOR=false"}
}

// written makes a file.
func written(t *testing.T, name, body string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(p, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}
