package bundle

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"cli.holdfast.dev/holdfast/model/text"
)

// longestManifest bounds what is held of a bundle that is verified, in bytes.
const longestManifest = 16 << 20

// mostFiles bounds how many files a bundle may have.
const mostFiles = 1 << 20

// Verify reads a bundle to its end and holds every file against the manifest: its
// checksum, its size, its number of YAML documents, and that nothing is missing,
// there twice, or there beside. It blocks for as long as r does and holds little more
// than the manifest in memory. The error says what is wrong and what to do; text in
// it is safe to draw.
func Verify(r io.Reader) (Manifest, error) {
	m, err := verify(r)
	switch {
	case err == nil:
		return m, nil
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		err = fmt.Errorf("it was cut off: copy it again: %w", err)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, tar.ErrHeader):
		err = fmt.Errorf("it is no bundle, or damaged: %w", err)
	case errors.Is(err, gzip.ErrChecksum):
		err = fmt.Errorf("it is damaged: copy it again: %w", err)
	}
	return Manifest{}, err
}

// VerifySum is Verify, and returns the SHA-256 of all that r gave as hex digits, what
// stands behind the bundle's end included. It blocks as Verify does, until r ends.
func VerifySum(r io.Reader) (Manifest, string, error) {
	sum := sha256.New()
	in := io.TeeReader(r, sum)
	m, err := Verify(in)
	if err == nil {
		_, err = io.Copy(io.Discard, in)
	}
	if err != nil {
		return Manifest{}, "", err
	}
	return m, hex.EncodeToString(sum.Sum(nil)), nil
}

func verify(r io.Reader) (Manifest, error) {
	var m Manifest
	gz, err := Unpack(bufio.NewReaderSize(r, 64<<10))
	if err != nil {
		return m, err
	}
	got := map[string]File{}
	found := false
	for t := tar.NewReader(gz); ; {
		h, err := t.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return m, err
		}
		name := text.Clean(h.Name)
		switch {
		case found:
			return m, fmt.Errorf("%s stands behind the manifest: the bundle was changed", name)
		case h.Typeflag != tar.TypeReg:
			return m, fmt.Errorf("%s is no file: the bundle was changed", name)
		case len(got) == mostFiles:
			return m, fmt.Errorf("it has more than %d files", mostFiles)
		}
		if err := goodName(h.Name); err != nil {
			return m, errors.New(text.Clean(err.Error()))
		}
		if h.Name == ManifestName {
			if err := readManifest(t, &m); err != nil {
				return m, err
			}
			found = true
			continue
		}
		if _, twice := got[h.Name]; twice {
			return m, fmt.Errorf("%s is in it twice: the bundle was changed", name)
		}
		meter := NewMeter()
		if _, err := io.Copy(meter, t); err != nil {
			return m, err
		}
		got[h.Name] = meter.File(h.Name)
	}
	if !found {
		return m, errors.New("it has no manifest.json at its end: it is no bundle of holdfast's, or was cut off")
	}
	// To the end, where gzip's own checksum stands.
	if rest, err := io.Copy(io.Discard, io.LimitReader(gz, 1<<20)); err != nil {
		return m, err
	} else if rest == 1<<20 {
		return m, errors.New("there is more behind its end: the bundle was changed")
	}
	return m, m.Check(got)
}

func readManifest(r io.Reader, m *Manifest) error {
	raw, err := io.ReadAll(io.LimitReader(r, longestManifest+1))
	if err != nil {
		return err
	}
	if len(raw) > longestManifest {
		return fmt.Errorf("its manifest is longer than %d bytes: it is no bundle of holdfast's", longestManifest)
	}
	if err := json.Unmarshal(raw, m); err != nil {
		return fmt.Errorf("its manifest cannot be read: %s", text.Clean(err.Error()))
	}
	if !m.Ours() {
		return fmt.Errorf("its manifest is of %s %s, not of %s %s: use the version of holdfast that made it", text.Clean(m.APIVersion), text.Clean(m.Kind), APIVersion, Kind)
	}
	return nil
}

// Check holds the files of a bundle, by name, against what the manifest says of them.
// The error says what is wrong and what to do; text in it is safe to draw.
func (m *Manifest) Check(got map[string]File) error {
	listed := map[string]bool{}
	for _, want := range m.Files {
		name := text.Clean(want.Name)
		f, ok := got[want.Name]
		switch {
		case listed[want.Name]:
			return fmt.Errorf("its manifest lists %s twice", name)
		case !ok:
			return fmt.Errorf("%s, which its manifest lists, is not in it: copy or make it again", name)
		case !strings.EqualFold(f.SHA256, want.SHA256):
			return fmt.Errorf("the checksum of its %s is %s, its manifest says %s: it was changed or damaged, copy or make it again", name, f.SHA256, text.Clean(want.SHA256))
		case f.Size != want.Size:
			return fmt.Errorf("its %s has %d bytes, its manifest says %d", name, f.Size, want.Size)
		case want.Objects > 0 && f.Objects != want.Objects:
			return fmt.Errorf("its %s holds %d objects, its manifest says %d", name, f.Objects, want.Objects)
		}
		listed[want.Name] = true
	}
	names := make([]string, 0, len(got))
	for name := range got {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if !listed[name] {
			return fmt.Errorf("%s is in it but not in its manifest: the bundle was changed", text.Clean(name))
		}
	}
	return nil
}
