package datadir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func claim(t *testing.T, path string) (*Folder, bool) {
	t.Helper()
	f, replaced, err := Claim(path)
	if err != nil {
		t.Fatal(err)
	}
	return f, replaced
}

func TestClaimMakesAPrivateFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "data")
	f, replaced := claim(t, path)
	if replaced {
		t.Error("a new folder was reported as replaced")
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o700 {
		t.Errorf("mode %o, want 700", got)
	}
	if pid, running, err := Running(path); err != nil || !running || pid != os.Getpid() {
		t.Errorf("Running = %d, %v, %v; want %d, true, nil", pid, running, err, os.Getpid())
	}
	if err := f.Release(); err != nil {
		t.Fatal(err)
	}
	if _, running, err := Running(path); err != nil || running {
		t.Errorf("Running after Release = %v, %v; want false, nil", running, err)
	}
}

func TestClaimRefusesARunningSandboxesFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	f, _ := claim(t, path)
	defer func() { _ = f.Release() }()
	_, _, err := Claim(path)
	var running *RunningError
	if !errors.As(err, &running) {
		t.Fatalf("second Claim: %v, want a RunningError", err)
	}
	if want := (RunningError{Path: path, PID: os.Getpid()}); *running != want {
		t.Errorf("got %+v, want %+v", *running, want)
	}
}

func TestClaimLeavesAForeignFolderUntouched(t *testing.T) {
	path := t.TempDir()
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "thesis.txt"), []byte("years of work"), 0o644); err != nil {
		t.Fatal(err)
	}
	before := tree(t, path)
	_, _, err := Claim(path)
	var foreign *NotOursError
	if !errors.As(err, &foreign) {
		t.Fatalf("Claim: %v, want a NotOursError", err)
	}
	if diff := cmp.Diff(before, tree(t, path)); diff != "" {
		t.Errorf("the folder changed (-before +after):\n%s", diff)
	}
}

func TestClaimRefusesWhatIsNoFolder(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, link} {
		var foreign *NotOursError
		if _, _, err := Claim(path); !errors.As(err, &foreign) {
			t.Errorf("Claim(%s): %v, want a NotOursError", path, err)
		}
	}
	if _, _, err := Claim("relative"); err == nil {
		t.Error("Claim of a relative path succeeded")
	}
}

func TestClaimReplacesADeadSandboxesData(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	f, _ := claim(t, path)
	if err := os.WriteFile(f.Path("admin.kubeconfig"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.lock.Close(); err != nil { // what the kernel does when the process is killed
		t.Fatal(err)
	}
	f, replaced := claim(t, path)
	defer func() { _ = f.Release() }()
	if !replaced {
		t.Error("a dead sandbox's folder was not reported as replaced")
	}
	if _, err := os.Stat(f.Path("admin.kubeconfig")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("old data is still there (%v)", err)
	}
}

func TestReleaseKeepsOnlyLogs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	f, _ := claim(t, path)
	for _, name := range []string{f.Log("etcd"), f.Path("admin.kubeconfig")} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Release(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{marker: markerText, lockFile: "", logsDir: "", filepath.Join(logsDir, "etcd.log"): ""}
	if diff := cmp.Diff(want, tree(t, path)); diff != "" {
		t.Errorf("left over (-want +got):\n%s", diff)
	}
	f, replaced := claim(t, path)
	if replaced {
		t.Error("a folder released in good order was reported as a dead sandbox's")
	}
	if err := f.Release(); err != nil {
		t.Fatal(err)
	}
}

func TestRunningOfAMissingFolder(t *testing.T) {
	if _, running, err := Running(filepath.Join(t.TempDir(), "none")); running || err != nil {
		t.Errorf("Running = %v, %v; want false, nil", running, err)
	}
}

// tree returns the relative path and content of everything under root.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		var raw []byte
		if !d.IsDir() {
			raw, err = os.ReadFile(path)
		}
		got[rel] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}
