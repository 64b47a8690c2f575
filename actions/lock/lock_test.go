//go:build unix

package lock

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	if _, err := Try(path, false); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	unlock, err := Wait(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	for _, create := range []bool{false, true} {
		if _, err := Try(path, create); !errors.Is(err, ErrHeld) {
			t.Errorf("taken twice: %v", err)
		}
	}
	second := make(chan error)
	go func() {
		again, err := Wait(path)
		if err == nil {
			err = again()
		}
		second <- err
	}()
	select {
	case err := <-second:
		t.Errorf("it did not wait: %v", err)
	default:
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Error(err)
	}
}
