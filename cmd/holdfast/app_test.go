package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// try runs the program with arguments and without a terminal.
func try(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	var out, errs bytes.Buffer
	a := &app{in: null, out: &out, err: &errs, log: newRing()}
	c := a.command()
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(&errs)
	code = a.exit(context.Background(), c.ExecuteContext(t.Context()))
	return out.String(), errs.String(), code
}

func TestErrorsSayWhatToDo(t *testing.T) {
	dir := t.TempDir()
	file := func(name, body string, mode os.FileMode) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(body), mode); err != nil {
			t.Fatal(err)
		}
		return p
	}
	broken := file("broken", "apiVersion: v1\nkind: Config\nclusters: [", 0o600)
	empty := file("empty", "", 0o600)
	elsewhere := file("elsewhere", "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\ncontexts: [{name: k, context: {cluster: c}}]\ncurrent-context: k\n", 0o600)
	tests := map[string]struct {
		args []string
		code int
		want string
	}{
		"a broken kubeconfig":        {[]string{"--kubeconfig", broken, "hold", "cq/q"}, exitUnreadable, "the kubeconfig"},
		"a missing kubeconfig":       {[]string{"--kubeconfig", filepath.Join(dir, "none"), "hold", "cq/q"}, exitUnreadable, "the kubeconfig"},
		"an empty kubeconfig":        {[]string{"--kubeconfig", empty, "hold", "cq/q"}, exitUnreadable, "set KUBECONFIG or --kubeconfig"},
		"no such context":            {[]string{"--kubeconfig", elsewhere, "--context", "nope", "hold", "cq/q"}, exitUnreadable, "nope"},
		"a server that is not there": {[]string{"--kubeconfig", elsewhere, "hold", "cq/q", "--yes"}, exitUnreadable, "refused"},
		"no queue":                   {[]string{"--kubeconfig", elsewhere, "hold", "team-a"}, exitUsage, "cq/NAME, lq/NAMESPACE/NAME or cohort/NAME"},
		"no file":                    {[]string{"apply"}, exitUsage, "name the file with -f"},
		"a dry-run of the client":    {[]string{"--kubeconfig", elsewhere, "hold", "cq/q", "--dry-run=client"}, exitUsage, "--dry-run=server"},
		"an unknown format":          {[]string{"--kubeconfig", elsewhere, "hold", "cq/q", "-o", "xml"}, exitUsage, "text or json"},
		"an unknown command":         {[]string{"delete"}, exitUsage, "unknown command"},
		"the console without a tty":  {[]string{"--kubeconfig", elsewhere}, exitUsage, "needs a terminal"},
	}
	t.Setenv("KUBECONFIG", "")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	t.Setenv("HOME", dir)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, errs, code := try(t, tc.args...)
			if code != tc.code || !strings.Contains(errs, tc.want) {
				t.Errorf("exit %d, %q; want %d and %q", code, errs, tc.code, tc.want)
			}
			if strings.Contains(errs, "goroutine") || strings.Count(errs, "\n") > 4 {
				t.Errorf("not a clear error:\n%s", errs)
			}
		})
	}
}

func TestParseRef(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("KUBECONFIG", "")
	cq := func(n string) world.Ref { return world.Ref{Kind: world.KindClusterQueue, Key: world.Key{Name: n}} }
	lq := func(ns, n string) world.Ref {
		return world.Ref{Kind: world.KindLocalQueue, Key: world.Key{Namespace: ns, Name: n}}
	}
	tests := map[string]struct {
		want world.Ref
		ok   bool
	}{
		"cq/a": {cq("a"), true}, "ClusterQueue/a": {cq("a"), true}, "lq/n/a": {lq("n", "a"), true}, "localqueue/a": {lq("default", "a"), true},
		"cq/": {}, "cq/a/b": {}, "lq/": {}, "lq/n/": {}, "a": {}, "": {}, "wl/n/a": {},
	}
	for arg, tc := range tests {
		t.Run(arg, func(t *testing.T) {
			a := &app{in: os.Stdin, log: newRing()}
			a.command()
			got, err := a.parseRef(arg)
			if (err == nil) != tc.ok || got != tc.want {
				t.Errorf("%v, %v; want %v, %v", got, err, tc.want, tc.ok)
			}
		})
	}
}

func TestVerdict(t *testing.T) {
	done := actions.ObjectResult{Outcome: actions.Done, Verified: true}
	unseen := actions.ObjectResult{Outcome: actions.Done}
	refused := actions.ObjectResult{Outcome: actions.Refused}
	not := actions.ObjectResult{Outcome: actions.NotDone}
	tests := map[string]struct {
		objects []actions.ObjectResult
		code    int
	}{
		"done": {[]actions.ObjectResult{done, done}, exitOK}, "unverified": {[]actions.ObjectResult{done, unseen}, exitUnverified},
		"partly": {[]actions.ObjectResult{done, refused, not}, exitPartly}, "refused": {[]actions.ObjectResult{refused, not}, exitRefused},
		"no answer": {[]actions.ObjectResult{{Outcome: actions.OutcomeUnknown}}, exitUnverified},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a := &app{err: &bytes.Buffer{}}
			if got := a.exit(context.Background(), verdict(actions.Result{Objects: tc.objects})); got != tc.code {
				t.Errorf("exit code %d, want %d", got, tc.code)
			}
		})
	}
}

func TestRingKeepsTheLastLines(t *testing.T) {
	r := newRing()
	for i := range ringSize + 3 {
		r.add(strings.Repeat("x", i%7) + "\x1b[2J")
	}
	all := r.all()
	if len(all) != ringSize {
		t.Fatalf("%d lines, want %d", len(all), ringSize)
	}
	last := (ringSize + 2) % 7
	if want := strings.Repeat("x", last) + `\x1b[2J`; !strings.HasSuffix(all[ringSize-1], " "+want) {
		t.Errorf("the last line is %q, want %q", all[ringSize-1], want)
	}
}

// What is said over and over is one line that counts, wherever it lies in the ring.
func TestRingCountsWhatIsRepeated(t *testing.T) {
	for _, before := range []int{0, 1, ringSize - 1, ringSize, ringSize + 5} {
		r := newRing()
		for i := range before {
			r.add(fmt.Sprint("line ", i))
		}
		for range 3 {
			r.add("again")
		}
		r.add("after")
		r.add("again")
		all := r.all()
		if want := min(before+3, ringSize); len(all) != want {
			t.Errorf("after %d lines: %d, want %d", before, len(all), want)
		}
		tail := all[len(all)-3:]
		if !strings.Contains(tail[0], " again (3 times since ") || !strings.HasSuffix(tail[1], " after") || !strings.HasSuffix(tail[2], " again") {
			t.Errorf("after %d lines: %q", before, tail)
		}
	}
}

func TestAskTakesNothingButTheExpectedText(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	plan := func(l actions.Level, expects string) actions.Plan {
		return actions.Plan{Confirm: actions.Confirm{Level: l, Expects: expects}}
	}
	tests := map[string]struct {
		plan  actions.Plan
		flags actFlags
		want  string
	}{
		"no flag":                {plan(actions.ConfirmYes, "y"), actFlags{}, ""},
		"yes":                    {plan(actions.ConfirmYes, "y"), actFlags{yes: true}, "y"},
		"yes for a name":         {plan(actions.ConfirmName, "q"), actFlags{yes: true}, "q"},
		"yes for a drain":        {plan(actions.ConfirmContext, "prod 3"), actFlags{yes: true}, ""},
		"yes for production":     {plan(actions.ConfirmObjects, "prod 3"), actFlags{yes: true}, ""},
		"confirm for a drain":    {plan(actions.ConfirmContext, "prod 3"), actFlags{confirm: "prod 3"}, "prod 3"},
		"a count that has moved": {plan(actions.ConfirmContext, "prod 4"), actFlags{confirm: "prod 3", yes: true}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a := &app{in: null, err: &bytes.Buffer{}}
			got, err := a.ask(t.Context(), tc.plan, tc.flags)
			if d := cmp.Diff(tc.want, got); d != "" || (err == nil) != (tc.want != "") {
				t.Errorf("%v, answer (-want +got):\n%s", err, d)
			}
		})
	}
}

// Rights are asked about objects, so the question waits until these are listed, or
// cannot be.
func TestListed(t *testing.T) {
	st := store.New(clocktesting.NewFakePassiveClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
	kinds := []world.Kind{world.KindClusterQueue, world.KindWorkload, world.KindResourceFlavor, world.KindWorkloadPriorityClass}
	for i, k := range kinds {
		if listed(st.Snapshot()) {
			t.Errorf("listed before %s is", k)
		}
		st.SetFreshness(k, []world.Freshness{{Feed: world.Live, Synced: true}, {Feed: world.Denied}, {Feed: world.Absent}, {Feed: world.Disconnected, Synced: true}}[i])
	}
	if !listed(st.Snapshot()) {
		t.Error("never listed")
	}
}
