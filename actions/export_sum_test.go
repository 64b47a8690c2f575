package actions

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/model/bundle"
	"cli.holdfast.dev/holdfast/model/file"
)

// Whoever reads an export finds the checksum that its making told, and so does
// everybody with sha256sum.
func TestChecksumOfAnExport(t *testing.T) {
	s := newAPIServer(t)
	putWorkloads(s, 700)
	d := desk(t, s, nil)
	p, err := d.PlanExport(t.Context(), Scope{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Execute(t.Context(), p, "y")
	if err != nil || !r.OK() {
		t.Fatalf("%+v, %v", r, err)
	}
	raw, err := os.ReadFile(p.Export.Path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(raw)
	want := hex.EncodeToString(sum[:])
	_, verified, err := bundle.VerifySum(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	w, err := file.Open(p.Export.Path, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{want, want, want}, []string{r.Objects[0].SHA256, verified, w.SHA256}); diff != "" {
		t.Errorf("told, verified, opened (-want +got):\n%s", diff)
	}
}

// What does not change the objects changes the checksum.
func TestChecksumOfAPackedAnew(t *testing.T) {
	s := newAPIServer(t)
	putWorkloads(s, 3)
	d := desk(t, s, nil)
	p, err := d.PlanExport(t.Context(), Scope{})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := d.Execute(t.Context(), p, "y"); err != nil || !r.OK() {
		t.Fatalf("%+v, %v", r, err)
	}
	raw, err := os.ReadFile(p.Export.Path)
	if err != nil {
		t.Fatal(err)
	}
	m, before, err := bundle.VerifySum(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	raw[4] ^= 1 // the time in gzip's header, which nothing else covers
	after, sum, err := bundle.VerifySum(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, after); diff != "" || sum == before {
		t.Errorf("checksum %s, before %s (-manifest before +after):\n%s", sum, before, diff)
	}
}
