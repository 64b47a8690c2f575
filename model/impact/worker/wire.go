package worker

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/impact/engine"
	"cli.holdfast.dev/holdfast/model/impact/pack"
)

// message is one line that the child writes; one of its fields is set.
type message struct {
	// Read is set once the task has been read.
	Read bool `json:"read,omitempty"`
	// Progress is the heartbeat, too.
	Progress *engine.Progress `json:"progress,omitempty"`
	// Changed are some of the Workloads of the outcome that follows.
	Changed []*kueue.Workload `json:"changed,omitempty"`
	// Outcome is without Changed.
	Outcome *engine.Outcome `json:"outcome,omitempty"`
	// End is the last line of a task that was done, Error that of one that was not.
	End   bool   `json:"end,omitempty"`
	Error string `json:"error,omitempty"`
}

// Bounds of a line: how many Workloads are sent in one, and how many bytes the
// parent takes. An object of the API has at most about one and a half MiB.
const (
	changedPerLine = 16
	mostLine       = 64 << 20
)

// sender writes messages, each at once.
type sender struct {
	w   *bufio.Writer
	enc *json.Encoder
	err error // the first failure; nothing is written after it
}

func newSender(w io.Writer) *sender {
	b := bufio.NewWriter(w)
	return &sender{w: b, enc: json.NewEncoder(b)}
}

func (s *sender) send(m message) {
	if s.err == nil {
		s.err = errors.Join(s.enc.Encode(m), s.w.Flush())
	}
}

func (s *sender) outcome(o engine.Outcome) {
	all := o.Changed
	o.Changed = nil
	for len(all) > 0 {
		n := min(changedPerLine, len(all))
		s.send(message{Changed: all[:n]})
		all = all[n:]
	}
	s.send(message{Outcome: &o})
}

// lines reads messages until there are no more, and gives each to take until that
// says no. A line that is no message, or longer than most bytes, is an error; the
// end is not, nor is a line that has none: its writer died over it.
func lines(r io.Reader, most int, take func(message) bool) error {
	b := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	for {
		part, err := b.ReadSlice('\n')
		if line = append(line, part...); len(line) > most {
			return fmt.Errorf("a line has more than %d bytes", most)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			return fmt.Errorf("a line is not readable: %w", err)
		}
		if line = line[:0]; !take(m) {
			return nil
		}
	}
}

// header comes before the world.
type header struct {
	Edits      []Edit
	Config     configapi.Configuration
	At         time.Time
	Modes      []engine.Mode
	MostCycles int
	// Watched is set where the input stays open as long as somebody waits.
	Watched bool
}

// perValue is how many Workloads of the world are sent in one value.
const perValue = 256

// writeTask writes the task in several values, so that the other side reads the
// first ones while the next are written: the header, the world without its
// Workloads, then those, and an empty list at their end.
func writeTask(w io.Writer, t Task, watched bool) error {
	b := bufio.NewWriterSize(w, 64<<10)
	enc := json.NewEncoder(b)
	rest := *t.World
	all := rest.Workloads
	rest.Workloads = nil
	if err := errors.Join(enc.Encode(header{t.Edits, t.Config, t.At, t.Modes, t.MostCycles, watched}), enc.Encode(rest)); err != nil {
		return err
	}
	for {
		n := min(perValue, len(all))
		if err := enc.Encode(all[:n]); err != nil {
			return err
		}
		if n == 0 {
			return b.Flush()
		}
		all = all[n:]
	}
}

// readTask reads what writeTask wrote. It returns what of the input is left, too.
func readTask(r io.Reader) (t Task, watched bool, rest io.Reader, err error) {
	dec := json.NewDecoder(r)
	fail := func(err error) (Task, bool, io.Reader, error) {
		return Task{}, false, nil, fmt.Errorf("the task is not readable: %w", err)
	}
	var h header
	if err := dec.Decode(&h); err != nil {
		return fail(err)
	}
	t = Task{Edits: h.Edits, Config: h.Config, At: h.At, Modes: h.Modes, MostCycles: h.MostCycles, World: &pack.World{}}
	if err := dec.Decode(t.World); err != nil {
		return fail(err)
	}
	for {
		some := make([]pack.Workload, 0, perValue)
		if err := dec.Decode(&some); err != nil {
			return fail(err)
		}
		if len(some) == 0 {
			return t, h.Watched, io.MultiReader(dec.Buffered(), r), nil
		}
		t.World.Workloads = append(t.World.Workloads, some...)
	}
}
