//go:build unix

package actions

import (
	"errors"
	"os"
	"syscall"
)

// lockFile waits for the lock of all processes on a file, which it makes, and
// returns what gives it back. The lock ends with the process.
func lockFile(path string) (unlock func() error, err error) {
	return lock(path, os.O_CREATE, 0)
}

// tryLock takes the lock of all processes on a file that is there, and fails where
// another one has it. The lock ends with the process.
func tryLock(path string) (unlock func() error, err error) {
	return lock(path, 0, syscall.LOCK_NB)
}

func lock(path string, open, how int) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|open, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|how)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}
