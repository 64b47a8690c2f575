package actions

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"cli.holdfast.dev/holdfast/actions/lock"
)

// journalSize is how large a journal's file gets before it is put aside, and
// journalKept how many of those are kept.
const (
	journalSize = 8 << 20
	journalKept = 4
)

// aside is the name of the nth file that was put aside; 0 is the journal itself.
func (j *Journal) aside(n int) string {
	if n == 0 {
		return j.path
	}
	return fmt.Sprintf("%s.%d", j.path, n)
}

// rotate puts the file aside if it would grow too large by so many bytes. The caller
// holds the lock of all processes, so that nobody writes into a file that moves.
func (j *Journal) rotate(more int64) error {
	info, err := os.Stat(j.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil || info.Size() == 0 || info.Size()+more <= j.most {
		return err
	}
	for n := journalKept; n >= 1; n-- {
		if err := os.Rename(j.aside(n-1), j.aside(n)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Read returns the entries, oldest first, also those of files that were put aside.
// Lines that cannot be read are returned as problems in words; a journal that does
// not exist has no entries. It waits while another process writes.
func (j *Journal) Read() (entries []JournalEntry, bad []string, err error) {
	if _, err := os.Stat(j.path); errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	}
	unlock, err := lock.Wait(j.path + ".lock")
	if err == nil { // a folder that may not be written to can still be read
		defer func() { err = errors.Join(err, unlock()) }()
	}
	for n := journalKept; n >= 0; n-- {
		raw, err := os.ReadFile(j.aside(n))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		for i, line := range strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n") {
			if line == "" {
				continue
			}
			var e JournalEntry
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				bad = append(bad, fmt.Sprintf("line %d of %s cannot be read: %v", i+1, j.aside(n), err))
				continue
			}
			entries = append(entries, e)
		}
	}
	return entries, bad, nil
}

// Interrupted returns the IDs of the intents that have no result: whether those were
// carried out is unknown.
func Interrupted(entries []JournalEntry) map[string]bool {
	out := map[string]bool{}
	for _, e := range entries {
		switch e.Entry {
		case "intent":
			out[e.ID] = true
		case "result":
			delete(out, e.ID)
		}
	}
	return out
}
