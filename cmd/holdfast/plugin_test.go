package main

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"cli.holdfast.dev/holdfast/cmd/holdfast/internal/seat"
)

// login is a cluster that wants a token, and a credential plugin that gets one.
type login struct {
	t    *testing.T
	dir  string
	want atomic.Pointer[string] // the token that the server accepts
}

// newLogin makes a plugin of the interactiveMode that runs the lines of a shell
// script before it answers with the token in the file "token". It notes each run,
// and what it knows of it, in the file "runs".
func newLogin(t *testing.T, mode, script string) *login {
	t.Helper()
	l := &login{t: t, dir: t.TempDir()}
	c := workloads(t)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+*l.want.Load() {
			w.Header().Set("Content-Type", "application/json")
			refuses(w, 401, "Unauthorized", "Unauthorized")
			return
		}
		c.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	l.valid("first")
	l.write("plugin", 0o700, `#!/bin/sh
cd `+l.dir+`
case $KUBERNETES_EXEC_INFO in *'"interactive":true'*) asks=yes;; *) asks=no;; esac
echo "asks=$asks" >> runs
`+script+`
printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s"}}' "$(cat token)"
`)
	l.write("config", 0o600, fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: '%s', certificate-authority-data: %s}}]
users: [{name: kim, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: %s/plugin, interactiveMode: %s}}}]
contexts: [{name: prod, context: {cluster: c, user: kim}}]
current-context: prod
`, server.URL, base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})), l.dir, mode))
	return l
}

func (l *login) write(name string, mode os.FileMode, text string) {
	l.t.Helper()
	if err := os.WriteFile(filepath.Join(l.dir, name), []byte(text), mode); err != nil {
		l.t.Fatal(err)
	}
}

// valid makes a token the only one that the server accepts and the plugin gives.
func (l *login) valid(token string) {
	l.t.Helper()
	l.want.Store(&token)
	l.write("token", 0o600, token)
}

// runs are what the plugin noted.
func (l *login) runs() []string {
	raw, _ := os.ReadFile(filepath.Join(l.dir, "runs"))
	return strings.Fields(string(raw))
}

func (l *login) open() *seat.Seat {
	l.t.Helper()
	return seat.Sit(l.t, 100, 30, nil, holdfast(l.t), "--kubeconfig", filepath.Join(l.dir, "config"), "--journal", filepath.Join(l.dir, "journal"))
}

const isLive = "● live"

// expires has the credentials expire, and the console ask for something.
func (l *login) expires(s *seat.Seat) {
	l.t.Helper()
	s.Press("3").Sees("CLUSTERQUEUE / LOCAL").Press("\r").Sees("STATE")
	l.valid("second")
	s.Press("r")
}

// What a plugin prints while the console has the terminal is in the log, made
// harmless, and nowhere else.
func TestAPluginsNoiseIsInTheLog(t *testing.T) {
	l := newLogin(t, "Never", `printf 'noise\033[2J\033[1;1H of run %s\n' "$(wc -l < runs | tr -d ' ')" >&2`)
	s := l.open().Sees(isLive)
	begun := strings.Index(s.Sent(0), "\x1b[?1049h")
	if before := s.Sent(0)[:begun]; !strings.Contains(before, "of run 1") {
		t.Errorf("before the console has the terminal the plugin may use it; seen: %q", before)
	}
	l.expires(s)
	s.Until("the second run of the plugin", func() bool { return len(l.runs()) == 2 })
	s.Press(":").Sees("Go to").Press("log\r").Sees(`noise\x1b[2J\x1b[1;1H of run 2`)
	if raw := s.Sent(begun); strings.Contains(raw, "noise\x1b") {
		t.Errorf("the noise itself reached the screen: %q", raw)
	}
	s.Press("q").Ends()
	s.Restored()
	if d := l.runs(); len(d) != 2 {
		t.Errorf("the plugin ran %d times, want once for each token", len(d))
	}
}

// A plugin may ask a person before the console has the terminal, and never after:
// the keys are the console's then.
func TestAPluginThatAsks(t *testing.T) {
	ask := `if [ $asks = yes ]; then printf 'Password: ' >&2; read word; [ "$word" = open ] || exit 1; fi`
	tests := map[string]struct{ after, want string }{
		"IfAvailable": {"asks=no", ""},
		"Always":      {"", "standard input is not a terminal"},
	}
	for mode, tc := range tests {
		t.Run(mode, func(t *testing.T) {
			l := newLogin(t, mode, ask)
			s := l.open().Sees("Password:").Press("open\n").Sees(isLive)
			if d := l.runs(); len(d) != 1 || d[0] != "asks=yes" {
				t.Errorf("asked for one password, the plugin ran as %v", d)
			}
			l.expires(s)
			if tc.after != "" {
				s.Until("a run that asks for nothing", func() bool { d := l.runs(); return len(d) == 2 && d[1] == tc.after })
			} else {
				s.Press(":").Sees("Go to").Press("log\r").Sees(tc.want).Press("4") // a word on what to do
			}
			s.Press("?").Sees("Keys:").Press("\x03") // every key comes
			if code := s.Ends(); code != exitOK {
				t.Errorf("exit code %d", code)
			}
			s.Restored()
		})
	}
}

// A plugin that hangs holds up the answers, and neither the keys nor the end.
func TestAPluginThatHangs(t *testing.T) {
	hang := `[ "$(wc -l < runs | tr -d ' ')" -lt %d ] || { trap '' INT; while :; do read x < fifo; done; }`
	t.Run("when its credentials expire", func(t *testing.T) {
		l := newLogin(t, "Never", "[ -p fifo ] || mkfifo fifo\n"+fmt.Sprintf(hang, 2))
		s := l.open().Sees(isLive)
		l.expires(s)
		s.Until("the run that hangs", func() bool { return len(l.runs()) == 2 })
		s.Press("4").Sees("Workloads").Press("?").Sees("Keys:").Press("\x03")
		if code := s.Ends(); code != exitOK {
			t.Errorf("exit code %d", code)
		}
		s.Restored()
	})
	t.Run("at the beginning", func(t *testing.T) {
		l := newLogin(t, "Never", "mkfifo fifo\n"+fmt.Sprintf(hang, 1))
		s := l.open()
		s.Until("the run that hangs", func() bool { return len(l.runs()) == 1 })
		s.Press("\x03")
		if code := s.Ends(); code != exitInterrupted {
			t.Errorf("exit code %d, want %d", code, exitInterrupted)
		}
		s.Restored()
	})
}
