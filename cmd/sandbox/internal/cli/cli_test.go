package cli

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLeadingDir(t *testing.T) {
	for _, c := range []struct {
		args []string
		dir  string
		rest []string
	}{
		{[]string{"get", "pods"}, "", []string{"get", "pods"}},
		{[]string{"--dir", "/d", "get", "pods"}, "/d", []string{"get", "pods"}},
		{[]string{"--dir=/d", "-n", "x", "get"}, "/d", []string{"-n", "x", "get"}},
		{[]string{"cp", "--dir", "/d"}, "", []string{"cp", "--dir", "/d"}}, // not ours: it is not in front
		{nil, "", nil},
	} {
		dir, rest, err := leadingDir(c.args)
		if err != nil {
			t.Errorf("%v: %v", c.args, err)
		}
		if diff := cmp.Diff([]any{c.dir, c.rest}, []any{dir, rest}); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.args, diff)
		}
	}
	if _, _, err := leadingDir([]string{"--dir"}); err == nil {
		t.Error("--dir without a folder was accepted")
	}
}

func TestMainFailsWithAHint(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"status", "--dir", dir}, "start one with: holdfast-sandbox up --dir " + dir},
		{[]string{"kubectl", "--dir", dir, "get", "pods"}, "start one with: holdfast-sandbox up"},
		{[]string{"stop", "--dir", dir}, "accepts 1 arg"},
		{[]string{"scenario", "nothing", "--dir", dir}, "no sandbox runs"},
		{[]string{"run", "--dir", dir}, "needs a command"},
		{[]string{"run", "--dir", dir, "--", "no-such-program"}, "cannot run no-such-program"},
		{[]string{"run", "--dir", dir, "--scenario", "nothing", "--", "true"}, `no scenario "nothing"; there is: incident`},
		{[]string{"run", "--dir", dir, "--kubeconfig", "root", "--", "true"}, `no kubeconfig "root"; there is: admin, oncall, tenant, viewer`},
		{[]string{"record", "--dir", dir}, "record needs one folder"},
		{[]string{"record", "--dir", dir, "a", "b"}, "record needs one folder"},
		{[]string{"record", "--dir", dir, "--flat", dir + ".yaml"}, "no sandbox runs"},
		{[]string{"up", "--dir", dir, "--feature-gates", "A=maybe"}, `feature gate A is true or false, not "maybe"`},
		{[]string{"run", "--dir", dir, "--feature-gates", "A", "--", "true"}, "A must be formatted as key=value"},
		{[]string{"dance"}, "unknown command"},
	} {
		var stdout, stderr bytes.Buffer
		if code := Main(c.args, &stdout, &stderr); code != 1 {
			t.Errorf("%v: exit code %d, want 1", c.args, code)
		}
		if !strings.Contains(stderr.String(), c.says) || stdout.Len() > 0 {
			t.Errorf("%v: wrote %q and to stderr %q, want %q there", c.args, stdout.String(), stderr.String(), c.says)
		}
	}
}

func TestMainSucceeds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"down", "--dir", dir}, "no sandbox runs in " + dir},
		{[]string{"scenario"}, "requests"},
		{[]string{"up", "--help"}, "  tenant  what Kueue's own kueue-batch-user-role allows"},
		{[]string{"run", "--help"}, "admin, oncall, tenant, viewer"},
		{[]string{"kubectl", "--help"}, "Run kubectl as"},
		{[]string{"--help"}, "Available Commands"},
	} {
		var stdout, stderr bytes.Buffer
		if code := Main(c.args, &stdout, &stderr); code != 0 || !strings.Contains(stdout.String(), c.says) {
			t.Errorf("%v: exit code %d, wrote %q and to stderr %q; want 0 and %q", c.args, code, stdout.String(), stderr.String(), c.says)
		}
	}
}

func TestForegroundPassesTheExitCodeOn(t *testing.T) {
	for script, want := range map[string]int{
		"exit 3":                        3,
		"kill -TERM $$; sleep 60":       128 + 15,
		`test "$GREETING" = hi; exit 4`: 4,
	} {
		err := foreground([]string{"/bin/sh", "-c", script}, []string{"GREETING=hi"})
		var exit *exitError
		if !errors.As(err, &exit) || exit.code != want {
			t.Errorf("%q: %v, want exit code %d", script, err, want)
		}
	}
	if err := foreground([]string{"/bin/sh", "-c", `test "$GREETING" = hi`}, []string{"GREETING=hi"}); err != nil {
		t.Errorf("a command that succeeds: %v", err)
	}
	if err := foreground([]string{filepath.Join(t.TempDir(), "none")}, nil); err == nil || errors.As(err, new(*exec.ExitError)) {
		t.Errorf("a missing program: %v", err)
	}
}
