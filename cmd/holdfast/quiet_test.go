package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// A terminal library once asked the terminal for its colours before main began,
// and waited five seconds where nothing answers. The commands of a script must
// neither wait nor write an escape byte.
func TestPlainCommandsAskTheTerminalNothing(t *testing.T) {
	bin := holdfast(t)
	for name, args := range map[string][]string{
		"version": {"version"}, "help": {"--help"}, "help of a command": {"hold", "--help"}, "completion": {"completion", "bash"},
		"completion request": {"__complete", "hold", ""}, "rbac": {"rbac"}, "wrong flag": {"--no-such-flag"},
	} {
		t.Run(name, func(t *testing.T) {
			c := exec.Command(bin, args...)
			c.Env = append(os.Environ(), "TERM=xterm-256color", "KUBECONFIG=/nonexistent")
			begun := time.Now()
			tty, err := pty.Start(c) // nobody answers on it
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = tty.Close() }()
			var out bytes.Buffer
			_, _ = out.ReadFrom(tty) // ends with an error when the program closes its side
			_ = c.Wait()
			if took := time.Since(begun); took > time.Second {
				t.Errorf("took %s, want less than a second", took)
			}
			if strings.ContainsRune(out.String(), 0x1b) {
				t.Errorf("wrote an escape byte: %q", out.String())
			}
			if out.Len() == 0 {
				t.Error("wrote nothing")
			}
		})
	}
}
