package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// CheckDir returns an error that says what to do unless WriteDir may write to the path: nothing is there, or an empty
// folder.
func CheckDir(path string) error {
	entries, err := os.ReadDir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%w; name a folder that does not exist yet", err)
	case len(entries) > 0:
		return fmt.Errorf("%s is not empty; name a folder that does not exist yet, or empty it", path)
	}
	return nil
}

// CheckFile returns an error that says what to do if anything is at the path already.
func CheckFile(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s is there already; name a file that does not exist yet, or remove it", path)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// WriteDir writes one file for each kind and each answer into a new or empty folder, whose parents it makes. The folder
// appears with all of them in it, or not at all.
func (r *Record) WriteDir(path string) (err error) {
	if err := CheckDir(path); err != nil {
		return err
	}
	if path, err = filepath.Abs(path); err != nil { // the folder beside it must not be in it, as with "folder/"
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(tmp))
		}
	}()
	for name, content := range r.files {
		file := filepath.Join(tmp, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return err
		}
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	// os.Rename would refuse an empty folder.
	if err := syscall.Rename(tmp, path); err != nil {
		return &os.LinkError{Op: "rename", Old: tmp, New: path, Err: err}
	}
	return nil
}

// WriteFile writes every object once into one v1 List: Kueue's in the version it prefers, events as both APIs serve
// them. The file appears complete, or not at all; there must be none of the name.
func (r *Record) WriteFile(path string) (err error) {
	if err := CheckFile(path); err != nil {
		return err
	}
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	content, err := marshal(r.objects)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	_, err = tmp.Write(content)
	if err := errors.Join(err, tmp.Chmod(0o644), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
