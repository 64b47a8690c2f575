package file

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"cli.holdfast.dev/holdfast/model/bundle"
)

// drawObjects draws objects of every kind that is read, with unlike names.
func drawObjects(t *rapid.T) []map[string]any {
	name := rapid.StringMatching(`[a-z]{1,8}`)
	quantity := rapid.OneOf(rapid.Map(rapid.IntRange(0, 1000), func(n int) any { return n }), rapid.Map(rapid.SampledFrom([]string{"1500m", "2Gi", "1e3", "0"}), func(s string) any { return s }))
	message := rapid.SampledFrom([]string{"", "a: b", "couldn't assign flavors to pod set main: insufficient unused quota", "line\n- two\nitems:\n", "\x1b[31m\u202e", "größe 日本", `{"a":"b\"}`})
	var out []map[string]any
	for i := range rapid.IntRange(1, 12).Draw(t, "objects") {
		n := fmt.Sprintf("%s-%d", name.Draw(t, "name"), i)
		meta := map[string]any{"name": n, "uid": "u-" + n, "creationTimestamp": "2026-09-14T08:00:00Z", "annotations": map[string]any{"note": message.Draw(t, "note")}}
		o := map[string]any{"metadata": meta}
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			o["apiVersion"], o["kind"] = "kueue.x-k8s.io/v1beta2", "ClusterQueue"
			o["spec"] = map[string]any{"cohortName": name.Draw(t, "cohort"), "resourceGroups": []any{map[string]any{
				"coveredResources": []any{"cpu"}, "flavors": []any{map[string]any{"name": "f", "resources": []any{map[string]any{"name": "cpu", "nominalQuota": quantity.Draw(t, "quota")}}}},
			}}}
		case 1:
			o["apiVersion"], o["kind"] = "kueue.x-k8s.io/v1beta1", "LocalQueue"
			meta["namespace"] = name.Draw(t, "namespace")
			o["spec"] = map[string]any{"clusterQueue": name.Draw(t, "queue")}
		case 2:
			o["apiVersion"], o["kind"] = "v1", "Namespace"
			meta["labels"] = map[string]any{"a": message.Draw(t, "label")}
		case 3:
			o["apiVersion"], o["kind"] = "v1", "Pod"
			meta["namespace"] = name.Draw(t, "namespace")
			o["status"] = map[string]any{"phase": "Pending", "message": message.Draw(t, "message")}
		default:
			o["apiVersion"], o["kind"] = rapid.SampledFrom([]string{"kueue.x-k8s.io/v1beta1", "kueue.x-k8s.io/v1beta2"}).Draw(t, "version"), "Workload"
			meta["namespace"] = name.Draw(t, "namespace")
			o["spec"] = map[string]any{"queueName": name.Draw(t, "queue"), "priority": rapid.Int32().Draw(t, "priority"), "podSets": []any{map[string]any{
				"name": "main", "count": rapid.IntRange(0, 5).Draw(t, "count"),
				"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "c", "resources": map[string]any{"requests": map[string]any{"cpu": quantity.Draw(t, "request")}}}}}},
			}}}
			o["status"] = map[string]any{"conditions": []any{map[string]any{"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": message.Draw(t, "message"), "lastTransitionTime": "2026-09-14T09:00:00Z"}}}
		}
		out = append(out, o)
	}
	return append(out, map[string]any{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "metadata": map[string]any{"name": "always"}})
}

// The same objects are the same world, in whatever form they come.
func TestFormsAreEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		objects := drawObjects(t)
		marshal := func(f func(any) ([]byte, error), v any) string {
			out, err := f(v)
			if err != nil {
				t.Fatal(err)
			}
			return string(out)
		}
		list := map[string]any{"apiVersion": "v1", "kind": "List", "items": objects}
		var documents, stream []string
		for _, o := range objects {
			documents = append(documents, marshal(yaml.Marshal, o))
			stream = append(stream, marshal(json.Marshal, o))
		}
		forms := map[string]string{
			"List in YAML":      marshal(yaml.Marshal, list),
			"indented JSON":     string(encode(t, list, "  ")),
			"documents in YAML": strings.Join(documents, "---\n"),
			"JSON documents":    strings.Join(stream, ""),
			"gzip":              packed(strings.Join(documents, "---\n")),
			"export":            bundled(t, objects),
			"tar":               tarred(member{"a.yaml", strings.Join(documents, "---\n")}),
		}
		want := draw(t, marshal(json.Marshal, list))
		for name, content := range forms {
			if d := cmp.Diff(want, draw(t, content), selectors); d != "" {
				t.Errorf("%s is not what the List is (-list +other):\n%s", name, d)
			}
		}
	})
}

// bundled writes the objects as an export does, some to a file.
func bundled(t *rapid.T, objects []map[string]any) string {
	var b bytes.Buffer
	w := bundle.NewWriter(&b, now)
	for i, rest := 0, objects; len(rest) > 0; i++ {
		n := rapid.IntRange(1, len(rest)).Draw(t, "page")
		if err := w.Objects(fmt.Sprintf("some/%04d.yaml", i), rest[:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	if _, err := w.Close(bundle.Manifest{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// draw returns what can be compared of the content's world.
func draw(t rapid.TB, content string) []any {
	w, err := Read(bytes.NewReader([]byte(content)), "f", now)
	if err != nil {
		t.Fatal(err)
	}
	return append(rows(w.Snapshot), w.Pods, w.Events, w.Nodes, w.HasPods, w.Snapshot.Contract)
}
