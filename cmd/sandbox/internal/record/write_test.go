package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sample() *Record {
	return &Record{
		files:   map[string][]byte{"pods.v1.yaml": []byte("pods"), "visibility/v1beta2/clusterqueues/a.json": []byte("a")},
		objects: []any{map[string]any{"kind": "Pod"}},
	}
}

// tree returns the content of every file below a folder, by relative path.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		rel, err2 := filepath.Rel(root, path)
		if err2 != nil {
			return err2
		}
		got[rel] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestWriteDir(t *testing.T) {
	tmp := t.TempDir()
	if err := os.Mkdir(filepath.Join(tmp, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, dir := range []string{"new", "empty", "deep/er", "slash/"} {
		if err := sample().WriteDir(tmp + "/" + dir); err != nil {
			t.Fatalf("%s: %v", dir, err)
		}
		want[filepath.Join(dir, "pods.v1.yaml")] = "pods"
		want[filepath.Join(dir, "visibility/v1beta2/clusterqueues/a.json")] = "a"
	}
	if diff := cmp.Diff(want, tree(t, tmp)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestWriteFile(t *testing.T) {
	tmp := t.TempDir()
	if err := sample().WriteFile(filepath.Join(tmp, "deep", "world.yaml")); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"deep/world.yaml": "apiVersion: v1\nitems:\n- kind: Pod\nkind: List\nmetadata:\n  resourceVersion: \"\"\n"}
	if diff := cmp.Diff(want, tree(t, tmp)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestWriteRefuses: what is there stays as it was, and nothing half-written stays beside it.
func TestWriteRefuses(t *testing.T) {
	tmp := t.TempDir()
	if err := os.WriteFile(filepath.Join(tmp, "mine.yaml"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		err  error
		says string
	}{
		"a folder with files":   {sample().WriteDir(tmp), "is not empty; name a folder that does not exist yet"},
		"a file for a folder":   {sample().WriteDir(filepath.Join(tmp, "mine.yaml")), "name a folder that does not exist yet"},
		"a file that is there":  {sample().WriteFile(filepath.Join(tmp, "mine.yaml")), "is there already; name a file that does not exist yet"},
		"a folder for a file":   {sample().WriteFile(tmp), "is there already"},
		"a file for the parent": {sample().WriteDir(filepath.Join(tmp, "mine.yaml", "x")), "not a directory"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("%s: error %v, want %q", name, c.err, c.says)
		}
	}
	if diff := cmp.Diff(map[string]string{"mine.yaml": "mine"}, tree(t, tmp)); diff != "" {
		t.Errorf("files after (-want +got):\n%s", diff)
	}
}

// TestWriteDirLeavesNothingHalf fails in the middle: a file is in the way of a folder.
func TestWriteDirLeavesNothingHalf(t *testing.T) {
	tmp := t.TempDir()
	r := &Record{files: map[string][]byte{"a": []byte("a"), "a/b": []byte("b")}}
	if err := r.WriteDir(filepath.Join(tmp, "new")); err == nil {
		t.Error("no error")
	}
	entries, err := os.ReadDir(tmp)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
}
