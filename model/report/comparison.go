package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/bundle"
	"cli.holdfast.dev/holdfast/model/compare"
	"cli.holdfast.dev/holdfast/model/world"
)

// KindComparison is the kind of the document about what became of an export.
const KindComparison = "Comparison"

// Comparison is the document about what became of the Workloads of an export.
type Comparison struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Source     Source   `json:"source"`
	Compare    Compared `json:"compare"`
}

// Compared is what became of them. Workloads are NAMESPACE/NAME.
type Compared struct {
	Scope string `json:"scope"`
	// Then is when the export was read.
	Then time.Time `json:"then"`
	Same []string  `json:"same"`
	// Running is how many of Same hold quota.
	Running    int          `json:"running"`
	Evicted    []Moved      `json:"evicted"`
	Readmitted []Moved      `json:"readmitted"`
	Started    []Moved      `json:"started"`
	Stopped    []Moved      `json:"deactivated"`
	Lost       []Moved      `json:"lost"`
	Finished   []string     `json:"finished"`
	New        []string     `json:"new"`
	Specs      []SpecChange `json:"specChanges"`
	// Kept is true where nobody was evicted, even for a while, nobody is gone, and the
	// specs are as they were, false where one of these is known not to hold; else null.
	Kept    *bool    `json:"kept"`
	Unknown []string `json:"unknown"`
}

// Moved is what became of one Workload. Flavors are text by resource; null where it
// held or holds none.
type Moved struct {
	Workload string  `json:"workload"`
	Job      string  `json:"job"`
	Before   *string `json:"flavorsBefore"`
	After    *string `json:"flavorsAfter"`
	Note     string  `json:"note"`
}

// SpecChange is an object whose spec differs; diff is null where it came or went.
type SpecChange struct {
	Object string  `json:"object"`
	Note   string  `json:"note"` // changed, new or gone
	Diff   *string `json:"diff"`
}

// ComparisonOf is the document of a comparison of the bundle's state with what in
// holds. It does not block.
func ComparisonOf(in Input, m *bundle.Manifest, r *compare.Result) *Comparison {
	c := Compared{
		Scope: m.ScopeText, Then: m.Ended, Same: keys(r.Same), Running: r.Running,
		Evicted: moved(r.Evicted), Readmitted: moved(r.Readmitted), Started: moved(r.Started), Stopped: moved(r.Stopped), Lost: moved(r.Lost),
		Finished: keys(r.Finished), New: keys(r.New), Specs: []SpecChange{}, Unknown: append([]string{}, r.Unknown...),
	}
	if v := r.Verdict(); v != compare.Unknown {
		kept := v == compare.Kept
		c.Kept = &kept
	}
	for _, s := range r.Specs {
		x := SpecChange{Object: s.Object, Note: s.Note}
		if len(s.Diff) > 0 {
			d := strings.Join(s.Diff, "\n")
			x.Diff = &d
		}
		c.Specs = append(c.Specs, x)
	}
	return &Comparison{APIVersion: APIVersion, Kind: KindComparison, Source: sourceOf(in), Compare: c}
}

func keys(refs []world.Ref) []string {
	out := []string{}
	for _, r := range refs {
		out = append(out, r.Key.String())
	}
	return out
}

func moved(l []compare.Change) []Moved {
	out := []Moved{}
	for _, x := range l {
		out = append(out, Moved{Workload: x.Ref.Key.String(), Job: x.Job, Before: given(x.Before), After: given(x.After), Note: x.Note})
	}
	return out
}

// Text writes the comparison for a person: the answer first, then what needs one.
func (d *Comparison) Text(w io.Writer) error {
	var b strings.Builder
	c := &d.Compare
	switch {
	case c.Kept == nil:
		b.WriteString("Whether everything was kept is UNKNOWN.\n")
	case *c.Kept:
		b.WriteString("Everything was kept: nobody was evicted or lost, and no spec changed.\n")
	default:
		b.WriteString("NOT everything is as it was.\n")
	}
	fmt.Fprintf(&b, "%s, then %s, now %s\n", c.Scope, c.Then.UTC().Format(time.RFC3339), d.Source.ReadAt.UTC().Format(time.RFC3339))
	for _, u := range c.Unknown {
		fmt.Fprintf(&b, "  unknown: %s\n", u)
	}
	if len(c.Same)+len(c.Lost)+len(c.Evicted)+len(c.Readmitted)+len(c.Stopped)+len(c.Started)+len(c.Finished)+len(c.New) > 0 || len(c.Unknown) == 0 {
		fmt.Fprintf(&b, "  %d as they were, %d of them running on\n", len(c.Same), c.Running)
		for _, l := range []struct {
			words string
			list  []Moved
		}{{"LOST", c.Lost}, {"EVICTED", c.Evicted}, {"evicted and admitted again", c.Readmitted}, {"deactivated", c.Stopped}, {"started", c.Started}} {
			movedText(&b, l.words, l.list)
		}
		for _, l := range []struct {
			words string
			list  []string
		}{{"finished", c.Finished}, {"new", c.New}} {
			if len(l.list) > 0 {
				fmt.Fprintf(&b, "  %d %s: %s\n", len(l.list), l.words, strings.Join(l.list, ", "))
			}
		}
	}
	for _, s := range c.Specs {
		fmt.Fprintf(&b, "  spec of %s: %s\n", s.Object, s.Note)
		if s.Diff != nil {
			b.WriteString("    " + strings.ReplaceAll(*s.Diff, "\n", "\n    ") + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func movedText(b *strings.Builder, words string, l []Moved) {
	if len(l) == 0 {
		return
	}
	fmt.Fprintf(b, "  %d %s:\n", len(l), words)
	for _, x := range l {
		fmt.Fprintf(b, "    %s (job %s)", x.Workload, x.Job)
		switch {
		case x.Before != nil && x.After != nil && *x.Before != *x.After:
			fmt.Fprintf(b, ", %s -> %s", *x.Before, *x.After)
		case x.After != nil:
			fmt.Fprintf(b, ", %s", *x.After)
		case x.Before != nil:
			fmt.Fprintf(b, ", was on %s", *x.Before)
		}
		if x.Note != "" {
			b.WriteString(": " + x.Note)
		}
		b.WriteString("\n")
	}
}
