package actions

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The journal says how often a write was sent where once was not enough: whoever reads
// it later sees that the object was contended.
func TestJournalCountsTries(t *testing.T) {
	hold := func(t *testing.T, d *Desk) (Plan, error) { return d.PlanHold(t.Context(), queueRef, false, "") }
	apply := func(t *testing.T, d *Desk) (Plan, error) {
		return d.PlanFile(t.Context(), File{Name: "f", Content: []byte("apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: q}\nspec: {queueingStrategy: StrictFIFO}\n")})
	}
	tests := map[string]struct {
		plan      func(*testing.T, *Desk) (Plan, error)
		conflicts int
		outcome   Outcome
		tries     int // as the journal has them
		line      string
	}{
		"a hold at once":                     {hold, 0, Done, 0, `"verified":true`},
		"a hold the second time":             {hold, 1, Done, 2, `"tries":2`},
		"a hold the last time":               {hold, retries, Done, retries + 1, `"tries":6`},
		"a hold that does not get through":   {hold, 99, Refused, retries + 1, `"tries":6`},
		"an apply at once":                   {apply, 0, Done, 0, `"verified":true`},
		"an apply the third time":            {apply, 2, Done, 3, `"tries":3`},
		"an apply that does not get through": {apply, 99, Refused, retries + 1, `"tries":6`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			putQueue(s, "None", "")
			d := desk(t, s, nil)
			p, err := tt.plan(t, d)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			s.before = func(*http.Request, int) int {
				if n++; n > tt.conflicts {
					return 0
				}
				s.touch(queuePath) // as Kueue's status write does
				return http.StatusConflict
			}
			r, err := d.Execute(t.Context(), p, p.Confirm.Expects)
			if err != nil || r.Objects[0].Outcome != tt.outcome {
				t.Fatalf("%+v, %v", r, err)
			}
			entries, bad, err := d.opts.Journal.Read()
			if err != nil || len(bad) > 0 || len(entries) != 2 {
				t.Fatalf("journal %+v, %v, %v", entries, bad, err)
			}
			if diff := cmp.Diff([]int{0, tt.tries}, []int{entries[0].Objects[0].Tries, entries[1].Objects[0].Tries}); diff != "" {
				t.Errorf("tries of intent and result (-want +got):\n%s", diff)
			}
			line := dump(entries[1])
			if !strings.Contains(line, tt.line) || tt.tries == 0 && strings.Contains(line, "tries") {
				t.Errorf("the result line is %s, want %s in it", line, tt.line)
			}
		})
	}
}

// How a dry-run or write of what Kueue validates ends is told.
func TestTriedIsTold(t *testing.T) {
	s := newAPIServer(t)
	putQueue(s, "", "")
	var told []error
	d := desk(t, s, func(o *Options) {
		o.Tried = func(at time.Time, err error) {
			if at.IsZero() {
				t.Error("at no time")
			}
			told = append(told, err)
		}
	})
	p, err := d.PlanHold(t.Context(), queueRef, false, "why")
	if err != nil {
		t.Fatal(err)
	}
	if len(told) != 1 || told[0] != nil {
		t.Fatalf("after the dry-run: %v", told)
	}
	d.Execute(t.Context(), p, "q")
	if len(told) != 2 || told[1] != nil {
		t.Errorf("after the write: %v", told)
	}
}
