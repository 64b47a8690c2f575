package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

const threeContexts = `apiVersion: v1
kind: Config
current-context: one
clusters: [{name: c1, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u1, user: {token: x}}]
contexts:
- {name: two, context: {cluster: c1, user: u1}}
- {name: one, context: {cluster: c1, user: u1}}
- {name: "bad\u202ename", context: {cluster: c1, user: u1}}
- {name: lost, context: {cluster: nowhere, user: u1}}
`

// inFile is a run of the program with the kubeconfig and flags.
func inFile(t *testing.T, flags ...string) *app {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(threeContexts), 0o600); err != nil {
		t.Fatal(err)
	}
	a := &app{}
	if err := a.command().ParseFlags(append([]string{"--kubeconfig", path}, flags...)); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestContexts(t *testing.T) {
	for name, c := range map[string]struct {
		flags []string
		want  []string
	}{
		"all that can be drawn":  {nil, []string{"lost", "one", "two"}},
		"from another":           {[]string{"--context", "two", "-n", "team-a", "--as", "kim"}, []string{"lost", "one", "two"}},
		"a server of its own":    {[]string{"--server", "https://10.0.0.1"}, nil},
		"nobody verified":        {[]string{"--insecure-skip-tls-verify"}, nil},
		"credentials of its own": {[]string{"--token", "t"}, nil},
	} {
		if diff := cmp.Diff(c.want, inFile(t, c.flags...).contexts()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Another context is another cluster; what the person asked for besides stays.
func TestInContext(t *testing.T) {
	a := inFile(t, "-n", "team-a", "--as", "kim")
	if at, err := a.contextNow(); err != nil || at != "one" {
		t.Errorf("in context %q, %v", at, err)
	}
	a.kube = inContext(a.kube, "two")
	if at, err := a.contextNow(); err != nil || at != "two" {
		t.Errorf("in context %q, %v", at, err)
	}
	base, contract, err := a.target()
	if err != nil || contract.Context != "two" || base.Impersonate.UserName != "kim" || *a.kube.Namespace != "team-a" {
		t.Errorf("%+v, %+v, %v", contract, base, err)
	}
}

// A context without a server must not lead to whatever listens on this machine.
func TestContextWithoutAServer(t *testing.T) {
	_, _, err := inFile(t, "--context", "lost").target()
	if err == nil || !strings.Contains(err.Error(), `context lost names the cluster "nowhere"`) {
		t.Errorf("got %v", err)
	}
}

// A context that cannot be opened gives the streams back: the next one may have to ask
// the person for a password.
func TestStreamsAreGivenBackWhereNothingOpens(t *testing.T) {
	a := inFile(t)
	a.log = newRing()
	t.Setenv("HOME", "")
	t.Setenv("XDG_STATE_HOME", "")
	keys, said := os.Stdin, *os.Stderr
	if s, err := a.connect(t.Context(), true); err == nil || !strings.Contains(err.Error(), "--journal") {
		t.Fatalf("got %+v, %v", s, err)
	}
	if os.Stdin != keys || *os.Stderr != said {
		os.Stdin, *os.Stderr = keys, said
		t.Error("the streams are not as they were")
	}
}

// Whoever goes from context to context leaves no way back to a terminal behind, each of
// which would be gone when the program fails.
func TestScreensLeaveNoPanicHandlers(t *testing.T) {
	before := len(utilruntime.PanicHandlers)
	restored := 0
	for range 3 {
		onPanic(func() { restored++ })()
	}
	if n := len(utilruntime.PanicHandlers); n != before {
		t.Errorf("%d handlers, and there were %d", n, before)
	}
	leave := onPanic(func() { restored++ })
	defer leave()
	utilruntime.PanicHandlers[len(utilruntime.PanicHandlers)-1](t.Context(), nil)
	if restored != 1 {
		t.Errorf("restored %d times", restored)
	}
}
