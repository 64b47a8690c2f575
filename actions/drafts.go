package actions

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/actions/lock"
)

// A draft is two files: the text that the editor has, and beside it the object that
// the text was made from. A process that edits holds the lock of the second one; one
// that nobody holds is of an edit that was broken off.

// drafts are those that this process holds, by the path of the text, with what gives
// the lock back.
type drafts struct {
	mu   sync.Mutex
	held map[string]func() error
}

// draftBase is the second file's content.
type draftBase struct {
	Original string          `json:"original"`
	Object   json.RawMessage `json:"object"`
}

const (
	baseSuffix = ".base"
	newSuffix  = ".new" // of what is to take a file's place
)

// create writes a new draft's files, which are private, and returns the path of the
// text.
func (s *drafts) create(dir string, dr Draft) (_ string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	unlock, err := making(dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	ref := dr.Target.Ref
	f, err := os.CreateTemp(dir, fmt.Sprintf("%s-%s-*.yaml%s", strings.ToLower(string(ref.Kind)), ref.Name, baseSuffix)) // 0600
	if err != nil {
		return "", err
	}
	if err := f.Close(); err != nil {
		return "", err
	}
	dr.Path = strings.TrimSuffix(f.Name(), baseSuffix)
	if err := s.keep(dr); err != nil {
		return "", err
	}
	f, err = os.OpenFile(dr.Path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(dr.Original)
	return dr.Path, errors.Join(err, f.Close())
}

// renew writes what the text of a draft is made from by now, and holds it.
func (s *drafts) renew(dr Draft) (err error) {
	unlock, err := making(filepath.Dir(dr.Path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	return s.keep(dr)
}

// making is the lock of all processes for the time in which a draft has not both of its
// files, or one that nobody holds yet. It blocks until nobody else has it.
func making(dir string) (unlock func() error, err error) { return lock.Wait(dir + ".lock") }

// sweep removes what was left of drafts by a program that was killed before there was a
// text, or while it removed both files: without one there is nothing of a person's in
// it. What another process holds stays, and so does what cannot be removed: the next
// one tries again. The caller has the lock of making.
func (s *drafts) sweep(halves []string) {
	for _, p := range halves {
		path, is := strings.CutSuffix(strings.TrimSuffix(p, newSuffix), baseSuffix)
		if _, err := os.Lstat(path); !is || !errors.Is(err, os.ErrNotExist) {
			continue
		}
		free, err := lock.Try(p, false)
		if err != nil {
			continue // another process has it, or removed it meanwhile
		}
		_ = errors.Join(os.Remove(p), free())
	}
}

// keep writes what the draft's text was made from, and holds it.
func (s *drafts) keep(dr Draft) error {
	raw, err := json.Marshal(draftBase{dr.Original, dr.Target.Base})
	if err != nil {
		return err
	}
	path := dr.Path + baseSuffix
	next := path + newSuffix
	unlock, err := lock.Wait(next)
	if err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(next, raw, 0o600), os.Rename(next, path)); err != nil {
		return errors.Join(err, unlock())
	}
	s.hold(dr.Path, unlock)
	return nil
}

func (s *drafts) hold(path string, unlock func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil {
		s.held = map[string]func() error{}
	}
	if before := s.held[path]; before != nil {
		_ = before() // it was of the file that was replaced
	}
	s.held[path] = unlock
}

func (s *drafts) holds(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held[path] != nil
}

// drop removes the draft's files.
func (s *drafts) drop(path string) error {
	var errs []error
	for _, p := range []string{path, path + baseSuffix} {
		if err := os.Remove(p); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if unlock := s.held[path]; unlock != nil {
		errs = append(errs, unlock())
		delete(s.held, path)
	}
	return errors.Join(errs...)
}

// left finds the latest text of an object that was edited and neither applied nor
// thrown away, and holds it; nil if there is none. Texts in which nothing was edited
// are removed, and so are halves of drafts. What cannot be read is passed over: it stays for the person to look at.
func (s *drafts) left(dir string, uid types.UID) *Draft {
	paths, _ := filepath.Glob(filepath.Join(dir, "*.yaml"+baseSuffix+"*")) // the pattern is good
	if len(paths) == 0 {
		return nil
	}
	unlock, err := making(dir)
	if err != nil {
		return nil
	}
	defer func() { _ = unlock() }() // it ends with the process at the latest
	s.sweep(paths)
	var found []Draft
	for _, p := range paths {
		path, is := strings.CutSuffix(p, baseSuffix)
		if !is || s.holds(path) {
			continue
		}
		unlock, err := lock.Try(p, false)
		if err != nil {
			continue // another process edits it
		}
		s.hold(path, unlock)
		dr, err := readDraft(path)
		switch {
		case err != nil, dr.Target.Ref.UID != uid:
			s.release(path)
		case !dr.edited:
			_ = s.drop(path) // what it holds is in the cluster
		default:
			found = append(found, dr)
		}
	}
	if len(found) == 0 {
		return nil
	}
	slices.SortStableFunc(found, func(a, b Draft) int { return b.At.Compare(a.At) })
	for _, dr := range found[1:] {
		s.release(dr.Path)
	}
	return &found[0]
}

// release gives the draft's lock back and leaves its files.
func (s *drafts) release(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if unlock := s.held[path]; unlock != nil {
		_ = unlock() // the lock ends with the file
		delete(s.held, path)
	}
}

// readDraft reads a draft from its files.
func readDraft(path string) (Draft, error) {
	raw, err := os.ReadFile(path + baseSuffix)
	if err != nil {
		return Draft{}, err
	}
	var base draftBase
	if err := json.Unmarshal(raw, &base); err != nil {
		return Draft{}, err
	}
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(base.Object); err != nil {
		return Draft{}, err
	}
	now, err := os.ReadFile(path)
	if err != nil {
		return Draft{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return Draft{}, err
	}
	return Draft{Target: target(refOf(o), o), Path: path, Original: base.Original, At: info.ModTime(), edited: theirText(string(now)) != base.Original}, nil
}

// theirText is a text less the messages of this program.
func theirText(all string) string {
	var b strings.Builder
	for l := range strings.Lines(all) {
		if !strings.HasPrefix(l, message) {
			b.WriteString(l)
		}
	}
	return b.String()
}
