//go:build sandbox

package proof

import (
	crand "crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// What a longer proof, or one that is repeated, sets in the environment.
const (
	envEdits  = "HOLDFAST_PROOF_EDITS"  // edits without fair sharing
	envFair   = "HOLDFAST_PROOF_FAIR"   // edits with fair sharing, in a sandbox of their own
	envSeed   = "HOLDFAST_PROOF_SEED"   // repeats a proof's worlds and edits
	envDir    = "HOLDFAST_PROOF_DIR"    // where to write every trial, not the differences alone
	envReplay = "HOLDFAST_PROOF_REPLAY" // a folder of trials to be judged again, without a sandbox
)

// atOnce is how many trials go on at a time. Most of a trial is waiting. A sandbox
// serves perSandbox of them: two that had served more than 100 ended in their midst,
// with a Kueue that could not renew its lease in time.
const atOnce, perSandbox = 6, 60

func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// TestPreviewAgainstKueue is the proof: random edits of random worlds on a real
// Kueue, each previewed before it is done.
func TestPreviewAgainstKueue(t *testing.T) {
	if os.Getenv(envReplay) != "" {
		t.Skip("recorded trials are judged again")
	}
	var drawn [8]byte
	_, _ = crand.Read(drawn[:]) // never fails
	seed := number(t, envSeed, binary.LittleEndian.Uint64(drawn[:]))
	t.Logf("seed %d: %s=%d repeats these worlds and edits", seed, envSeed, seed)
	s := &summary{dropped: map[string]int{}}
	p := &proof{seed: seed, dir: os.Getenv(envDir), summary: s}
	if p.keep = p.dir != ""; !p.keep {
		dir, err := os.MkdirTemp("", "holdfast-proof-")
		if err != nil {
			t.Fatal(err)
		}
		p.dir = dir
	}
	edits, fair := int(number(t, envEdits, 25)), int(number(t, envFair, 0))
	t.Run("fair sharing off", func(t *testing.T) { p.prove(t, edits, false) })
	t.Run("fair sharing on", func(t *testing.T) { p.prove(t, fair, true) })
	s.tell(t)
}

// tell prints the figures and fails the test where they are bad.
func (s *summary) tell(t *testing.T) {
	t.Helper()
	var b strings.Builder
	if err := s.write(&b); err != nil {
		t.Fatal(err)
	}
	fmt.Println(b.String()) // not only with -v
	for _, why := range s.verdict() {
		t.Error(why)
	}
}

type proof struct {
	seed uint64
	dir  string
	keep bool // write every trial

	mu sync.Mutex
	*summary
}

// prove makes n trials.
func (p *proof) prove(t *testing.T, n int, fair bool) {
	if n == 0 {
		t.Skip("not asked for")
	}
	todo := &tickets{left: n, most: 2*n + 10}
	for first := 0; first < todo.most && todo.refill(perSandbox); first += perSandbox {
		t.Run(fmt.Sprintf("from trial %d", todo.next), func(t *testing.T) { p.serve(t, todo, fair) })
	}
	if todo.left > 0 {
		t.Errorf("%d of %d edits could not be tried", todo.left, n)
	}
}

// serve makes trials in a sandbox of their own.
func (p *proof) serve(t *testing.T, todo *tickets, fair bool) {
	from := todo.next
	c := start(t, fair)
	if p.keep {
		defer p.keepLog(t, c, from)
	}
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for i, ok := todo.take(); ok; i, ok = todo.take() {
				if !p.one(t, c, i) {
					todo.back()
				}
			}
		})
	}
	workers.Wait()
}

// keepLog keeps what Kueue's manager wrote.
func (p *proof) keepLog(t *testing.T, c *cluster, from int) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(c.logs, "kueue.log"))
	if err == nil {
		err = os.WriteFile(filepath.Join(p.dir, fmt.Sprintf("kueue-fair-%t-%d.log", c.fair, from)), raw, 0o600)
	}
	if err != nil {
		t.Error(err)
	}
}

// tickets are the numbers of the trials to come. Worlds without a trial do not
// count: others take their place.
type tickets struct {
	mu              sync.Mutex
	left, next      int
	most, inSandbox int // the first number that is not given; how many more of them in this sandbox
}

// refill allows n more trials, in another sandbox, and reports whether any are left.
func (k *tickets) refill(n int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.inSandbox = n
	return k.left > 0
}

func (k *tickets) take() (int, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.left == 0 || k.next == k.most || k.inSandbox == 0 {
		return 0, false
	}
	k.left--
	k.next++
	k.inSandbox--
	return k.next - 1, true
}

func (k *tickets) back() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.left++
}

// one makes a trial and reports whether it counts.
func (p *proof) one(t *testing.T, c *cluster, number int) bool {
	rec, err := c.run(t.Context(), p.seed, number)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case errors.Is(err, errRestless), errors.Is(err, errNoEdit):
		p.dropped[fmt.Sprintf("%s: %v", rec.Kind, err)]++
		return false
	case err != nil:
		t.Errorf("%s (%s): %v", rec.ID, rec.Kind, err)
		return false
	}
	p.take(rec)
	if !rec.differs() && !p.keep {
		return true
	}
	folder, err := rec.write(p.dir)
	if err != nil {
		t.Error(err)
	}
	if rec.differs() {
		t.Log(rec.difference(folder))
	}
	return !rec.Unsettled
}

// difference tells of a preview that was not right.
func (r *record) difference(folder string) string {
	v := r.Verdict
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s, fair sharing %t) differs: %s\n", r.ID, r.Kind, r.Fair, folder)
	fmt.Fprintf(&b, "  certain %t, right in timings %q, restless %v, bounded %q, not computed %q, unsettled %t\n", v.Sure, v.Fitting, r.Forecast.Restless, r.Forecast.Bounded, r.Forecast.NotComputed, r.Unsettled)
	for _, x := range append(v.Unexpected, v.Unlisted...) {
		fmt.Fprintf(&b, "  %s\n", x)
	}
	fmt.Fprintf(&b, "  preview -, truth +\n%s", v.Diff)
	return b.String()
}

// TestReplay judges recorded trials again, with the preview of today.
func TestReplay(t *testing.T) {
	dir := os.Getenv(envReplay)
	if dir == "" {
		t.Skip(envReplay + " names no folder of recorded trials")
	}
	folders, err := filepath.Glob(filepath.Join(dir, "*", trialFile))
	if one := filepath.Join(dir, trialFile); err == nil && len(folders) == 0 {
		folders = []string{one}
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &summary{dropped: map[string]int{}}
	for _, f := range folders {
		rec, err := readRecord(filepath.Dir(f))
		if err != nil {
			t.Fatal(err)
		}
		if rec.Forecast, err = replay(t.Context(), rec, filepath.Dir(f)); err != nil {
			t.Errorf("%s: %v", rec.ID, err)
			continue
		}
		rec.Verdict = judge(rec.Before, rec.Forecast, rec.Truth)
		s.take(rec)
		if rec.differs() {
			t.Log(rec.difference(filepath.Dir(f)))
		}
	}
	s.tell(t)
}
