//go:build sandbox

package proof

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// envAgain is a folder of trials, of which those that were not called certain are made
// a second time.
const envAgain = "HOLDFAST_PROOF_AGAIN"

// TestKueueAgainstKueue says how often Kueue itself does the same once more: no forecast
// of one outcome can be right more often than that. It makes the worlds and the edits of
// recorded trials again and compares what came of them with what came of the first.
func TestKueueAgainstKueue(t *testing.T) {
	dir := os.Getenv(envAgain)
	if dir == "" {
		t.Skip(envAgain + " names no folder of recorded trials")
	}
	folders, err := filepath.Glob(filepath.Join(dir, "*", trialFile))
	if err != nil {
		t.Fatal(err)
	}
	todo := map[bool][]*record{}
	for _, f := range folders {
		rec, err := readRecord(filepath.Dir(f))
		if err != nil {
			t.Fatal(err)
		}
		if !rec.Verdict.Sure && !rec.Unsettled {
			todo[rec.Fair] = append(todo[rec.Fair], rec)
		}
	}
	tally := map[string]int{}
	for _, fair := range slices.SortedFunc(maps.Keys(todo), func(a, b bool) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }) {
		t.Run(fmt.Sprintf("fair sharing %t", fair), func(t *testing.T) { again(t, start(t, fair), todo[fair], tally) })
	}
	for _, what := range slices.Sorted(maps.Keys(tally)) {
		fmt.Println(tally[what], what)
	}
}

// again makes the trials a second time and counts what came of it.
func again(t *testing.T, c *cluster, first []*record, tally map[string]int) {
	t.Helper()
	todo := make(chan *record, len(first))
	for _, r := range first {
		todo <- r
	}
	close(todo)
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for one := range todo {
				number, err := strconv.Atoi(strings.TrimPrefix(one.ID, "t"))
				if err != nil {
					t.Errorf("%s is no trial's number", one.ID)
					return
				}
				two, err := c.run(t.Context(), one.Seed, number)
				said := compared(one, two, err)
				mu.Lock()
				for _, s := range said {
					tally[s]++
				}
				mu.Unlock()
				t.Logf("%s (%s): %s", one.ID, one.Kind, strings.Join(said, ", "))
			}
		})
	}
	workers.Wait()
}

// compared says what a second trial tells of the first.
func compared(one, two *record, err error) []string {
	switch {
	case err != nil:
		return []string{"not made again: " + err.Error()}
	case two.Unsettled:
		return []string{"did not come to rest the second time"}
	case !cmp.Equal(unnamed(one.Before), unnamed(two.Before)) || !cmp.Equal(asked(one), asked(two)):
		return []string{"another world or edit the second time"}
	}
	out := []string{"the same world and edit"}
	if cmp.Equal(unnamed(one.Truth), unnamed(two.Truth)) {
		out = append(out, "Kueue did the same")
	} else {
		out = append(out, "Kueue did something else")
	}
	for _, r := range []*record{one, two} {
		if r.Verdict.Equal {
			out = append(out, "a likeliest outcome was right")
		}
	}
	return out
}

// suffix is what Kueue adds to the name of a job, another one each time.
var suffix = regexp.MustCompile(`(job-j[0-9]+)-[0-9a-f]{5}`)

// unnamed is the value as text, with names that are the same in every world of a trial.
func unnamed(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return suffix.ReplaceAllString(string(raw), "$1")
}

// asked are the specs that the edit asks for.
func asked(r *record) []string {
	var out []string
	for _, c := range r.changes {
		var o struct {
			Metadata struct{ Name string }
			Spec     json.RawMessage
		}
		raw, err := encode(c.is)
		if err == nil {
			err = json.Unmarshal(raw, &o)
		}
		out = append(out, fmt.Sprintf("%s %s %s %v", kindName(c.is), unnamed(o.Metadata.Name), unnamed(o.Spec), err))
	}
	return out
}
