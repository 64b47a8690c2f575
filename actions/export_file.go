package actions

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// unpublished is a file of mode 0600 that is being written and has no name yet, or
// one that nobody looks for. Only publish gives it its own.
type unpublished struct {
	*os.File
	// temporary is its name until then; empty where it has none: then nothing is left
	// of it when the program is killed.
	temporary string
}

// newUnpublished makes one in the folder, on the file system where it is to have its
// name.
func newUnpublished(dir string) (*unpublished, error) {
	if f := nameless(dir); f != nil {
		return &unpublished{File: f}, nil
	}
	f, err := os.CreateTemp(dir, ".holdfast-export-*") // 0600
	if err != nil {
		return nil, err
	}
	return &unpublished{f, f.Name()}, nil
}

// publish gives the file its name. It fails with os.ErrExist where there is a file of
// that name, whoever made it and when.
func (u *unpublished) publish(path string) error {
	if u.temporary == "" {
		return link(u.File, path)
	}
	return os.Link(u.temporary, path)
}

// discard closes the file, and removes what was not published.
func (u *unpublished) discard() error {
	err := u.Close()
	if u.temporary != "" {
		err = errors.Join(err, os.Remove(u.temporary))
	}
	return err
}

// onDisk says what to do about trouble with the folder of an export; other errors
// stay as they are.
func onDisk(err error) error {
	p := &Problem{What: fmt.Sprintf("the export cannot be written: %s", clean(err)), Err: err}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		p.Do = "Nothing is left of it. Make room, or name a folder elsewhere with --export-dir."
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		p.Do = "Make the folder, or name another one with --export-dir."
	case errors.Is(err, os.ErrPermission), errors.Is(err, syscall.EROFS):
		p.Do = "Name a folder that you may write to with --export-dir."
	default:
		return err
	}
	return p
}
