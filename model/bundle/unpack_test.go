package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A bomb ends before it has filled anything, however it is wrapped.
func TestBomb(t *testing.T) {
	zeros := func(w io.Writer, n int64) {
		if _, err := io.CopyN(w, zero{}, n); err != nil {
			t.Fatal(err)
		}
	}
	const big = bombFrom + bombFrom/2
	for name, fill := range map[string]func(*gzip.Writer){
		"zeros": func(gz *gzip.Writer) { zeros(gz, big) },
		"a file of zeros": func(gz *gzip.Writer) {
			w := tar.NewWriter(gz)
			if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "a.yaml", Size: big}); err != nil {
				t.Fatal(err)
			}
			zeros(w, big)
		},
	} {
		var b bytes.Buffer
		gz := gzip.NewWriter(&b)
		fill(gz)
		if err := gz.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := Unpack(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, r); !errors.Is(err, ErrBomb) || n > bombFrom+1<<20 {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
		if name == "a file of zeros" {
			if _, err := Verify(bytes.NewReader(b.Bytes())); !errors.Is(err, ErrBomb) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

type zero struct{}

func (zero) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// However the bytes are cut, a Meter counts the same, and what splitting by lines
// counts.
func TestMeter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := []byte(rapid.StringMatching(`(---\n|-|----\n|--- \n|a\n|\n)*`).Draw(t, "text"))
		m := NewMeter()
		for rest := raw; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			if _, err := m.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		want := File{Name: "x", Size: int64(len(raw)), SHA256: fmt.Sprintf("%x", sha256.Sum256(raw))}
		lines := strings.Split(string(raw), "\n")
		for _, l := range lines[:len(lines)-1] {
			if l == "---" {
				want.Objects++
			}
		}
		if len(raw) > 0 {
			want.Objects++
		}
		if d := cmp.Diff(want, m.File("x")); d != "" {
			t.Fatalf("(-want +got):\n%s", d)
		}
	})
}
