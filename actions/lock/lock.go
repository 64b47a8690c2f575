// Package lock is the lock that processes of one account share by way of a file. It
// ends with the process, however that ends. Where the system has no flock it locks
// nothing.
package lock

import "errors"

// ErrHeld says that another process has the lock.
var ErrHeld = errors.New("another process has it")

// Wait blocks until it has the lock on the file, which it makes with mode 0600, and
// returns what gives it back.
func Wait(path string) (unlock func() error, err error) { return take(path, true, true) }

// Try takes the lock on the file, or fails with ErrHeld. With create the file is made.
func Try(path string, create bool) (unlock func() error, err error) { return take(path, create, false) }
