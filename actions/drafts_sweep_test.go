package actions

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/actions/lock"
)

// A program that is killed between the two files of a draft leaves half of one, in which
// there is nothing of a person's: the next edit of whatever object takes it away. What
// has a text, or is being made elsewhere, stays.
func TestHalfADraftIsRemoved(t *testing.T) {
	const name = "clusterqueue-other-1.yaml"
	tests := map[string]struct {
		files map[string]string
		held  string // by another process
		want  []string
	}{
		"killed when its name was taken":   {files: map[string]string{name + ".base": ""}},
		"killed before the text":           {files: map[string]string{name + ".base": `{"original":"x","object":{}}`}},
		"killed before the base was whole": {files: map[string]string{name + ".base": "", name + ".base.new": `{"ori`}},
		"killed with the new base alone":   {files: map[string]string{name + ".base.new": `{"ori`}},
		"another process has it":           {files: map[string]string{name + ".base": ""}, held: name + ".base", want: []string{name + ".base"}},
		"another process renews it":        {files: map[string]string{name + ".base.new": ""}, held: name + ".base.new", want: []string{name + ".base.new"}},
		"with a text":                      {files: map[string]string{name: "mine", name + ".base": ""}, want: []string{name, name + ".base"}},
		"with a text, and killed renewing": {files: map[string]string{name: "mine", name + ".base": "{}", name + ".base.new": ""}, want: []string{name, name + ".base", name + ".base.new"}},
		"a text alone":                     {files: map[string]string{name: "mine"}, want: []string{name}},
		"a file that is none of a draft's": {files: map[string]string{"notes.base": "", "x.yaml": ""}, want: []string{"notes.base", "x.yaml"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			putQueue(s, "None", "")
			d := desk(t, s, nil)
			dir := d.opts.DraftDir
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			for f, text := range tt.files {
				if err := os.WriteFile(filepath.Join(dir, f), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if tt.held != "" { // a lock of another open file is as one of another process
				unlock, err := lock.Try(filepath.Join(dir, tt.held), false)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = unlock() }()
			}
			dr, err := d.OpenEdit(t.Context(), queueRef)
			if err != nil {
				t.Fatal(err)
			}
			left := filesIn(t, dir)
			for _, own := range []string{dr.Path, dr.Path + baseSuffix} {
				if !slices.Contains(left, filepath.Base(own)) {
					t.Errorf("%s is not there: %q", own, left)
				}
				left = slices.DeleteFunc(left, func(f string) bool { return f == filepath.Base(own) })
			}
			slices.Sort(tt.want)
			if diff := cmp.Diff(append([]string{}, tt.want...), left); diff != "" {
				t.Errorf("beside the draft (-want +got):\n%s", diff)
			}
			if err := d.CloseDraft(dr); err != nil {
				t.Fatal(err)
			}
			for _, f := range slices.Sorted(maps.Keys(tt.files)) {
				raw, err := os.ReadFile(filepath.Join(dir, f))
				if slices.Contains(tt.want, f) && (err != nil || string(raw) != tt.files[f]) {
					t.Errorf("%s is %q, %v", f, raw, err)
				}
			}
		})
	}
}

// While a draft is being made, nobody takes its first file for half a draft.
func TestADraftInTheMakingStays(t *testing.T) {
	s := newAPIServer(t)
	putQueue(s, "None", "")
	d := desk(t, s, nil)
	dir := d.opts.DraftDir
	const n = 20
	errs := make(chan error, 2*n)
	for range n {
		go func() {
			var other drafts // as another process has them
			other.left(dir, "another")
			errs <- nil
		}()
		go func() {
			dr, err := d.OpenEdit(t.Context(), queueRef)
			if err == nil {
				_, err = readDraft(dr.Path)
			}
			if err == nil && !d.drafts.holds(dr.Path) {
				err = errors.New("it is not held")
			}
			errs <- err
		}()
	}
	for range 2 * n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if files := filesIn(t, dir); len(files) != 2*n {
		t.Errorf("%d files of %d drafts: %q", len(files), n, files)
	}
}

func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, f := range all {
		out = append(out, f.Name())
	}
	return out
}
