package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// A preview runs the program itself once more; here that is the test's.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == workerName {
		os.Exit(run())
	}
	if len(os.Args) > 1 && os.Args[1] == crashing {
		os.Exit(crash())
	}
	dir, err := os.MkdirTemp("", "holdfast-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	program = filepath.Join(dir, "holdfast")
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// program is the path of the program as people have it, once build was called.
var program string

var build = sync.OnceValue(func() error {
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		return fmt.Errorf("the program does not build: %w\n%s", err, out)
	}
	return nil
})

// holdfast is the path of the program; it is built for the first test that asks.
func holdfast(t *testing.T) string {
	t.Helper()
	if err := build(); err != nil {
		t.Fatal(err)
	}
	return program
}
