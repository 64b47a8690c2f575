package bundle

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
)

// ErrBomb is what Unpack's reader ends with where the data is made to fill a disk or
// memory.
var ErrBomb = errors.New("it unpacks to more than any objects do: it is no file to trust")

// Deflate stores 258 bytes in two bits at best, but only where a few bytes repeat
// without end; objects, which have names, times and UIDs, stay below 130 bytes for
// one. The rule holds from so many unpacked bytes on.
const (
	mostRatio = 500
	bombFrom  = 64 << 20
)

// Unpack returns a reader of what r has packed with gzip. It blocks for as long as r
// does.
func Unpack(r io.Reader) (io.Reader, error) {
	u := &unpacker{}
	gz, err := gzip.NewReader(&counted{r, &u.read})
	if err != nil {
		return nil, err
	}
	u.gz = gz
	return u, nil
}

type unpacker struct {
	gz           *gzip.Reader
	read, opened int64
}

// Read implements io.Reader.
func (u *unpacker) Read(p []byte) (int, error) {
	n, err := u.gz.Read(p)
	u.opened += int64(n)
	if u.opened > bombFrom && u.opened/mostRatio > u.read {
		return n, ErrBomb
	}
	return n, err
}

type counted struct {
	r io.Reader
	n *int64
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	*c.n += int64(n)
	return n, err
}

// Meter measures the file that is written to it: its size, checksum and number of
// YAML documents. It never fails.
type Meter struct {
	sum  hash.Hash
	size int64
	part []byte // the beginning of the last line, not longer than what could part documents
	docs int
}

// NewMeter returns a Meter of an empty file.
func NewMeter() *Meter { return &Meter{sum: sha256.New()} }

// Write implements io.Writer. A YAML file has a document more than it has lines that
// part them.
func (m *Meter) Write(p []byte) (int, error) {
	m.sum.Write(p)
	if m.size == 0 && len(p) > 0 {
		m.docs = 1
	}
	m.size += int64(len(p))
	const parts = len(separator) - 1 // without the end of the line
	for rest := p; len(rest) > 0; {
		i := bytes.IndexByte(rest, '\n')
		line := rest
		if i >= 0 {
			line = rest[:i]
		}
		if room := parts + 1 - len(m.part); room > 0 {
			m.part = append(m.part, line[:min(room, len(line))]...)
		}
		if i < 0 {
			break
		}
		if string(m.part) == separator[:parts] {
			m.docs++
		}
		m.part, rest = m.part[:0], rest[i+1:]
	}
	return len(p), nil
}

// File is what was measured, under the name.
func (m *Meter) File(name string) File {
	return File{Name: name, Size: m.size, SHA256: hex.EncodeToString(m.sum.Sum(nil)), Objects: m.docs}
}
