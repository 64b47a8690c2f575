//go:build !unix

package actions

// lockFile locks nothing where the system has no flock: there two processes at once
// can lose the entry that is written while a journal is put aside.
func lockFile(path string) (unlock func() error, err error) { return tryLock(path) }

// tryLock locks nothing, neither: there a text that another console is editing is
// offered as one that was left.
func tryLock(string) (unlock func() error, err error) { return func() error { return nil }, nil }
