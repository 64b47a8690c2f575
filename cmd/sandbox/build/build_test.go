package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func source(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "go.mod", "module m\n")
	write(t, dir, "main.go", "package main\n")
	write(t, dir, "internal/a/stages.yaml", "kind: Stage\n")
	return dir
}

func hash(t *testing.T, dir, toolchain string) string {
	t.Helper()
	h, err := sourceHash(dir, toolchain)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestStampChangesWithWhatIsBuilt(t *testing.T) {
	for name, change := range map[string]func(dir string){
		"go.mod":          func(dir string) { write(t, dir, "go.mod", "module m2\n") },
		"a source file":   func(dir string) { write(t, dir, "main.go", "package main // x\n") },
		"an embedded one": func(dir string) { write(t, dir, "internal/a/stages.yaml", "kind: Other\n") },
		"a new file":      func(dir string) { write(t, dir, "internal/a/b.go", "") },
		"a moved boundary": func(dir string) { // the same bytes in all, in other files
			write(t, dir, "go.mod", "module m\npack")
			write(t, dir, "main.go", "age main\n")
		},
		"a new name": func(dir string) {
			if err := os.Rename(filepath.Join(dir, "main.go"), filepath.Join(dir, "other.go")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := source(t)
			before := hash(t, dir, "go1")
			change(dir)
			if hash(t, dir, "go1") == before {
				t.Error("the stamp is the same")
			}
		})
	}
	dir := source(t)
	if hash(t, dir, "go1") == hash(t, dir, "go2") {
		t.Error("the stamp is the same for another toolchain")
	}
}

func TestStampStaysForWhatIsNotBuilt(t *testing.T) {
	dir := source(t)
	before := hash(t, dir, "go1")
	for _, name := range []string{"main_test.go", "README.md", "internal/a/testdata/x.yaml", ".editor/state", ".hidden"} {
		write(t, dir, name, "x")
		if hash(t, dir, "go1") != before {
			t.Errorf("%s changes the stamp", name)
		}
	}
}

func TestUpToDateNeedsEveryFile(t *testing.T) {
	files := map[string]string{programFile: "", kueueFile: "", manifestsFile: "", stampFile: "abc\n"}
	complete := func() string {
		dir := t.TempDir()
		for name, content := range files {
			write(t, dir, name, content)
		}
		return dir
	}
	dir := complete()
	if !upToDate(dir, "abc") {
		t.Error("a complete folder is not up to date")
	}
	if upToDate(dir, "other") {
		t.Error("a folder with another stamp is up to date")
	}
	for name := range files {
		dir := complete()
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if upToDate(dir, "abc") {
			t.Errorf("a folder without %s is up to date", name)
		}
	}
}

func TestReplaceKeepsTheOldFileUntilTheNewOneIsComplete(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "program", "old")
	b := builder{out: dir}
	broken := errors.New("compiler says no")
	err := b.replace("program", func(tmp string) error {
		write(t, filepath.Dir(tmp), filepath.Base(tmp), "half")
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "program")); err != nil || string(got) != "old" {
		t.Errorf("after a failure: %q, %v", got, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("files after a failure: %v, %v", entries, err)
	}
	if err := b.replace("program", func(tmp string) error { return os.WriteFile(tmp, []byte("new"), 0o600) }); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "program")); err != nil || string(got) != "new" {
		t.Errorf("after a success: %q, %v", got, err)
	}
}

func TestFailedShowsTheEndAndSaysWhatToDo(t *testing.T) {
	output := "first line\n" + strings.Repeat("noise\n", errorLines) + "link: no space left on device\n"
	got := failed("1/3 Kubernetes", errors.New("exit status 1"), output).Error()
	for _, want := range []string{"1/3 Kubernetes failed: exit status 1", "no space left on device", "free some space"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "first line") {
		t.Errorf("the whole output is shown:\n%s", got)
	}
}

func TestMajorMinor(t *testing.T) {
	if major, minor, err := majorMinor("v1.36.3"); err != nil || major != "1" || minor != "36" {
		t.Errorf("got %s, %s, %v", major, minor, err)
	}
	if _, _, err := majorMinor("v1"); err == nil {
		t.Error("v1 was accepted")
	}
}

func TestProgress(t *testing.T) {
	var plain, terminal bytes.Buffer
	for _, p := range []*progress{{w: &plain, every: time.Hour}, {w: &terminal, terminal: true, every: time.Hour}} {
		p.start("1/3 Kubernetes")(true)
	}
	if got := strings.Count(plain.String(), "\n"); got != 2 || strings.Contains(plain.String(), "\r") {
		t.Errorf("plain: %q, want a line at the start and one at the end", plain.String())
	}
	if got := terminal.String(); strings.Count(got, "\n") != 1 || strings.Count(got, "\r") != 2 {
		t.Errorf("terminal: %q, want one line, written twice", got)
	}
}

func TestAFileIsNoTerminal(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if isTerminal(f) {
		t.Error("a file was taken for a terminal")
	}
}

func TestLockKeepsOthersOut(t *testing.T) {
	dir := t.TempDir()
	unlock, err := lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(dir, ".lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Errorf("while locked: %v, want EWOULDBLOCK", err)
	}
	unlock()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Errorf("after unlock: %v", err)
	}
}
