package file

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func TestRefused(t *testing.T) {
	list := `{"apiVersion":"v1","kind":"List","items":[` + flavorJSON + "," + queueJSON + "," + workloadJSON + `]}`
	long := strings.Repeat(list+"\n", 500)
	damaged := []byte(packed(long))
	damaged[len(damaged)-8] ^= 1 // in the checksum
	tests := map[string]struct{ content, want string }{
		"nothing":                 {"", "f cannot be used: it holds no objects. Save"},
		"white space":             {" \n\t\n", "it holds no objects. Save"},
		"comments":                {"# a\n---\n# b\n", "it holds no objects. Save"},
		"an empty List":           {`{"apiVersion":"v1","kind":"List","items":[]}`, "it holds no objects. Save"},
		"other kinds":             {object("v1", "Pod", "a", "b", "") + object("v1", "Secret", "a", "b", ""), "it holds nothing of Kueue's but 1 Pod, 1 v1 Secret. Save"},
		"prose":                   {"This is a letter.\n", "nothing of Kueue's in it can be read. Document 1 (line 1) cannot be read: it is no object but \"This is a letter.\". Save"},
		"no YAML":                 {"a: b: c\n", "Document 1 (line 1) cannot be read: it is not YAML: mapping values are not allowed in this context. Save"},
		"another version":         {object("kueue.x-k8s.io/v1alpha1", "Workload", "a", "b", ""), "Workload a/b in document 1 (line 1) cannot be read: version v1alpha1 of its kind is not one that is read. Save"},
		"a picture":               {"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "it is neither JSON nor YAML, plain or packed with gzip. Save"},
		"PowerShell":              {"\xff\xfe{\x00", "it is UTF-16, as PowerShell's > writes it. Save it as UTF-8"},
		"cut in a list":           {long[:len(long)-100], "it ends in the middle of an object: it was cut off. Copy or save it again"},
		"cut in a document":       {flavorJSON + queueJSON[:60], "it ends in the middle of an object: it was cut off. Copy or save it again"},
		"cut in an export":        {strings.Split(exported(workloadJSON), "],\n\"count\"")[0], "it ends in the middle of an object: it was cut off. Copy or save it again"},
		"no comma between items":  {strings.Replace(list, "}},{", "}}\n{", 1), "line 2: '{' stands where a comma or ']' is needed"},
		"brackets cross":          {strings.Replace(list, "}]}", "]}]}", 1), "line 1: ']' closes what '}' should"},
		"gzip cut":                {packed(long)[:200], "it was cut off: copy or save it again: unexpected EOF"},
		"gzip cut behind a list":  {packed(list)[:len(packed(list))-4], "it was cut off: copy or save it again: unexpected EOF"},
		"gzip head only":          {packed(long)[:5], "it was cut off: copy or save it again: unexpected EOF"},
		"gzip damaged":            {string(damaged), "it is damaged: copy or save it again: gzip: invalid checksum"},
		"gzip cut in a tar":       {packed(tarred(member{"a.json", long}))[:200], "it was cut off: copy or save it again: unexpected EOF"},
		"gzip cut behind a tar":   {packed(tarred(member{"a.json", list}))[:len(packed(tarred(member{"a.json", list})))-4], "it was cut off: copy or save it again: unexpected EOF"},
		"tar cut":                 {tarred(member{"a.json", long})[:2000], "it was cut off: copy or save it again: unexpected EOF"},
		"tar damaged":             {tarred(member{"a.json", list})[:512*3] + strings.Repeat("x", 1024), "it is damaged: copy or save it again: archive/tar: invalid tar header"},
		"nothing in a tar":        {tarred(member{"a.log", "x"}), "it holds no objects. Save"},
		"brackets without an end": {`{"items":[` + strings.Repeat("[", deepest+1), "brackets stand too deep in each other"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Read(strings.NewReader(tc.content), "f", now)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), "f cannot be used: ") {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

func TestReaderFails(t *testing.T) {
	broken := errors.New("the wire is cut")
	for name, before := range map[string]string{"at once": "", "in a list": `{"items":[` + workloadJSON, "behind an object": workloadJSON, "in YAML": workloadYAML, "in a number": `{"items":[1`} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(io.MultiReader(strings.NewReader(before), iotest.ErrReader(broken)), "f", now)
			if !errors.Is(err, broken) {
				t.Errorf("error %v, want the reader's own", err)
			}
		})
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "objects.json")
	if err := os.WriteFile(path, []byte(workloadJSON), 0o600); err != nil {
		t.Fatal(err)
	}
	if w, err := Open(path, now); err != nil || len(w.Snapshot.Workloads) != 1 {
		t.Errorf("a good file: %v", err)
	}
	if _, err := Open(dir, now); err == nil || !strings.Contains(err.Error(), dir+" is a directory. Name a file in it") {
		t.Errorf("a directory: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "a\x1b[2J"), now); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), `a\x1b[2J: look at the name`) {
		t.Errorf("no file: %v", err)
	}
	if os.Geteuid() == 0 {
		return // may open everything
	}
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, now); !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), "look at its permissions") {
		t.Errorf("a file without permission: %v", err)
	}
}

func TestManifest(t *testing.T) {
	sum := func(s string) string {
		h := sha256.Sum256([]byte(s))
		return hex.EncodeToString(h[:])
	}
	list := func(name, sum string) string { return fmt.Sprintf(`{"files":[{"name":%q,"sha256":%q}]}`, name, sum) }
	tests := map[string]struct {
		members []member
		want    string // in the error; empty for none
	}{
		"before the file":          {[]member{{"manifest.json", list("w.json", sum(workloadJSON))}, {"w.json", workloadJSON}}, ""},
		"behind the file, in YAML": {[]member{{"w.json", workloadJSON}, {"manifest.yaml", "files:\n- name: w.json\n  sha256: " + strings.ToUpper(sum(workloadJSON))}}, ""},
		"in a folder":              {[]member{{"b/manifest.json", list("w.json", sum(workloadJSON))}, {"b/w.json", workloadJSON}}, ""},
		"a file that is not read":  {[]member{{"manifest.json", list("a.log", sum("log"))}, {"w.json", workloadJSON}, {"a.log", "log"}}, ""},
		"says nothing":             {[]member{{"manifest.json", `{"apiVersion":"holdfast.dev/v1alpha1","kind":"Bundle"}`}, {"w.json", workloadJSON}}, ""},
		"is a file of objects":     {[]member{{"manifest.yaml", workloadYAML + "---\n" + flavorYAML}}, ""},
		"another sum":              {[]member{{"manifest.json", list("w.json", sum("other"))}, {"w.json", workloadJSON}}, "the checksum of its w.json is " + sum(workloadJSON) + ", its manifest says " + sum("other") + ": it was changed or damaged, copy or make it again"},
		"no such file":             {[]member{{"manifest.json", list("v.json", sum("other"))}, {"w.json", workloadJSON}}, "v.json, which its manifest lists, is not in it: copy or make it again"},
		"cannot be read":           {[]member{{"manifest.json", `{"files":[`}, {"w.json", workloadJSON}}, "its manifest.json cannot be read: make the bundle again"},
		"too long":                 {[]member{{"manifest.json", strings.Repeat(" ", longestObject+1)}, {"w.json", workloadJSON}}, "its manifest.json is longer than 16 MiB: make the bundle again"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w, err := Read(strings.NewReader(packed(tarred(tc.members...))), "f", now)
			switch {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want == "" && len(w.Snapshot.Workloads) != 1:
				t.Errorf("%d Workloads, want 1", len(w.Snapshot.Workloads))
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

func TestMembersThatAreNoText(t *testing.T) {
	w := read(t, tarred(member{"a.json", "\x00"}, member{"b.json", workloadJSON[:40]}, member{"c.json", workloadJSON}, member{"d.txt", "x"}))
	want := []string{"a.json cannot be read: it is neither JSON", "b.json, document 1 cannot be read: it ends in the middle"}
	if len(w.Snapshot.Workloads) != 1 || !strings.HasPrefix(w.Notes[0], want[0]) || !strings.HasPrefix(w.Notes[1], want[1]) {
		t.Errorf("%d Workloads, notes %q", len(w.Snapshot.Workloads), w.Notes)
	}
	if got := w.Notes[len(w.Notes)-1]; got != "Files of the bundle that are neither .json nor .yaml and were not read: 1." {
		t.Errorf("last note %q", got)
	}
}
