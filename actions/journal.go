package actions

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"cli.holdfast.dev/holdfast/actions/lock"
)

// rewatchPause keeps a watch that ends at once from being begun in a tight loop.
const rewatchPause = 200 * time.Millisecond

// Journal is the append-only record of what was done: JSON lines, an intent
// before each action and its result after. The file has mode 0600 in a folder
// of mode 0700. When it has grown large it is put aside (journal.jsonl.1, .2, ...),
// and the oldest of those is removed in time. It is safe for concurrent use, also by
// several processes.
type Journal struct {
	path string
	most int64 // bytes of a file before it is put aside
	mu   sync.Mutex
}

// NewJournal returns the journal at the path. Nothing is created before the
// first entry.
func NewJournal(path string) *Journal { return &Journal{path: path, most: journalSize} }

// Path returns where the journal is.
func (j *Journal) Path() string { return j.path }

// JournalEntry is one line of the journal. Times are UTC.
type JournalEntry struct {
	ID      string    `json:"id"`
	Time    time.Time `json:"time"`
	Entry   string    `json:"entry"` // intent or result
	Action  Action    `json:"action"`
	Context string    `json:"context"`
	Server  string    `json:"server"`
	User    string    `json:"user"`
	Reason  string    `json:"reason,omitempty"`
	// Undoes is the ID of the entry that this one takes back.
	Undoes  string         `json:"undoes,omitempty"`
	Objects []JournalEvent `json:"objects"`
}

// JournalEvent is one object of an entry.
type JournalEvent struct {
	Object          string          `json:"object"`
	UID             string          `json:"uid,omitempty"`
	Generation      int64           `json:"generation,omitempty"`
	ResourceVersion string          `json:"resourceVersion,omitempty"`
	Change          string          `json:"change,omitempty"`
	Patch           json.RawMessage `json:"patch,omitempty"`
	// API addresses an object that is not Kueue's: GROUP/VERSION/RESOURCE.
	API string `json:"api,omitempty"`
	// Method is how the patch was sent, where it was no merge patch.
	Method string `json:"method,omitempty"`
	// Stored is the merge patch of what the server makes of an apply.
	Stored json.RawMessage `json:"stored,omitempty"`
	// Inverse is the merge patch that gives the changed fields the values back that
	// they had, for undo.
	Inverse  json.RawMessage `json:"inverse,omitempty"`
	Outcome  Outcome         `json:"outcome,omitempty"`
	Detail   string          `json:"detail,omitempty"`
	Verified bool            `json:"verified,omitempty"`
	// Tries is how often the write was sent, where that was more than once.
	Tries int `json:"tries,omitempty"`
}

func (j *Journal) intent(p Plan, now time.Time) (string, error) {
	var b [6]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	e := entry(p, now)
	e.ID, e.Entry = now.UTC().Format("20060102T150405Z")+"-"+hex.EncodeToString(b[:]), "intent"
	for _, t := range p.Targets {
		e.Objects = append(e.Objects, JournalEvent{
			Object: t.Ref.String(), UID: string(t.Ref.UID), Generation: t.Generation, ResourceVersion: t.ResourceVersion, Change: t.Change,
			Patch: t.Patch, API: apiText(t.API), Method: t.Method.word(), Stored: changed(t), Inverse: inverse(t),
		})
	}
	if p.Export != nil {
		e.Objects = append(e.Objects, JournalEvent{Object: "file", Change: "export to " + p.Export.Path})
	}
	if err := j.append(e); err != nil {
		return "", &Problem{
			What: fmt.Sprintf("the journal %s cannot be written (%v), so nothing was done", j.path, err),
			Do:   "Make room or fix the folder's rights, or point --journal elsewhere.", Err: err,
		}
	}
	return e.ID, nil
}

func (j *Journal) result(id string, p Plan, r Result, now time.Time) error {
	e := entry(p, now)
	e.ID, e.Entry = id, "result"
	for _, o := range r.Objects {
		ev := JournalEvent{Object: o.Ref.String(), UID: string(o.Ref.UID), Outcome: o.Outcome, Detail: o.Detail, Verified: o.Verified}
		if o.Tries > 1 {
			ev.Tries = o.Tries
		}
		e.Objects = append(e.Objects, ev)
	}
	return j.append(e)
}

func entry(p Plan, now time.Time) JournalEntry {
	return JournalEntry{Time: now.UTC(), Action: p.Action, Context: p.Context, Server: p.Server, User: p.User, Reason: p.Reason, Undoes: p.Undoes}
}

// append writes one line with one write, so that lines of several writers never
// mix, and waits until it is on the disk.
func (j *Journal) append(e JournalEntry) (err error) {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(j.path), 0o700); err != nil {
		return err
	}
	unlock, err := lock.Wait(j.path + ".lock")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := j.rotate(int64(len(line))); err != nil {
		return err
	}
	f, err := os.OpenFile(j.path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if torn(f) {
		line = append([]byte{'\n'}, line...)
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		return err
	}
	return f.Sync()
}

// torn reports whether the file ends in half a line, as after a full disk: the
// next entry must not be glued to it.
func torn(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], info.Size()-1)
	return err == nil && last[0] != '\n'
}
