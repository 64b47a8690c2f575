package file

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

var now = time.Date(2026, 9, 14, 10, 0, 0, 0, time.UTC)

// The same three objects, in the words of each form.
const (
	flavorJSON   = `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"iron","uid":"u-iron"},"spec":{"nodeLabels":{"metal":"iron"}}}`
	queueJSON    = `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"forge","uid":"u-forge"},"spec":{"queueingStrategy":"StrictFIFO","namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"iron","resources":[{"name":"cpu","nominalQuota":8}]}]}]}}`
	workloadJSON = `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"job-a","namespace":"smiths","uid":"u-a"},"spec":{"queueName":"main","podSets":[{"name":"main","count":2,"template":{"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1500m"}}}]}}}]},"status":{"conditions":[{"type":"QuotaReserved","status":"False","reason":"Pending","message":"a \"quoted\" {[ reason","lastTransitionTime":"2026-09-14T09:00:00Z"}]}}`

	flavorYAML = `apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: iron, uid: u-iron}
spec:
  nodeLabels:
    metal: iron
`
	queueYAML = `apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: forge
  uid: u-forge
spec:
  queueingStrategy: StrictFIFO
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - name: iron
      resources:
      - name: cpu
        nominalQuota: 8
`
	workloadYAML = `apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata:
  name: job-a
  namespace: smiths
  uid: u-a
spec:
  queueName: main
  podSets:
  - name: main
    count: 2
    template:
      spec:
        containers:
        - name: c
          image: i
          resources:
            requests:
              cpu: 1500m
status:
  conditions:
  - type: QuotaReserved
    status: "False"
    reason: Pending
    message: a "quoted" {[ reason
    lastTransitionTime: "2026-09-14T09:00:00Z"
`
)

// item is the object as an item of a YAML list whose dashes stand n deep.
func item(object string, n int) string {
	pad := strings.Repeat(" ", n)
	lines := strings.SplitAfter(strings.TrimSuffix(object, "\n"), "\n")
	return pad + "- " + strings.Join(lines, pad+"  ") + "\n"
}

func bare(object, apiVersion, kind string) string {
	head := fmt.Sprintf(`"apiVersion":%q,"kind":%q,`, apiVersion, kind)
	return strings.Replace(object, head, "", 1)
}

func packed(content string) string {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write([]byte(content)) // into memory
	_ = z.Close()
	return out.String()
}

type member struct{ name, content string }

func tarred(members ...member) string {
	var out bytes.Buffer
	t := tar.NewWriter(&out)
	for _, m := range members {
		_ = t.WriteHeader(&tar.Header{Name: m.name, Mode: 0o600, Size: int64(len(m.content)), Typeflag: tar.TypeReg}) // into memory
		_, _ = t.Write([]byte(m.content))
	}
	_ = t.Close()
	return out.String()
}

func exported(items ...string) string {
	return fmt.Sprintf(`{
  "apiVersion": "holdfast.dev/v1alpha1",
  "kind": "WorkloadExport",
  "context": "prod",
  "server": "https://10.0.0.1",
  "user": "kim",
  "kueueVersion": "v0.19.2",
  "kueueAPI": "v1beta2",
  "scope": "all Workloads",
  "at": "2026-09-14T09:59:00Z",
  "redacted": true,
  "resourceVersion": "7",
"items": [
%s
],
"count": %d}
`, strings.Join(items, ",\n"), len(items))
}

func read(t *testing.T, content string) *World {
	t.Helper()
	w, err := Read(strings.NewReader(content), "f", now)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// rows are the parts of a snapshot that can be compared.
func rows(s *store.Snapshot) []any {
	return []any{
		s.ClusterQueues, s.LocalQueues, s.Cohorts, s.Workloads, s.Flavors, s.Checks, s.PriorityClasses, s.Namespaces,
		s.LimitRanges, s.RuntimeClasses, s.PodPriorityClasses, s.Topologies,
	}
}

var selectors = cmp.Comparer(func(a, b labels.Selector) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.String() == b.String()
})

// checkRows holds the three objects against what they say. Rows have more
// fields, which package project answers for.
func checkRows(t *testing.T, s *store.Snapshot) {
	t.Helper()
	if len(s.ClusterQueues) != 1 || len(s.Workloads) != 1 || len(s.Flavors) != 1 {
		t.Fatalf("%d ClusterQueues, %d Workloads and %d ResourceFlavors, want one each", len(s.ClusterQueues), len(s.Workloads), len(s.Flavors))
	}
	q, w, f := s.ClusterQueues[0], s.Workloads[0], s.Flavors[0]
	for i := range w.PodSets {
		w.PodSets[i].Shape = ""
	}
	for i := range w.Conditions {
		w.Conditions[i].At = w.Conditions[i].At.UTC()
	}
	at := time.Date(2026, 9, 14, 9, 0, 0, 0, time.UTC)
	want := []any{
		world.Ref{Kind: "ClusterQueue", Key: world.Key{Name: "forge"}, UID: "u-forge"}, "StrictFIFO", "",
		[]world.Quota{{FlavorResource: world.FlavorResource{Flavor: "iron", Resource: "cpu"}, Nominal: 8000}},
		world.Ref{Kind: "Workload", Key: world.Key{Namespace: "smiths", Name: "job-a"}, UID: "u-a"}, "main", world.Pending,
		world.Conditions{{Type: "QuotaReserved", Status: "False", Reason: "Pending", Message: `a "quoted" {[ reason`, At: at}},
		[]world.PodSet{{Name: "main", Count: 2, Requests: []world.Request{{Resource: "cpu", Amount: 3000}}}},
		world.Ref{Kind: "ResourceFlavor", Key: world.Key{Name: "iron"}, UID: "u-iron"}, map[string]string{"metal": "iron"},
	}
	got := []any{
		q.Ref(), q.Strategy, q.Namespaces.String(), q.Quotas,
		w.Ref(), w.LocalQueue, w.State, w.Conditions, w.PodSets,
		f.Ref(), f.NodeLabels,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
}

func TestForms(t *testing.T) {
	list := `{"apiVersion":"v1","kind":"List","items":[` + flavorJSON + "," + queueJSON + "," + workloadJSON + `]}`
	kubectl := `{"apiVersion":"v1","items":[` + flavorJSON + "," + queueJSON + "," + workloadJSON + `],"kind":"List","metadata":{"resourceVersion":""}}`
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, []byte(kubectl), "", "    "); err != nil {
		t.Fatal(err)
	}
	const v = "kueue.x-k8s.io/v1beta2"
	own := func(kind, object string) string {
		return fmt.Sprintf(`{"kind":"%sList","apiVersion":%q,"metadata":{"resourceVersion":"7"},"items":[%s]}`, kind, v, object)
	}
	late := func(kind, object string) string {
		return fmt.Sprintf(`{"apiVersion":%q,"items":[%s],"kind":"%sList"}`, v, bare(object, v, kind), kind)
	}
	docs := flavorYAML + "---\n" + queueYAML + "---\n" + workloadYAML
	yamlList := func(n int) string {
		return "apiVersion: v1\nitems:\n" + item(flavorYAML, n) + item(queueYAML, n) + item(workloadYAML, n) + "kind: List\nmetadata:\n  resourceVersion: \"\"\n"
	}
	tests := map[string]struct {
		content string
		bundle  bool
	}{
		"v1 List in JSON":                    {content: list},
		"kubectl -o json":                    {content: pretty.String()},
		"v1 List in YAML":                    {content: yamlList(0)},
		"items are indented":                 {content: yamlList(2)},
		"YAML list with a comment in it":     {content: strings.Replace(yamlList(0), "kind: ClusterQueue", "kind: ClusterQueue\n# a word\n\n", 1)},
		"items do not stand alone":           {content: strings.Replace(yamlList(0), "items:\n", "items: !!seq\n", 1)},
		"an anchor of another item":          {content: strings.Replace(strings.Replace(yamlList(0), "uid: u-iron", "uid: &v u-iron, annotations: {a: *v}", 1), "uid: u-forge", "uid: u-forge\n    labels: {a: *v}", 1)},
		"a list item's text is not indented": {content: strings.Replace(yamlList(0), `message: a "quoted" {[ reason`, "message: \"a \\\"quoted\\\" {[\nreason\"", 1)},
		"lists of one kind":                  {content: own("ResourceFlavor", flavorJSON) + own("ClusterQueue", queueJSON) + own("Workload", workloadJSON)},
		"items without kind":                 {content: own("ResourceFlavor", bare(flavorJSON, v, "ResourceFlavor")) + own("ClusterQueue", bare(queueJSON, v, "ClusterQueue")) + own("Workload", bare(workloadJSON, v, "Workload"))},
		"items without kind before the kind": {content: late("ResourceFlavor", flavorJSON) + "\n" + late("ClusterQueue", queueJSON) + late("Workload", workloadJSON)},
		"items without kind in YAML":         {content: "---\n" + late("ResourceFlavor", flavorJSON) + "\n---\n# x\n" + late("ClusterQueue", queueJSON) + "\n---\n" + strings.Replace("items:\n"+item(workloadYAML, 0)+"apiVersion: "+v+"\nkind: WorkloadList\n", "- apiVersion: "+v+"\n  kind: Workload\n  metadata", "- metadata", 1)},
		"documents in YAML":                  {content: docs},
		"documents in YAML with ends":        {content: "%YAML 1.1\n--- # first\n" + flavorYAML + "...\n# nothing\n---\n---\n\n" + queueYAML + "...\n" + workloadYAML + "...\n"},
		"a document is a List":               {content: flavorYAML + "---\napiVersion: v1\nkind: List\nitems:\n" + item(queueYAML, 0) + item(workloadYAML, 0)},
		"DOS line ends":                      {content: strings.ReplaceAll(yamlList(2), "\n", "\r\n")},
		"DOS line ends between documents":    {content: strings.ReplaceAll(docs, "\n", "\r\n")},
		"byte order mark":                    {content: "\xef\xbb\xbf" + list},
		"no newline at the end":              {content: strings.TrimSpace(docs)},
		"JSON one behind the other":          {content: flavorJSON + queueJSON + "\n\n" + workloadJSON},
		"JSON in YAML documents":             {content: flavorJSON + "\n---\n" + queueJSON + "\n--- " + workloadJSON},
		"JSON, then YAML":                    {content: flavorJSON + "\n---\n" + queueYAML + "---\n" + workloadYAML},
		"YAML, then JSON twice":              {content: flavorYAML + "---\n" + queueJSON + "\n" + workloadJSON},
		"an array":                           {content: "[" + flavorJSON + "," + queueJSON + "," + workloadJSON + "]"},
		"an array in YAML":                   {content: item(flavorYAML, 0) + item(queueYAML, 0) + item(workloadYAML, 0)},
		"a comma too many":                   {content: strings.Replace(list, "]}}]}", "]}},]}", 1)},
		"flow style":                         {content: strings.ReplaceAll(list, `"kind":"List"`, `kind: List`)},
		"a list in a list":                   {content: `{"kind":"List","apiVersion":"v1","items":[` + list + `]}`},
		"a list in a YAML list":              {content: "kind: List\nitems:\n- kind: List\n  items:\n" + item(flavorYAML, 2) + item(queueYAML, 2) + item(workloadYAML, 0)},
		"null among the items":               {content: strings.Replace(list, `"items":[`, `"items":[null,`, 1)},
		"gzip of JSON":                       {content: packed(list)},
		"gzip of YAML":                       {content: packed(docs)},
		"tar":                                {content: tarred(member{"a.json", list}), bundle: true},
		"gzip of a tar":                      {content: packed(tarred(member{"./x/", ""}, member{"../../etc/a.yaml", flavorYAML}, member{"/b/c.yml", queueYAML}, member{"._b.yaml", "\x00\x05\x16"}, member{"d.json", workloadJSON})), bundle: true},
		"an export beside the queues":        {content: packed(tarred(member{"e.json", exported(workloadJSON)}, member{"q.yaml", queueYAML + "---\n" + flavorYAML})), bundle: true},
		"an export":                          {content: exported(flavorJSON, queueJSON, workloadJSON), bundle: true},
		"gzip of an export":                  {content: packed(exported(flavorJSON, queueJSON, workloadJSON)), bundle: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := read(t, tc.content)
			checkRows(t, w.Snapshot)
			if bundle := w.Type == "bundle"; bundle != tc.bundle {
				t.Errorf("type %q", w.Type)
			}
			if !w.Snapshot.At.Equal(now) {
				t.Errorf("the snapshot is of %s", w.Snapshot.At)
			}
			for _, n := range w.Notes {
				if strings.Contains(n, "cannot be read") {
					t.Errorf("note %q", n)
				}
			}
		})
	}
}
