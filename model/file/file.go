// Package file reads a file of Kubernetes objects, or a bundle of such files, and
// makes of it what package live makes of a cluster: a snapshot of rows, and lists
// of events, pods and nodes.
//
// Objects come in JSON or YAML: as one v1 List or a list of one kind (kubectl get
// -o json, the API server's own answer), one behind the other, or as the document
// that the console's export writes; plain or packed with gzip. A bundle is such an
// export, or a tar of files. JSON is read item by item, so that memory grows with
// the rows and not with the file; a YAML document is held as a whole.
//
// A file tells less than a cluster: what it does not hold may still exist.
// Freshness says of which kinds the rows are all there is, and World.Notes what
// the reader of a report has to know of the file.
package file

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"cli.holdfast.dev/holdfast/model/bundle"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// World is what a file holds.
type World struct {
	Snapshot *store.Snapshot
	// Events are in the order of time, Pods and Nodes in that of their names.
	Events []world.Event
	Pods   []world.Pod
	Nodes  []world.Node
	// HasPods and HasNodes are set where the file speaks of pods and nodes at all:
	// without them nothing is known.
	HasPods, HasNodes bool
	// Manifest is the bundle's; nil where there is none.
	Manifest *bundle.Manifest
	// SHA256 is the checksum of the whole file as hex digits.
	SHA256 string
	// Type is "file", or "bundle" for an export and for a tar.
	Type string
	// Notes are sentences on what was not read, or not as it stands, and on what the
	// file leaves open.
	Notes []string
}

// The types of a World.
const (
	typeFile   = "file"
	typeBundle = "bundle"
)

// save is the advice that fits most trouble.
const save = "Save the objects with: kubectl get clusterqueues,localqueues,cohorts,workloads,resourceflavors,admissionchecks,workloadpriorityclasses,topologies,namespaces -A -o json"

// Open reads the file of the path; "-" is standard input. now is the time of the
// snapshot. It blocks for as long as the reading takes. An error names the file
// and says what to do.
func Open(path string, now time.Time) (*World, error) {
	if path == "-" {
		return Read(os.Stdin, "standard input", now)
	}
	name := text.Clean(path)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file %s: look at the name: %w", name, fs.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be opened: look at its permissions: %w", name, cause(err))
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a directory. Name a file in it, or pack it: tar czf bundle.tgz %s", name, name)
	}
	return Read(f, path, now)
}

// cause takes the path, which is named already, out of an error of package os.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// Read reads r to its end; name is how errors call it. now is the time of the
// snapshot. It blocks for as long as r does. It fails where r as a whole cannot be
// trusted (cut off, damaged, no text) or holds nothing of Kueue that can be read;
// the error says what to do. An object that cannot be read by itself is a note and
// does not hide the others.
func Read(r io.Reader, name string, now time.Time) (*World, error) {
	b := newBuilder()
	p := newPipe(b.take)
	sum := sha256.New()
	r = io.TeeReader(r, sum)
	typ, err := contents(r, p, b)
	p.close()
	if err == nil {
		err = b.failure()
	}
	if err == nil {
		// What stands behind the objects belongs to the file, too.
		_, err = io.Copy(io.Discard, r)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be used: %w", text.Clean(name), advised(err))
	}
	w := b.world(typ, now)
	w.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return w, nil
}

// contents unpacks r and puts its objects into the pipe. It returns the type of
// the file.
func contents(r io.Reader, p *pipe, b *builder) (string, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := bundle.Unpack(in)
		if err != nil {
			return "", err
		}
		in = bufio.NewReaderSize(z, 64<<10)
	}
	if block, _ := in.Peek(512); len(block) == 512 && bytes.Equal(block[257:262], []byte("ustar")) {
		if err := readTar(tar.NewReader(in), p, b); err != nil {
			return "", err
		}
		_, err := io.Copy(io.Discard, in) // to the end: there stands gzip's checksum
		return typeBundle, err
	}
	t := textReader{pipe: p, take: b.take}
	return typeFile, t.open(in)
}

// open looks whether in holds text at all and reads it.
func (t *textReader) open(in *bufio.Reader) error {
	begin, err := in.Peek(512)
	if len(begin) == 0 && err != io.EOF {
		return err
	}
	switch {
	case bytes.HasPrefix(begin, []byte{0xff, 0xfe}), bytes.HasPrefix(begin, []byte{0xfe, 0xff}):
		return errUTF16
	case bytes.IndexByte(begin, 0) >= 0:
		return errNoText
	case bytes.HasPrefix(begin, []byte("\xef\xbb\xbf")):
		_, _ = in.Discard(3) // a byte order mark; just seen
	}
	return t.read(in)
}

const (
	errUTF16  textError = "it is UTF-16, as PowerShell's > writes it. Save it as UTF-8: kubectl get ... -o json | Out-File -Encoding utf8 objects.json"
	errNoText textError = "it is neither JSON nor YAML, plain or packed with gzip. " + save
)

// advised puts trouble with reading into words that say what to do.
func advised(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("it was cut off: copy or save it again: %w", err)
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.Is(err, tar.ErrHeader):
		return fmt.Errorf("it is damaged: copy or save it again: %w", err)
	}
	return cause(err)
}
