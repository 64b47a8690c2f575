package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/actions"
)

func TestFileThatAPersonNames(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Chdir(home)
	for name, content := range map[string]string{"q.yaml": "a: b\n", "~odd": "c: d\n", "big": strings.Repeat("x", longestFile+1)} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(home, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]struct{ name, content, what, do string }{
		"~/q.yaml":         {name: "q.yaml", content: "a: b\n"},
		"q.yaml":           {name: "q.yaml", content: "a: b\n"},
		home + "/q.yaml":   {name: "q.yaml", content: "a: b\n"},
		"~odd":             {name: "~odd", content: "c: d\n"}, // no shell, no other people's homes
		"~/none\x1b[2J":    {what: "there is no file " + home + `/none\x1b[2J`, do: "Look at how it is written"},
		"~":                {what: home + " is a folder", do: "Name one file in it"},
		"pipe":             {what: home + "/pipe is no ordinary file", do: "into a file"},
		"big":              {what: home + "/big is longer than 8 MiB", do: "right file"},
		"q.yaml/x":         {what: home + "/q.yaml/x cannot be read: not a directory", do: "Name a file"},
		"a\x00b":           {what: home + `/a\x00b cannot be read: invalid argument`, do: "Name a file"},
		"../" + "no/x.yml": {what: "there is no file " + filepath.Dir(home) + "/no/x.yml", do: "Look at how it is written"},
	} {
		f, err := named(path)
		if want.what == "" {
			if d := cmp.Diff(actions.File{Name: want.name, Path: filepath.Join(home, want.name), Content: []byte(want.content)}, f); d != "" || err != nil {
				t.Errorf("%q: %v (-want +got):\n%s", path, err, d)
			}
			continue
		}
		var p *actions.Problem
		if !errors.As(err, &p) || p.What != want.what || !strings.Contains(p.Do, want.do) {
			t.Errorf("%q: %v, want %q and %q", path, err, want.what, want.do)
		}
	}
}
