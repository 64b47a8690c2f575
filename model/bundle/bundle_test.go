package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/model/world"
)

var noon = time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)

func object(name, text string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": map[string]any{"text": text}}
}

// made is a bundle of two files of objects and a report.
func made(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, noon)
	for name, n := range map[string]int{"a/0001.yaml": 1, "b/0001.yaml": 3} {
		var os []map[string]any
		for i := range n {
			os = append(os, object(fmt.Sprint(i), "a: b\n---\nc"))
		}
		if err := w.Objects(name, os); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.File(ReportName, 2, strings.NewReader("{}")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(Manifest{Context: "prod", Scope: Scope{ClusterQueue: "q"}, Begun: noon, Ended: noon, Workloads: 3}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type member struct {
	name, body string
	typ        byte
}

func unpacked(t testing.TB, raw []byte) []member {
	t.Helper()
	gz, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	var out []member
	for r := tar.NewReader(gz); ; {
		h, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Mode != 0o600 || !h.ModTime.Equal(noon) {
			t.Errorf("%s: mode %o, time %s", h.Name, h.Mode, h.ModTime)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, member{h.Name, string(body), h.Typeflag})
	}
}

func packed(t testing.TB, ms []member) []byte {
	t.Helper()
	var b bytes.Buffer
	gz := gzip.NewWriter(&b)
	w := tar.NewWriter(gz)
	for _, m := range ms {
		h := &tar.Header{Typeflag: m.typ, Name: m.name, Size: int64(len(m.body)), Mode: 0o600}
		if m.typ == tar.TypeSymlink {
			h.Linkname, h.Size, m.body = "/etc/passwd", 0, ""
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, m.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), gz.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWhatWasWrittenIsVerified(t *testing.T) {
	m, err := Verify(bytes.NewReader(made(t)))
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]int{}
	for _, f := range m.Files {
		objects[f.Name] = f.Objects
	}
	if d := cmp.Diff(map[string]int{"a/0001.yaml": 1, "b/0001.yaml": 3, ReportName: 0}, objects); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if m.Context != "prod" || m.Scope.ClusterQueue != "q" || m.Kind != Kind || m.Lists == nil || m.Unread == nil {
		t.Errorf("%+v", m)
	}
}

func TestWhatWasChangedIsRefused(t *testing.T) {
	raw := made(t)
	good := unpacked(t, raw)
	if _, err := Verify(bytes.NewReader(packed(t, good))); err != nil {
		t.Fatalf("packed anew without a change: %v", err)
	}
	last := len(good) - 1
	change := func(f func(ms []member) []member) []byte {
		return packed(t, f(append([]member(nil), good...)))
	}
	for words, raw := range map[string][]byte{
		"the checksum of its a/0001.yaml":               change(func(ms []member) []member { return edit(ms, "a/0001.yaml", "x: 1\n") }),
		"b/0001.yaml, which its manifest lists, is not": change(func(ms []member) []member { return without(ms, "b/0001.yaml") }),
		"it has no manifest.json":                       change(func(ms []member) []member { return ms[:last] }),
		"stands behind the manifest":                    change(func(ms []member) []member { return append(ms, member{"c.yaml", "x", tar.TypeReg}) }),
		"c.yaml is in it but not in its manifest":       change(func(ms []member) []member { return append([]member{{"c.yaml", "x", tar.TypeReg}}, ms...) }),
		"is in it twice":                                change(func(ms []member) []member { return append([]member{ms[0]}, ms...) }),
		"../../etc/cron.d/x":                            change(func(ms []member) []member { return append([]member{{"../../etc/cron.d/x", "x", tar.TypeReg}}, ms...) }),
		`"/etc/passwd" is not a name`:                   change(func(ms []member) []member { return append([]member{{"/etc/passwd", "x", tar.TypeReg}}, ms...) }),
		"link is no file":                               change(func(ms []member) []member { return append([]member{{"link", "", tar.TypeSymlink}}, ms...) }),
		"its manifest cannot be read":                   change(func(ms []member) []member { return edit(ms, ManifestName, "{") }),
		"use the version of holdfast that made it": change(func(ms []member) []member {
			return edit(ms, ManifestName, `{"apiVersion":"holdfast.dev/v9","kind":"Bundle"}`)
		}),
		"its manifest lists a/0001.yaml twice":          change(func(ms []member) []member { return edit(ms, ManifestName, twice(ms)) }),
		`\x1b[2J.yaml is in it but not in its manifest`: change(func(ms []member) []member { return append([]member{{"\x1b[2J.yaml", "x", tar.TypeReg}}, ms...) }),
		"holds 3 objects, its manifest says 4": change(func(ms []member) []member {
			return edit(ms, ManifestName, strings.Replace(ms[last].body, `"objects": 3`, `"objects": 4`, 1))
		}),
		"has 2 bytes, its manifest says 5": change(func(ms []member) []member {
			return edit(ms, ManifestName, strings.Replace(ms[last].body, `"size": 2,`, `"size": 5,`, 1))
		}),
		"it was cut off": raw[:len(raw)/2],
		"it is no bundle, or damaged: gzip: invalid head": append(append([]byte(nil), raw...), "more than a few bytes"...),
		"no bundle": []byte("just text that is long enough"),
	} {
		_, err := Verify(bytes.NewReader(raw))
		if err == nil || !strings.Contains(err.Error(), words) || strings.ContainsRune(err.Error(), 0x1b) {
			t.Errorf("%v, want %q", err, words)
		}
	}
}

func edit(ms []member, name, body string) []member {
	for i := range ms {
		if ms[i].name == name {
			ms[i].body = body
		}
	}
	return ms
}

func without(ms []member, name string) []member {
	var out []member
	for _, m := range ms {
		if m.name != name {
			out = append(out, m)
		}
	}
	return out
}

// twice is the manifest with the entry of a/0001.yaml repeated.
func twice(ms []member) string {
	body := ms[len(ms)-1].body
	from := strings.Index(body, `"files": [`) + len(`"files": [`)
	entry := body[strings.LastIndex(body[:strings.Index(body, "a/0001.yaml")], "{"):]
	entry = entry[:strings.Index(entry, "}")+1]
	return body[:from] + entry + "," + body[from:]
}

func FuzzVerify(f *testing.F) {
	good := unpacked(f, made(f))
	f.Add(made(f))
	f.Add([]byte{0x1f, 0x8b})
	f.Add(packed(f, append([]member{{"link", "", tar.TypeSymlink}}, good...)))
	f.Add(packed(f, edit(good, ManifestName, twice(good))))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if m, err := Verify(bytes.NewReader(raw)); err == nil && m.Kind != Kind {
			t.Errorf("verified without a manifest: %+v", m)
		}
	})
}

func TestScope(t *testing.T) {
	q := Queues{
		Of:    func(k world.Key) string { return map[string]string{"a": "qa", "b": "qb"}[k.Name] },
		Below: func(cq string) bool { return cq == "qa" },
	}
	for _, tc := range []struct {
		scope       Scope
		ns, lq, cq  string
		want        bool
		text, where string
	}{
		{Scope{}, "n", "a", "", true, "all Workloads", ""},
		{Scope{Cohort: "c"}, "n", "a", "", true, "Cohort c", ""},
		{Scope{Cohort: "c"}, "n", "b", "", false, "Cohort c", ""},
		{Scope{Cohort: "c"}, "n", "b", "qa", true, "Cohort c", ""},
		{Scope{Cohort: "c"}, "n", "gone", "", false, "Cohort c", ""},
		{Scope{ClusterQueue: "qa"}, "n", "a", "", true, "ClusterQueue qa", ""},
		{Scope{ClusterQueue: "qa"}, "n", "a", "qb", false, "ClusterQueue qa", ""},
		{Scope{LocalQueue: world.Key{Namespace: "n", Name: "a"}}, "n", "a", "qb", true, "LocalQueue n/a", "n"},
		{Scope{LocalQueue: world.Key{Namespace: "n", Name: "a"}}, "m", "a", "qa", false, "LocalQueue n/a", "n"},
		{Scope{Namespace: "n"}, "n", "x", "", true, "Namespace n", "n"},
		{Scope{Namespace: "n"}, "m", "x", "", false, "Namespace n", "n"},
	} {
		if got := tc.scope.Has(q, tc.ns, tc.lq, tc.cq); got != tc.want || tc.scope.String() != tc.text || tc.scope.InNamespace() != tc.where {
			t.Errorf("%+v: has %t, text %q, namespace %q", tc, got, tc.scope, tc.scope.InNamespace())
		}
	}
}
