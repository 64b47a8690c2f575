package actions

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// full is a disk with so much room.
type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	if n := min(f.left, len(p)); n < len(p) {
		f.left = 0
		return n, syscall.ENOSPC
	}
	f.left -= len(p)
	return len(p), nil
}

type size int

func (s *size) Write(p []byte) (int, error) { *s += size(len(p)); return len(p), nil }

// Wherever the disk is full, nobody takes what is there for an export.
func TestDiskThatFills(t *testing.T) {
	s := newAPIServer(t)
	putWorkloads(s, 40)
	d := desk(t, s, nil)
	p, err := d.PlanExport(t.Context(), Scope{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.client()
	if err != nil {
		t.Fatal(err)
	}
	var whole size
	if _, err := d.writeBundle(t.Context(), c, p, &whole); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < int(whole); n += 1 + int(whole)/9 {
		_, err := d.writeBundle(t.Context(), c, p, &full{n})
		var told *Problem
		if !errors.As(onDisk(err), &told) || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(told.Do, "Make room") {
			t.Errorf("with room for %d of %d bytes: %v", n, whole, err)
		}
	}
	if _, err := d.writeBundle(t.Context(), c, p, &full{int(whole)}); err != nil {
		t.Errorf("with room for all: %v", err)
	}
	onlyFile(t, d.opts.ExportDir)
}

// With a temporary name or without, a file is published once and never over another.
func TestPublish(t *testing.T) {
	named := func(dir string) (*unpublished, error) {
		f, err := os.CreateTemp(dir, ".holdfast-export-*")
		if err != nil {
			return nil, err
		}
		return &unpublished{f, f.Name()}, nil
	}
	for name, create := range map[string]func(string) (*unpublished, error){"as the system can": newUnpublished, "with a name": named} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "out")
			for i, text := range []string{"first", "second"} {
				u, err := create(dir)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.WriteString(u, text); err != nil {
					t.Fatal(err)
				}
				if err := u.publish(path); i == 0 && err != nil || i == 1 && !errors.Is(err, os.ErrExist) {
					t.Errorf("%s: %v", text, err)
				}
				if err := u.discard(); err != nil {
					t.Error(err)
				}
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != "first" {
				t.Errorf("%q, %v", got, err)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info, err)
			}
			onlyFile(t, dir, path)
		})
	}
}

func TestExportIntoNoFolder(t *testing.T) {
	s := newAPIServer(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, into := range []string{filepath.Join(dir, "none"), file} {
		d := desk(t, s, func(o *Options) { o.ExportDir = into })
		p, err := d.PlanExport(t.Context(), Scope{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := d.Execute(t.Context(), p, "y")
		if err != nil || r.Objects[0].Outcome != NotDone || !strings.Contains(r.Objects[0].Detail, "Make the folder, or name another one with --export-dir") {
			t.Errorf("%s: %+v, %v", into, r, err)
		}
	}
	onlyFile(t, dir, file)
}
