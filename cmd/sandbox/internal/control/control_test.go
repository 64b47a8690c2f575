package control

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/supervise"
)

type fakeTarget struct {
	acted chan string
	quit  chan struct{}
}

func (f *fakeTarget) Report() Report {
	return Report{Dir: "/d", Ready: true, Kubeconfigs: []Kubeconfig{{"admin", "/d/admin.kubeconfig"}}, Components: []supervise.Status{{Name: "kueue", State: supervise.Stopped, PID: 12, RSS: 34}}}
}

func (f *fakeTarget) Act(_ context.Context, action, component string) error {
	if component == "etcd" {
		return errors.New("cannot stop etcd")
	}
	f.acted <- action + " " + component
	return nil
}

func (f *fakeTarget) Quit() { close(f.quit) }

// serve opens an endpoint in a folder whose path is too long for a socket's address.
func serve(t *testing.T) (*fakeTarget, *Client, string, *Server) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f := &fakeTarget{acted: make(chan string, 1), quit: make(chan struct{})}
	s, err := Serve(dir, f)
	if err != nil {
		t.Fatal(err)
	}
	return f, Dial(dir), dir, s
}

func TestEndpoint(t *testing.T) {
	f, c, dir, s := serve(t)
	got, err := c.Report(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := f.Report()
	want.PID = os.Getpid()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if err := c.Act(t.Context(), "restart", "kueue"); err != nil {
		t.Error(err)
	} else if got := <-f.acted; got != "restart kueue" {
		t.Errorf("acted %q", got)
	}
	if err := c.Act(t.Context(), "stop", "etcd"); err == nil || err.Error() != "cannot stop etcd" {
		t.Errorf("error %v, want the target's own", err)
	}
	if err := c.Act(t.Context(), "no/such", "path"); err == nil {
		t.Error("an unknown path succeeded")
	}
	info, err := os.Stat(filepath.Join(dir, socket))
	if err != nil {
		t.Fatal(err)
	}
	if perm := info.Mode().Perm(); perm != 0o600 {
		t.Errorf("socket has mode %o", perm)
	}
	if err := c.Quit(t.Context()); err != nil {
		t.Error(err)
	}
	<-f.quit
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Report(t.Context()); err == nil {
		t.Error("a closed endpoint answers")
	}
}

func TestDialOfNothing(t *testing.T) {
	if _, err := Dial(t.TempDir()).Report(t.Context()); err == nil {
		t.Error("an endpoint that is not there answers")
	}
}
