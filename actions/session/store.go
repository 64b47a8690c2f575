package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/actions/lock"
	"cli.holdfast.dev/holdfast/model/text"
)

// Store keeps sessions in a folder, a file each. Its methods block for the disk and
// may be called from any goroutine.
type Store struct{ dir string }

// NewStore returns the store in the folder, which is made when needed, with mode 0700.
func NewStore(dir string) *Store { return &Store{dir} }

// longest bounds a session's file, in bytes.
const longest = 8 << 20

var goodID = regexp.MustCompile(`^[0-9]{8}-[0-9]{6}-[0-9a-f]{8}$`)

func (st *Store) path(id string) (string, error) {
	if !goodID.MatchString(id) {
		return "", fmt.Errorf("%q is not the ID of a session", text.Clean(id))
	}
	return filepath.Join(st.dir, id+".json"), nil
}

// Save writes the session in place of what is there, whole or not at all, and returns
// when it is on the disk. The file has mode 0600.
func (st *Store) Save(s Session) (err error) {
	path, err := st.path(s.ID)
	if err != nil {
		return err
	}
	raw, err := encode(s)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(st.dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(st.dir, "."+s.ID+"-*") // 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // after the rename there is none
	_, err = f.Write(raw)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	d, err := os.Open(st.dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Load reads the session of the ID, or of the only one that begins with it.
func (st *Store) Load(id string) (Session, error) {
	if !goodID.MatchString(id) {
		all, _, err := st.List()
		if err != nil {
			return Session{}, err
		}
		var found []Session
		for _, s := range all {
			if id != "" && strings.HasPrefix(s.ID, id) {
				found = append(found, s)
			}
		}
		if len(found) == 1 {
			return found[0], nil
		}
		return Session{}, &actions.Problem{What: fmt.Sprintf("%d sessions begin with %q", len(found), text.Clean(id)), Do: "See `holdfast session list`."}
	}
	path, err := st.path(id)
	if err != nil {
		return Session{}, err
	}
	s, err := readFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return s, &actions.Problem{What: "there is no session " + id, Do: "See `holdfast session list`.", Err: err}
	}
	return s, err
}

// List returns the sessions, the newest first, and sentences on files that cannot be
// read.
func (st *Store) List() (out []Session, bad []string, err error) {
	files, err := os.ReadDir(st.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok || !goodID.MatchString(id) {
			continue
		}
		s, err := readFile(filepath.Join(st.dir, f.Name()))
		if err == nil && s.ID != id {
			err = fmt.Errorf("%s holds session %s", f.Name(), s.ID)
		}
		if err != nil {
			bad = append(bad, text.Clean(err.Error()))
			continue
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Session) int { return b.Created.Compare(a.Created) })
	return out, bad, nil
}

// Lock takes the session for this process and returns what gives it back. It fails at
// once where another process has it: two must not drive one session.
func (st *Store) Lock(id string) (unlock func() error, err error) {
	path, err := st.path(id)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(st.dir, 0o700); err != nil {
		return nil, err
	}
	unlock, err = lock.Try(strings.TrimSuffix(path, ".json")+".lock", true)
	if errors.Is(err, lock.ErrHeld) {
		return nil, &actions.Problem{What: "another holdfast of this account is at session " + id, Do: "Let it finish its step, or end it; then try again. Nothing was changed.", Err: err}
	}
	return unlock, err
}

// WriteNew writes the session into a new file with mode 0600, for a colleague. It fails
// where there is a file, and leaves none behind where it fails.
func WriteNew(path string, s Session) error {
	raw, err := encode(s)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

func encode(s Session) ([]byte, error) {
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, err
	}
	if len(raw) > longest {
		return nil, fmt.Errorf("the session would be longer than %d bytes: attach a smaller fix", longest)
	}
	return append(raw, '\n'), nil
}

func readFile(path string) (Session, error) {
	f, err := os.Open(path)
	if err != nil {
		return Session{}, err
	}
	defer func() { _ = f.Close() }()
	s, err := Decode(f)
	if err != nil {
		return s, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return s, nil
}

// Decode reads a session from a file that may come from anybody: it is bounded, what
// it does not know is refused, and every text in it but the fix is safe to draw.
func Decode(r io.Reader) (Session, error) {
	raw, err := io.ReadAll(io.LimitReader(r, longest+1))
	if err != nil {
		return Session{}, err
	}
	if len(raw) > longest {
		return Session{}, fmt.Errorf("it is longer than %d bytes: it is no session", longest)
	}
	var s Session
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return Session{}, fmt.Errorf("it cannot be read as a session: %s", text.Clean(err.Error()))
	}
	if d.More() {
		return Session{}, errors.New("there is more behind the session: it was changed")
	}
	return s, s.check()
}

// check refuses what no session can be, and cleans its texts.
func (s *Session) check() error {
	if s.APIVersion != apiVersion || s.Kind != kind {
		return fmt.Errorf("it is %s %s, not %s %s: use the version of holdfast that made it", text.Clean(s.APIVersion), text.Clean(s.Kind), apiVersion, kind)
	}
	if !goodID.MatchString(s.ID) {
		return fmt.Errorf("%q is not the ID of a session", text.Clean(s.ID))
	}
	var names []Name
	for i := range s.Steps {
		x := &s.Steps[i]
		names = append(names, x.Name)
		switch x.State {
		case Todo, Running, Done, Failed, Skipped:
		default:
			return fmt.Errorf("step %d is %q, which no step can be", i+1, text.Clean(string(x.State)))
		}
		clean(&x.By, &x.Detail, &x.JournalID)
		for j := range x.Lines {
			clean(&x.Lines[j])
		}
	}
	if !slices.Equal(names, Names()) {
		return errors.New("its steps are not those of a session")
	}
	switch s.Target.Kind {
	case "ClusterQueue", "LocalQueue", "Cohort":
	default:
		return fmt.Errorf("it is of a %q, which no session can be of", text.Clean(string(s.Target.Kind)))
	}
	clean(&s.Context, &s.Server, &s.ClusterUID, &s.Target.Namespace, &s.Target.Name, &s.Reason, &s.By, &s.Bundle, &s.EarlierBundle)
	for _, sum := range []string{s.BundleSHA256, s.EarlierBundleSHA256} {
		if sum != "" && !goodSum.MatchString(sum) {
			return fmt.Errorf("%q is no SHA-256 of an export", text.Clean(sum))
		}
	}
	if s.Fix != nil {
		clean(&s.Fix.Name)
	}
	for i := range s.Left {
		clean(&s.Left[i])
	}
	for i := range s.History {
		clean(&s.History[i].By, &s.History[i].Text)
	}
	return nil
}

func clean(texts ...*string) {
	for _, t := range texts {
		*t = text.Clean(*t)
	}
}
