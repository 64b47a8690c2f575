package file

import (
	"archive/tar"
	"bufio"
	"bytes"
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
	files := map[string]bundle.File{} // by full name
	twice := ""
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
		meter := bundle.NewMeter()
		in := bufio.NewReader(io.TeeReader(r, meter))
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
		if _, ok := files[name]; ok {
			twice = name
		}
		files[name] = meter.File(name)
	}
	if skipped > 0 {
		p.after(func() { b.note("Files of the bundle that are neither .json nor .yaml and were not read: %d.", skipped) })
	}
	if m == nil {
		return nil
	}
	p.after(func() { b.manifest = m })
	if twice != "" && m.Ours() {
		return fmt.Errorf("%s is in it twice: it was changed", text.Clean(twice[1:]))
	}
	return checkFiles(m, dir, files)
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

// checkFiles holds the files, which are by full name, against the manifest of the
// folder. One that holdfast wrote lists them all; others may list some.
func checkFiles(m *bundle.Manifest, dir string, files map[string]bundle.File) error {
	if m.Files == nil {
		return nil
	}
	got := map[string]bundle.File{}
	for name, f := range files {
		name, below := strings.CutPrefix(name, strings.TrimSuffix(dir, "/")+"/")
		if !below {
			name = "/" + name
		}
		got[name] = f
	}
	listed := *m
	listed.Files = slices.Clone(m.Files)
	for i := range listed.Files {
		f := &listed.Files[i]
		f.Name = path.Clean("/" + f.Name)[1:]
		if m.Ours() {
			continue
		}
		// Only the sum is known to mean what it says.
		f.Size, f.Objects = got[f.Name].Size, 0
	}
	if !m.Ours() {
		known := map[string]bool{}
		for _, f := range listed.Files {
			known[f.Name] = true
		}
		for name := range got {
			if !known[name] {
				delete(got, name)
			}
		}
	}
	return listed.Check(got)
}
