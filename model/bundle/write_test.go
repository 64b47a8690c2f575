package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// Every byte may be the last that is written: the Writer says so, and what is there
// is no bundle.
func TestWriterThatFails(t *testing.T) {
	noise := make([]byte, 60<<10) // does not fit the buffers of those who pack it
	rand.NewChaCha8([32]byte{}).Read(noise)
	write := func(to io.Writer) (objects, file, closed error) {
		w := NewWriter(to, noon)
		objects = w.Objects("a.yaml", []map[string]any{object("x", hex.EncodeToString(noise))})
		file = w.File(ReportName, 2, strings.NewReader("{}"))
		_, closed = w.Close(Manifest{})
		return objects, file, closed
	}
	var whole bytes.Buffer
	if err := errors.Join(write3(write(&whole))...); err != nil {
		t.Fatal(err)
	}
	early := 0
	for _, n := range offsets(whole.Len()) {
		f := &failing{left: n}
		objects, file, closed := write(f)
		if !errors.Is(closed, errFull) {
			t.Errorf("after byte %d: closed with %v", n, closed)
		}
		if objects != nil {
			early++
			if !errors.Is(file, errFull) {
				t.Errorf("after byte %d: %v, then the next file: %v", n, objects, file)
			}
		}
		if _, err := Verify(bytes.NewReader(f.got.Bytes())); err == nil {
			t.Errorf("the first %d of %d bytes are verified", n, whole.Len())
		}
	}
	if early == 0 {
		t.Error("no failure was noticed before the end: the test tests one place only")
	}
	if err := errors.Join(write3(write(&failing{left: whole.Len()}))...); err != nil {
		t.Errorf("with room for all: %v", err)
	}
}

func write3(a, b, c error) []error { return []error{a, b, c} }

// offsets are the first and last bytes of so many, and some between.
func offsets(n int) []int {
	var out []int
	for i := 0; i < n; i++ {
		if i < 12 || i > n-40 || i%(1+n/31) == 0 {
			out = append(out, i)
		}
	}
	return out
}

var errFull = errors.New("no space left on device")

// failing is a disk with so much room.
type failing struct {
	left int
	got  bytes.Buffer
}

func (f *failing) Write(p []byte) (int, error) {
	n := min(f.left, len(p))
	f.got.Write(p[:n])
	if f.left -= n; n < len(p) {
		return n, errFull
	}
	return n, nil
}

func TestWriterRefusesNames(t *testing.T) {
	for _, name := range []string{"", "/a", "../a", "a/../b", "a//b", `a\b`, "a\x00b", ManifestName} {
		w := NewWriter(io.Discard, noon)
		if err := w.File(name, 0, strings.NewReader("")); err == nil {
			t.Errorf("%q is taken", name)
		}
		if _, err := w.Close(Manifest{}); err == nil {
			t.Errorf("%q: closed as if nothing had been", name)
		}
	}
	w := NewWriter(io.Discard, noon)
	if err := errors.Join(w.File("a", 0, strings.NewReader("")), w.File("a", 0, strings.NewReader(""))); err == nil {
		t.Error("a name is taken twice")
	}
	w = NewWriter(io.Discard, noon)
	if err := w.File("a", 2, strings.NewReader("x")); err == nil {
		t.Error("a file is shorter than it was said to be")
	}
}

// Whatever the objects hold, they come back as they were, and as many.
func TestObjectsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`(---\n|- |: |\n|'|"|#|\x1b|\{|\}|a)*`))
		var in []map[string]any
		for range rapid.IntRange(1, 5).Draw(t, "n") {
			o := object(text.Draw(t, "name"), text.Draw(t, "text"))
			o["number"] = rapid.Int64().Draw(t, "number")
			in = append(in, o)
		}
		var b bytes.Buffer
		w := NewWriter(&b, noon)
		if err := w.Objects("x.yaml", in); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Close(Manifest{}); err != nil {
			t.Fatal(err)
		}
		m, err := Verify(bytes.NewReader(b.Bytes()))
		if err != nil || m.Files[0].Objects != len(in) {
			t.Fatalf("%+v, %v", m.Files, err)
		}
		gz, _ := gzip.NewReader(&b)
		r := tar.NewReader(gz)
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(r)
		docs := strings.Split(string(body), "\n"+separator)
		for i, doc := range docs {
			if i < len(docs)-1 {
				doc += "\n"
			}
			want, err := json.Marshal(in[i])
			if err != nil {
				t.Fatal(err)
			}
			got, err := yaml.YAMLToJSON([]byte(doc))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(decoded(t, want), decoded(t, got)); d != "" {
				t.Fatalf("(-want +got):\n%s", d)
			}
		}
	})
}

// decoded keeps numbers as they stand.
func decoded(t rapid.TB, raw []byte) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var out any
	if err := d.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}
