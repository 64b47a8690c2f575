package session

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/bundle"
	"cli.holdfast.dev/holdfast/model/compare"
)

// write makes a file of a new folder.
func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "export.tar.gz")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Whatever is held against the cluster has the checksum of what the session exported,
// and what it belongs to is looked at before that.
func TestChecksumOfTheExport(t *testing.T) {
	other := bundle.Manifest{Scope: bundle.Scope{Cohort: "other"}, ClusterUID: "uid-1"}
	tests := map[string]struct {
		content  string
		manifest bundle.Manifest
		recorded string // by the session
		refused  string
		line     string
	}{
		"the same file":                {content: "bundle", manifest: ofPool, recorded: sumOf("bundle")},
		"an altered one":               {content: "bundle!", manifest: ofPool, recorded: sumOf("bundle"), refused: "SHA-256 is " + sumOf("bundle!") + ", that of the export which this session made is " + sumOf("bundle")},
		"of another cohort":            {content: "bundle!", manifest: other, recorded: sumOf("bundle"), refused: "it is of Cohort other"},
		"of a session that knows none": {content: "bundle!", manifest: ofPool, line: "unknown: the session has no checksum of its export"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := &exporter{fake: newFake(), dir: t.TempDir()}
			r := runnerOf(t, f, t.TempDir())
			s := until(t, r, begun(t, r), Compare)
			if s.BundleSHA256 != sumOf("bundle") {
				t.Fatalf("the session has checksum %q, want that of the export, %s", s.BundleSHA256, sumOf("bundle"))
			}
			s.BundleSHA256 = tt.recorded
			if err := r.Store.Save(s); err != nil {
				t.Fatal(err)
			}
			read := Exported{tt.manifest, sumOf(tt.content)}
			r.Verify = func(string) (Exported, error) { return read, nil }
			r.Compare = func(context.Context, string) (compare.Result, Exported, error) { return compare.Result{}, read, nil }
			path := write(t, tt.content)
			p, compared := r.Prepare(t.Context(), s, Compare)
			s, named := r.Bundle(s, path)
			for how, err := range map[string]error{"compared": compared, "named": named} {
				var problem *actions.Problem
				switch {
				case tt.refused == "" && err != nil:
					t.Errorf("%s: %v", how, err)
				case tt.refused != "" && (!errors.As(err, &problem) || !strings.Contains(problem.What, tt.refused) || problem.Do == ""):
					t.Errorf("%s: %v, want %q", how, err, tt.refused)
				}
			}
			if tt.line != "" && !slices.ContainsFunc(p.Lines, func(l string) bool { return strings.Contains(l, tt.line) }) {
				t.Errorf("lines %q, want %q", p.Lines, tt.line)
			}
			if diff := cmp.Diff(tt.recorded, s.BundleSHA256); diff != "" {
				t.Errorf("the session's checksum (-want +got):\n%s", diff)
			}
			if tt.refused == "" && !strings.Contains(s.History[len(s.History)-1].Text, sumOf(tt.content)) {
				t.Errorf("the history does not say which file was named: %+v", s.History)
			}
		})
	}
}

// The checksum goes with its file: a second export has its own, and one that came to
// nothing leaves that of the first. What was interrupted is read from the disk.
func TestChecksumOfAnExportThatIsDoneAgain(t *testing.T) {
	tests := map[string]struct {
		die   string
		fails error
		want  string
	}{
		"done":                       {want: sumOf("second")},
		"refused":                    {fails: errors.New("no space left on the disk"), want: sumOf("bundle")},
		"killed before it":           {die: "before export export", want: sumOf("bundle")},
		"killed when it was on disk": {die: "after export export", want: sumOf("second")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := &exporter{fake: newFake(), dir: t.TempDir()}
			r := runnerOf(t, f, t.TempDir())
			s := until(t, r, begun(t, r), Fix)
			f.content, f.fails = "second", tt.fails
			f.die = func(at string) {
				if at == tt.die {
					panic(killed{at})
				}
			}
			func() {
				defer func() { _ = recover() }()
				_, _ = again(t, r, s, Export)
			}()
			s, err := r.Store.Load(s.ID)
			if err != nil {
				t.Fatal(err)
			}
			if s, err = r.Recover(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{tt.want, ""}, []string{s.BundleSHA256, s.EarlierBundleSHA256}); diff != "" {
				t.Errorf("checksums (-want +got):\n%s", diff)
			}
		})
	}
}

// It is handed over, stands in the incident record, and a session from before there
// was one is read and says that it has none.
func TestChecksumIsKept(t *testing.T) {
	f := &exporter{fake: newFake(), dir: t.TempDir()}
	r := runnerOf(t, f, t.TempDir())
	s := until(t, r, begun(t, r), Fix)
	raw, err := encode(s)
	if err != nil {
		t.Fatal(err)
	}
	field := `  "bundleSHA256": "` + sumOf("bundle") + "\",\n"
	if !bytes.Contains(raw, []byte(field)) {
		t.Fatalf("the file has no %s:\n%s", field, raw)
	}
	tests := map[string]struct{ file, sum, summary string }{
		"as it is":    {string(raw), sumOf("bundle"), "| export's SHA-256 | " + sumOf("bundle") + " |"},
		"from before": {strings.Replace(string(raw), field, "", 1), "", "| export's SHA-256 | unknown: the session does not have it |"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Decode(strings.NewReader(tt.file))
			if err != nil {
				t.Fatal(err)
			}
			theirs := runnerOf(t, f, t.TempDir())
			if got, err = theirs.Import(got, "uid-1", "https://server"); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "session.json")
			if err := WriteNew(path, got); err != nil {
				t.Fatal(err)
			}
			if got, err = readFile(path); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.sum, got.BundleSHA256); diff != "" {
				t.Errorf("checksum (-want +got):\n%s", diff)
			}
			if text := Summary(got); !strings.Contains(text, tt.summary) {
				t.Errorf("the summary does not say %q:\n%s", tt.summary, text)
			}
		})
	}
	odd := strings.Replace(string(raw), sumOf("bundle"), "0123", 1)
	if _, err := Decode(strings.NewReader(odd)); err == nil || !strings.Contains(err.Error(), "no SHA-256") {
		t.Errorf("a checksum that is none: %v", err)
	}
}
