//go:build unix

package lock

import (
	"errors"
	"os"
	"syscall"
)

func take(path string, create, wait bool) (unlock func() error, err error) {
	open, how := os.O_RDWR, syscall.LOCK_EX
	if create {
		open |= os.O_CREATE
	}
	if !wait {
		how |= syscall.LOCK_NB
	}
	f, err := os.OpenFile(path, open, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrHeld
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}
