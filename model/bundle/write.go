package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"sigs.k8s.io/yaml"
)

// Writer writes a bundle file by file. It holds one file at a time. After an error
// what was written is no bundle, and every further call fails with the same error.
// One goroutine at a time uses it.
type Writer struct {
	gz    *gzip.Writer
	tar   *tar.Writer
	at    time.Time
	files []File
	names map[string]bool
	err   error
}

// NewWriter returns a Writer to w. at becomes the time of the files.
func NewWriter(w io.Writer, at time.Time) *Writer {
	gz := gzip.NewWriter(w)
	return &Writer{gz: gz, tar: tar.NewWriter(gz), at: at, names: map[string]bool{}}
}

// Objects writes a file of YAML documents, one for each object as decoded from the
// server's JSON. Fields come in the order of their names.
func (w *Writer) Objects(name string, objects []map[string]any) error {
	var b bytes.Buffer
	for i, o := range objects {
		if i > 0 {
			b.WriteString(separator)
		}
		text, err := document(o)
		if err != nil {
			return w.fail(fmt.Errorf("object %d of %s cannot be written as YAML: %w", i+1, name, err))
		}
		b.Write(text)
	}
	return w.add(name, int64(b.Len()), &b, len(objects))
}

// document is the object as a YAML document. The library refuses or loses characters
// that the API server stores (DEL, NEL and others): an object with such is written as
// JSON, which is YAML, too, with those characters escaped.
func document(o map[string]any) ([]byte, error) {
	raw, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	if !bytes.ContainsFunc(raw, odd) && !bytes.Contains(raw, []byte(`\u202`)) {
		return yaml.JSONToYAML(raw)
	}
	var b bytes.Buffer
	for _, r := range string(raw) {
		if odd(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// odd reports whether YAML gives the character a meaning of its own, or none.
// json.Marshal has escaped U+2028 and U+2029 already.
func odd(r rune) bool { return r >= 0x7f && r < 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff }

// separator stands between two YAML documents. No line of a document that
// yaml.Marshal wrote of a map is equal to it.
const separator = "---\n"

// File writes a file of so many bytes that holds no objects.
func (w *Writer) File(name string, size int64, body io.Reader) error {
	return w.add(name, size, body, 0)
}

func (w *Writer) add(name string, size int64, body io.Reader, objects int) error {
	if w.err != nil {
		return w.err
	}
	if err := goodName(name); err != nil {
		return w.fail(err)
	}
	if w.names[name] || name == ManifestName {
		return w.fail(fmt.Errorf("%s is written twice", name))
	}
	w.names[name] = true
	sum := sha256.New()
	if err := w.member(name, size, io.TeeReader(body, sum)); err != nil {
		return err
	}
	w.files = append(w.files, File{Name: name, Size: size, SHA256: hex.EncodeToString(sum.Sum(nil)), Objects: objects})
	return nil
}

func (w *Writer) member(name string, size int64, body io.Reader) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: size, ModTime: w.at.UTC().Truncate(time.Second), Format: tar.FormatPAX}
	if err := w.tar.WriteHeader(h); err != nil {
		return w.fail(err)
	}
	if n, err := io.Copy(w.tar, body); err != nil {
		return w.fail(err)
	} else if n != size {
		return w.fail(fmt.Errorf("%s has %d bytes and not %d", name, n, size))
	}
	return nil
}

func (w *Writer) fail(err error) error {
	w.err = errors.Join(w.err, err)
	return w.err
}

// Close writes the manifest, with the files filled in, and the end of the bundle,
// and returns the manifest as written. It does not close what the Writer writes to.
func (w *Writer) Close(m Manifest) (Manifest, error) {
	if w.err != nil {
		return m, w.err
	}
	m.APIVersion, m.Kind, m.Files = APIVersion, Kind, w.files
	if m.Lists == nil {
		m.Lists = []List{}
	}
	if m.Unread == nil {
		m.Unread = []Unread{}
	}
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return m, w.fail(err)
	}
	if len(raw) > longestManifest {
		return m, w.fail(fmt.Errorf("its manifest would be longer than %d bytes: export a smaller scope", longestManifest))
	}
	raw = append(raw, '\n')
	if err := w.member(ManifestName, int64(len(raw)), bytes.NewReader(raw)); err != nil {
		return m, err
	}
	if err := errors.Join(w.tar.Close(), w.gz.Close()); err != nil {
		return m, w.fail(err)
	}
	w.err = errors.New("the bundle is closed")
	return m, nil
}
