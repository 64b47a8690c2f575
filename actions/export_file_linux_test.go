package actions

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// A real disk that is full: the kernel refuses to let files grow.
func TestFilesThatMayNotGrow(t *testing.T) {
	const alone = "HOLDFAST_TEST_ALONE"
	if os.Getenv(alone) == "" {
		// The limit is one of the whole process: others write files, too.
		c := exec.Command(os.Args[0], "-test.run=^TestFilesThatMayNotGrow$")
		c.Env = append(os.Environ(), alone+"=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	s := newAPIServer(t)
	putWorkloads(s, 500)
	d := desk(t, s, nil)
	p, err := d.PlanExport(t.Context(), Scope{})
	if err != nil {
		t.Fatal(err)
	}
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	t.Cleanup(func() { signal.Reset(syscall.SIGXFSZ) })
	limit := was
	limit.Cur = 4 << 10 // the journal needs less
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	r, err := d.Execute(t.Context(), p, "y")
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	if err != nil || r.Objects[0].Outcome != NotDone || !strings.Contains(r.Objects[0].Detail, "file too large. Nothing is left of it. Make room") {
		t.Errorf("%+v, %v", r, err)
	}
	onlyFile(t, d.opts.ExportDir)
}

// While it is written an export has no name at all here: whoever is killed leaves
// nothing.
func TestNothingHasAName(t *testing.T) {
	dir := t.TempDir()
	u, err := newUnpublished(dir)
	if err != nil {
		t.Fatal(err)
	}
	if u.temporary != "" {
		t.Skip("the file system has no files without a name")
	}
	onlyFile(t, dir)
	if err := u.discard(); err != nil {
		t.Error(err)
	}
	if _, err := u.Write(nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("it is not closed: %v", err)
	}
}
