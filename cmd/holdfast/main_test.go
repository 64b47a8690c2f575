package main

import (
	"os"
	"testing"
)

// A preview runs the program itself once more; here that is the test's.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == workerName {
		os.Exit(run())
	}
	os.Exit(m.Run())
}
