//go:build sandbox

package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"cli.holdfast.dev/holdfast/cmd/holdfast/internal/seat"
)

// document is the part of a report that stands on the screen, too.
type document struct {
	ClusterQueues []struct {
		Name                         string
		Cohort                       *string
		Active                       *bool
		Pending, Reserving, Admitted int
		Resources                    []struct {
			Flavor, Resource   string
			InSpec             bool
			Nominal            string
			Reserved, Borrowed *string
			Available          *string
			Potential          *string
		}
	}
	Workloads []struct {
		Namespace, Name, State, Explanation string
		Owner                               *struct{ Kind, Name string }
		Position                            *int
	}
}

const caseTime = "2026-09-14T10:00:00Z"

// What a person reads on the screen and what a program reads in the report are
// the same, for every case.
func TestScreenAndReportAgree(t *testing.T) {
	files, err := filepath.Glob("../../../model/report/testdata/cases/*/input.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, f := range files {
		t.Run(filepath.Base(filepath.Dir(f)), func(t *testing.T) {
			out, errs, code := headless(t, nil, "report", "-f", f, "--now", caseTime, "-o", "json")
			if code != 0 && code != 1 {
				t.Fatalf("exit %d: %s", code, errs)
			}
			var d document
			if err := json.Unmarshal([]byte(out), &d); err != nil {
				t.Fatal(err)
			}
			c := open(t, 240, 100, []string{"NO_COLOR=1"}, "--world", f, "--now", caseTime)
			c.Sees("COHORT / QUEUE")
			c.queuesAgree(d)
			c.workloadsAgree(d)
			c.press(ctrlC)
			c.Ends()
		})
	}
}

func (c *console) queuesAgree(d document) {
	c.T.Helper()
	c.press("3")
	c.Sees("CLUSTERQUEUE / LOCAL")
	for _, q := range d.ClusterQueues {
		c.cursorOn(q.Name + " ")
		c.press(enter)
		c.Sees("› "+q.Name+" ", fmt.Sprintf("WORKLOADS %d pending, %d reserving, %d of them admitted", q.Pending, q.Reserving, q.Admitted))
		for _, r := range q.Resources {
			if r.Available == nil || r.Potential == nil || !r.InSpec {
				continue // in a cycle no number is shown
			}
			// Between the nominal quota and the use stand the two limits.
			c.Sees(fmt.Sprintf("%s %s %s", r.Flavor, r.Resource, r.Nominal), fmt.Sprintf("%s %s %s %s", *r.Reserved, *r.Borrowed, *r.Available, *r.Potential))
		}
		if q.Active != nil && !*q.Active {
			if s := seat.Squeeze(c.Text()); strings.Contains(s, "STATE open") {
				c.T.Errorf("%s is not active, the screen says:\n%s", q.Name, c.Text())
			}
		}
		c.press(escape)
		c.Sees("CLUSTERQUEUE / LOCAL")
	}
}

func (c *console) workloadsAgree(d document) {
	c.T.Helper()
	c.press("4")
	c.Sees("NAMESPACE")
	for _, w := range d.Workloads {
		job := w.Name
		if w.Owner != nil {
			job = w.Owner.Name
		}
		c.cursorOn(w.Namespace + " " + job + " ")
		c.press(enter)
		c.Sees("› "+w.Namespace+"/"+job, strings.ToUpper(w.State), seat.Squeeze("WHY "+w.Explanation))
		if w.Position != nil {
			c.Sees(fmt.Sprintf("PLACE number %d of", *w.Position))
		}
		c.press(escape)
		c.Sees("NAMESPACE")
	}
}
