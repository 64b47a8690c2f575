package file

import (
	"archive/tar"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"cli.holdfast.dev/holdfast/model/bundle"
	"cli.holdfast.dev/holdfast/model/text"
)

// readTar reads every member of a tar that its name calls JSON or YAML. Names are
// only shown and compared, nothing is written. Where there is a manifest, every
// file that it lists has to be there, with the checksum that it states.
func readTar(r *tar.Reader, p *pipe, b *builder) error {
	sums := map[string]string{}
	var m *bundle.Manifest
	var dir string
	skipped := 0
	for {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		name := path.Clean("/" + h.Name)
		sum := sha256.New()
		in := bufio.NewReader(io.TeeReader(r, sum))
		switch base := path.Base(name); {
		case strings.HasPrefix(base, "._"): // what macOS adds
			continue
		case base == bundle.ReportName:
			// What the console said; here it is computed anew.
		case base == "manifest.json" || base == "manifest.yaml":
			raw, found, err := readManifest(in)
			if err != nil {
				return fmt.Errorf("its %s %w", text.Clean(h.Name), err)
			}
			if found != nil {
				m, dir = found, path.Dir(name)
				continue
			}
			in = bufio.NewReader(bytes.NewReader(raw))
			fallthrough
		case slices.Contains([]string{".json", ".yaml", ".yml"}, path.Ext(base)):
			t := textReader{pipe: p, take: b.take, at: place{member: text.Clean(h.Name)}}
			if err := t.open(in); err != nil {
				var bad textError
				if !errors.As(err, &bad) {
					return err
				}
				p.after(func() { b.take([]outcome{{at: t.at, why: bad.Error()}}) })
			}
		default:
			skipped++
		}
		if _, err := io.Copy(io.Discard, in); err != nil {
			return err
		}
		sums[name] = hex.EncodeToString(sum.Sum(nil))
	}
	if skipped > 0 {
		p.after(func() { b.note("Files of the bundle that are neither .json nor .yaml and were not read: %d.", skipped) })
	}
	if m == nil {
		return nil
	}
	p.after(func() { b.manifest = m })
	return checkSums(m, dir, sums)
}

// readManifest returns the member's bytes and the manifest in it; nil where it is
// a file of objects that happens to have the name.
func readManifest(in io.Reader) ([]byte, *bundle.Manifest, error) {
	raw, err := io.ReadAll(io.LimitReader(in, longestObject+1))
	if err != nil {
		return nil, nil, err
	}
	if len(raw) > longestObject {
		return nil, nil, fmt.Errorf("is longer than 16 MiB: make the bundle again")
	}
	m := &bundle.Manifest{}
	if err := yaml.Unmarshal(raw, m); err != nil {
		return nil, nil, fmt.Errorf("cannot be read: make the bundle again: %s", yamlError(err, 0))
	}
	if m.Files == nil && m.APIVersion != "" && !strings.HasPrefix(m.APIVersion, "holdfast.dev/") {
		return raw, nil, nil
	}
	return raw, m, nil
}

// checkSums compares the checksums that the manifest of the folder states with sums,
// which are by full name.
func checkSums(m *bundle.Manifest, dir string, sums map[string]string) error {
	for _, f := range m.Files {
		got, ok := sums[path.Join(dir, path.Clean("/"+f.Name))]
		switch {
		case !ok:
			return fmt.Errorf("%s, which its manifest lists, is not in it: copy or make it again", text.Clean(f.Name))
		case !strings.EqualFold(got, f.SHA256):
			return fmt.Errorf("the checksum of its %s is %s, its manifest says %s: it was changed or damaged, copy or make it again", text.Clean(f.Name), got, text.Clean(f.SHA256))
		}
	}
	return nil
}
