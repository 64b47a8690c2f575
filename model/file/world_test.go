package file

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/model/world"
)

// object is a minimal object; extra is what stands behind its metadata.
func object(apiVersion, kind, namespace, name, extra string) string {
	if namespace != "" {
		namespace = fmt.Sprintf(`"namespace":%q,`, namespace)
	}
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{%s"name":%q,"uid":"u-%s"}%s}`, apiVersion, kind, namespace, name, name, extra)
}

func kueueObject(kind, namespace, name, extra string) string {
	return object("kueue.x-k8s.io/v1beta2", kind, namespace, name, extra)
}

func TestContract(t *testing.T) {
	old := func(kind, name string) string { return object("kueue.x-k8s.io/v1beta1", kind, "", name, "") }
	const why = "a file does not tell"
	tests := map[string]struct {
		content string
		want    world.Contract
	}{
		"v1beta2":             {kueueObject("Cohort", "", "a", ""), world.Contract{Asked: true, Served: []string{"v1beta2"}, Used: "v1beta2", KueueVersionDetail: why}},
		"v1beta1":             {old("Cohort", "a") + old("Topology", "b"), world.Contract{Asked: true, Served: []string{"v1beta1"}, Used: "v1beta1", KueueVersionDetail: why}},
		"both":                {old("Cohort", "a") + kueueObject("Cohort", "", "b", ""), world.Contract{Asked: true, Served: []string{"v1beta2", "v1beta1"}, Used: "v1beta2", KueueVersionDetail: why}},
		"of an empty list":    {`{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"WorkloadList","items":[]}`, world.Contract{Asked: true, Served: []string{"v1beta1"}, Used: "v1beta1", KueueVersionDetail: why}},
		"of an empty export":  {exported(), world.Contract{Asked: true, Served: []string{"v1beta2"}, Used: "v1beta2", KueueVersion: "v0.19.2"}},
		"an export's version": {exported(workloadJSON), world.Contract{Asked: true, Served: []string{"v1beta2"}, Used: "v1beta2", KueueVersion: "v0.19.2"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, read(t, tc.content).Snapshot.Contract); d != "" {
				t.Errorf("contract (-want +got):\n%s", d)
			}
		})
	}
}

func TestFreshness(t *testing.T) {
	live := func(n int) world.Freshness { return world.Freshness{Feed: world.Live, Synced: true, Count: n} }
	absent := func(k string) world.Freshness {
		return world.Freshness{Feed: world.Absent, Detail: "the file holds no " + k}
	}
	queue := kueueObject("ClusterQueue", "", "q", "")
	tests := map[string]struct {
		content string
		want    map[world.Kind]world.Freshness
	}{
		"what is there is all there is": {
			queue + kueueObject("LocalQueue", "ns", "l", "") + kueueObject("Workload", "ns", "w", "") + object("v1", "Namespace", "", "ns", "") + object("v1", "Namespace", "", "o", ""),
			map[world.Kind]world.Freshness{world.KindClusterQueue: live(1), world.KindLocalQueue: live(1), world.KindWorkload: live(1), world.KindNamespace: live(2)},
		},
		"kinds that clusters do without": {queue, map[world.Kind]world.Freshness{
			world.KindCohort: live(0), world.KindLimitRange: live(0), world.KindRuntimeClass: live(0), world.KindPriorityClass: live(0), world.KindTopology: live(0), world.KindWorkload: live(0),
		}},
		"kinds that may be left out": {queue, map[world.Kind]world.Freshness{
			world.KindResourceFlavor: absent("ResourceFlavor"), world.KindAdmissionCheck: absent("AdmissionCheck"), world.KindWorkloadPriorityClass: absent("WorkloadPriorityClass"),
			world.KindNamespace: absent("Namespace"), world.KindLocalQueue: absent("LocalQueue"),
		}},
		"an empty list is no lack": {
			queue + `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavorList","items":[]}` + `{"kind":"NamespaceList","apiVersion":"v1","items":null}`,
			map[world.Kind]world.Freshness{world.KindResourceFlavor: live(0), world.KindNamespace: live(0)},
		},
		"Workloads alone": {kueueObject("Workload", "ns", "w", ""), map[world.Kind]world.Freshness{
			world.KindWorkload: live(1), world.KindClusterQueue: absent("ClusterQueue"), world.KindLocalQueue: absent("LocalQueue"),
		}},
		"queues that count Workloads": {kueueObject("LocalQueue", "ns", "l", `,"status":{"pendingWorkloads":1}`), map[world.Kind]world.Freshness{
			world.KindWorkload: absent("Workload"), world.KindLocalQueue: live(1),
		}},
		"an object that cannot be read": {
			queue + kueueObject("ResourceFlavor", "", "a", "") + kueueObject("ResourceFlavor", "", "b", `,"spec":7`) + kueueObject("Workload", "ns", "w", `,"spec":7`),
			map[world.Kind]world.Freshness{
				world.KindClusterQueue:   live(1),
				world.KindResourceFlavor: {Feed: world.Failing, Count: 1, Detail: "1 of the file's ResourceFlavors cannot be read"},
				world.KindWorkload:       {Feed: world.Failing, Synced: true, Detail: "1 of the file's Workloads cannot be read"},
			},
		},
		"it can be read elsewhere": {
			kueueObject("ResourceFlavor", "", "a", `,"spec":7`) + kueueObject("ResourceFlavor", "", "a", ""),
			map[world.Kind]world.Freshness{world.KindResourceFlavor: live(1)},
		},
		"something that cannot be told": {
			queue + kueueObject("ResourceFlavor", "", "a", "") + `{"metadata":{"name":"what"}}`,
			map[world.Kind]world.Freshness{
				world.KindResourceFlavor: {Feed: world.Failing, Count: 1, Detail: "a part of the file cannot be read and may hold some"},
				world.KindWorkload:       {Feed: world.Failing, Synced: true, Detail: "a part of the file cannot be read and may hold some"},
			},
		},
		"a word that is no object": {queue + " \n--- \nhello", map[world.Kind]world.Freshness{world.KindClusterQueue: live(1), world.KindCohort: live(0)}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := read(t, tc.content).Snapshot
			got := map[world.Kind]world.Freshness{}
			for k := range tc.want {
				got[k] = s.Fresh(k)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("freshness (-want +got):\n%s", d)
			}
		})
	}
}

func TestNotes(t *testing.T) {
	// What the file leaves out is not the matter of these cases.
	full := kueueObject("ClusterQueue", "", "q", "") + kueueObject("LocalQueue", "ns", "l", "") + kueueObject("ResourceFlavor", "", "f", "") + kueueObject("AdmissionCheck", "", "c", "") +
		kueueObject("WorkloadPriorityClass", "", "p", "") + object("v1", "Namespace", "", "ns", "")
	list := func(items ...string) string {
		return "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[\n" + strings.Join(items, ",\n") + "\n]}" + full
	}
	workload := func(name, extra string) string { return kueueObject("Workload", "ns", name, extra) }
	tests := map[string]struct {
		content   string
		want      []string
		workloads int
	}{
		"nothing to say":      {list(workload("a", "")), nil, 1},
		"wrong type":          {list(workload("a", `,"spec":{"priority":"high"}`), workload("b", "")), []string{"Workload ns/a in item 1 (line 2) cannot be read: spec.priority is a string where a whole number is needed."}, 1},
		"wrong list":          {list(workload("b", ""), workload("a", `,"spec":{"podSets":{}}`)), []string{"Workload ns/a in item 2 (line 3) cannot be read: spec.podSets is an object where a list is needed."}, 1},
		"no quantity":         {list(workload("a", `,"status":{"admission":{"clusterQueue":"q","podSetAssignments":[{"resourceUsage":{"cpu":"much"}}]}}`)), []string{"Workload ns/a in item 1 (line 2) cannot be read: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'."}, 0},
		"no time":             {list(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"a","namespace":"ns","creationTimestamp":"today"}}`), []string{`Workload ns/a in item 1 (line 2) cannot be read: parsing time "today" as "2006-01-02T15:04:05Z07:00": cannot parse "today" as "2006".`}, 0},
		"no name":             {list(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"namespace":"ns"}}`), []string{"Workload in item 1 (line 2) cannot be read: it has no name."}, 0},
		"version of the past": {list(object("kueue.x-k8s.io/v1alpha1", "Workload", "ns", "a", ""), workload("b", "")), []string{"Workload ns/a in item 1 (line 2) cannot be read: version v1alpha1 of its kind is not one that is read."}, 1},
		"version to come":     {list(object("kueue.x-k8s.io/v1beta3", "Workload", "ns", "a", ""), workload("b", "")), []string{"Workload ns/a in item 1 (line 2) cannot be read: version v1beta3 of its kind is not one that is read."}, 1},
		"no kind":             {list(`{"apiVersion":"kueue.x-k8s.io/v1beta2","metadata":{"name":"a"}}`, workload("b", "")), []string{"a in item 1 (line 2) cannot be read: it names no kind."}, 1},
		"no apiVersion":       {list(`{"kind":"Workload","metadata":{"name":"a"}}`, workload("b", "")), []string{`Workload a in item 1 (line 2) cannot be read: its apiVersion "" is none.`}, 1},
		"no object":           {list(`"\u001b[2J"`, workload("b", "")), []string{`Item 1 (line 2) cannot be read: it is no object but "\u001b[2J".`}, 1},
		"broken inside":       {list(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"a","namespace":"ns"},"spec":{"active":troo}}`, workload("b", "")), []string{"Workload ns/a in item 1 (line 2) cannot be read: invalid character 'o' in literal true (expecting 'u')."}, 1},
		"escapes in names":    {list(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"a\u001b[2J","namespace":"ns"},"spec":7}`), []string{`Workload ns/a\x1b[2J in item 1 (line 2) cannot be read: spec is a number where an object is needed.`}, 0},
		"second document":     {full + "\n" + workload("a", `,"spec":[]`), []string{"Workload ns/a in document 7 (line 2) cannot be read: spec is an array where an object is needed."}, 0},
		"no YAML":             {full + "\n---\n\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata:\n  name: a\n  b: c: d\n---\n" + workload("b", ""), []string{"Workload a in document 7 (line 4) cannot be read: it is not YAML: line 8: mapping values are not allowed in this context."}, 1},
		"no YAML in a list":   {full + "\n---\nitems:\n- kind: Workload\n  apiVersion: kueue.x-k8s.io/v1beta2\n  metadata: {name: b}\n- kind: Workload\n  metadata:\n    name: a\n    b: c: d\n", []string{"Workload a in document 7, item 2 (line 7) cannot be read: it is not YAML: line 10: mapping values are not allowed in this context.", `1 object stands in the file without a namespace and is taken to be in "default" (the first: Workload default/b in document 7, item 1 (line 4)).`, "Workloads without a UID in the file: 1. What is found by it (who preempted whom, which pod is whose) is not known of them (the first: Workload default/b in document 7, item 1 (line 4))."}, 1},
		"no namespace":        {list(workload("a", ""), kueueObject("Workload", "", "b", ""), kueueObject("LocalQueue", "", "x", "")), []string{`2 objects stand in the file without a namespace and are taken to be in "default" (the first: Workload default/b in item 2 (line 3)).`}, 2},
		"twice":               {list(workload("a", ""), workload("b", ""), workload("a", `,"spec":{"priority":5}`)), []string{"1 object stands in the file more than once; the last one counts (the first such: Workload ns/a in item 3 (line 4))."}, 2},
		"a UID copied":        {list(workload("a", ""), strings.Replace(workload("b", ""), "u-b", "u-a", 1), strings.Replace(workload("c", ""), "u-c", "", 1)), []string{"Workloads without a UID in the file: 1. What is found by it (who preempted whom, which pod is whose) is not known of them (the first: Workload ns/c in item 3 (line 4)).", "Workloads with the UID of another one in the file: 1. They are taken to have none (the first: Workload ns/b in item 2 (line 3))."}, 3},
		"other kinds":         {list(object("batch/v1", "Job", "ns", "j", ""), object("batch/v1", "Job", "ns", "k", ""), object("v1", "ConfigMap", "ns", "m", ""), workload("a", "")), []string{"Not read, since nothing is shown of them: 2 batch/v1 Job, 1 v1 ConfigMap."}, 1},
		"cohorts by name":     {list(kueueObject("ClusterQueue", "", "r", `,"spec":{"cohortName":"pool"}`)), []string{"The file holds no Cohort object for pool: cohorts are taken to have no quota of their own."}, 0},
		"an export":           {exported(workload("a", "")) + full, []string{"Exported from context prod by kim at 2026-09-14T09:59:00Z, scope: all Workloads; values that may be secret were taken out."}, 1},
		"a changed export":    {strings.Replace(exported(workload("a", ""), workload("b", "")), `"count": 2`, `"count": 4`, 1) + full, []string{"Exported from context prod by kim at 2026-09-14T09:59:00Z, scope: all Workloads; values that may be secret were taken out.", "The export says that it holds 4 Workloads, but 2 are in it: somebody changed it."}, 2},
		"left out":            {kueueObject("ClusterQueue", "", "q", ""), []string{"The file holds no LocalQueue, no ResourceFlavor, no AdmissionCheck, no WorkloadPriorityClass, no Namespace: whether there are any is unknown, and none is called missing."}, 0},
		"too long a number":   {list(workload("a", `,"spec":{"podSets":[{"name":"m","count":1,"template":{"spec":{"overhead":{"cpu":"1e99999999"}}}}]}`), workload("b", "")), []string{"Workload ns/a in item 1 (line 2) cannot be read: spec.podSets.template.spec.overhead.cpu is too long a number."}, 1},
		"too small a number":  {list(workload("a", `,"spec":{"podSets":[{"name":"m","count":1,"template":{"spec":{"overhead":{"cpu":1E-99999999}}}}]}`), workload("b", "")), []string{"Workload ns/a in item 1 (line 2) cannot be read: spec.podSets.template.spec.overhead.cpu is too long a number."}, 1},
		"a name like one":     {list(workload("1e99999999", `,"spec":{"queueName":"8e12345"}`)), nil, 1},
		"too deep a list":     {`{"items":[{"items":[{"items":[{"items":[{"items":[` + workload("a", "") + `]}]}]}]}]}` + full, []string{"Item 1, its item 1 cannot be read: lists stand in each other more than 4 deep."}, 0},
		"an alias bomb":       {full + "\n---\na: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n", []string{"Document 7 (line 3) cannot be read: it is not YAML: document contains excessive aliasing."}, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := read(t, tc.content)
			if d := cmp.Diff(tc.want, w.Notes); d != "" {
				t.Errorf("notes (-want +got):\n%s", d)
			}
			if got := len(w.Snapshot.Workloads); got != tc.workloads {
				t.Errorf("%d Workloads, want %d", got, tc.workloads)
			}
		})
	}
}

func TestManyBrokenObjects(t *testing.T) {
	items := []string{kueueObject("Cohort", "", "a", "")}
	for i := range 60 {
		items = append(items, kueueObject("Workload", "ns", fmt.Sprint("w", i), `,"spec":7`))
	}
	notes := read(t, strings.Join(items, "\n")).Notes
	if got := notes[50]; got != "10 more objects cannot be read." {
		t.Errorf("note 51 is %q", got)
	}
}

func TestLongObjects(t *testing.T) {
	long := func(n int) string {
		return kueueObject("Workload", "ns", fmt.Sprint("w", n), fmt.Sprintf(`,"spec":{"queueName":"a"},"pad":[%s0]`, strings.Repeat(`"]}\"",`, n/7)))
	}
	const fits, not = 15 << 20, 17 << 20
	tests := map[string]string{
		"in a list": `{"items":[` + long(fits) + "," + long(not) + "," + long(1) + "]}",
		"alone":     long(fits) + long(not) + long(1),
	}
	for name, content := range tests {
		t.Run(name, func(t *testing.T) {
			w := read(t, content)
			if n := len(w.Snapshot.Workloads); n != 2 || !strings.Contains(w.Notes[0], "2") || !strings.HasSuffix(w.Notes[0], "it is longer than 16 MiB.") {
				t.Errorf("%d Workloads, want 2 of 3; notes %q", n, w.Notes)
			}
		})
	}
}

func TestTheLastOfTwoCounts(t *testing.T) {
	w := read(t, kueueObject("Workload", "ns", "a", "")+"\n"+object("kueue.x-k8s.io/v1beta1", "Workload", "ns", "a", `,"spec":{"priority":5}`)+
		object("v1", "Pod", "ns", "p", `,"status":{"phase":"Pending"}`)+object("v1", "Pod", "ns", "p", `,"status":{"phase":"Running"}`))
	if got := w.Snapshot.Workloads; len(got) != 1 || got[0].Priority != 5 {
		t.Errorf("Workloads %+v", got)
	}
	if got := w.Pods; len(got) != 1 || got[0].Phase != "Running" {
		t.Errorf("pods %+v", got)
	}
}

func TestLists(t *testing.T) {
	at := func(s string) time.Time {
		out, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return out.UTC()
	}
	old := func(name, uid, last string, count int) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"Event","metadata":{"namespace":"ns","name":%q,"uid":%q},"involvedObject":{"kind":"Workload","namespace":"ns","name":"w"},"reason":"Old","lastTimestamp":%q,"count":%d}`, name, uid, last, count)
	}
	now := func(name, uid, when string) string {
		return fmt.Sprintf(`{"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"namespace":"ns","name":%q,"uid":%q},"regarding":{"kind":"Workload","namespace":"ns","name":"w"},"reason":"New","eventTime":%q}`, name, uid, when)
	}
	w := read(t, strings.Join([]string{
		kueueObject("Cohort", "", "a", ""),
		old("late", "1", "2026-09-14T09:30:00Z", 1), now("late", "1", "2026-09-14T09:30:00.000000Z"), // one event of two APIs
		now("early", "2", "2026-09-14T08:00:00.000000Z"), old("early", "2", "2026-09-14T08:00:00Z", 3), // repeated since
		old("nameless", "", "2026-09-14T09:00:00Z", 1), now("nameless", "", "2026-09-14T07:00:00.000000Z"),
		object("v1", "Pod", "b", "p", ""), object("v1", "Pod", "a", "q", ""), object("v1", "Node", "", "n", `,"status":{"conditions":[{"type":"Ready","status":"True"}]}`),
	}, "\n"))
	type event struct {
		Name, Reason string
		Count        int32
		At           time.Time
	}
	var events []event
	for _, e := range w.Events {
		events = append(events, event{e.Name, e.Reason, e.Count, e.At.UTC()})
	}
	want := []event{{"early", "Old", 3, at("2026-09-14T08:00:00Z")}, {"nameless", "Old", 1, at("2026-09-14T09:00:00Z")}, {"late", "Old", 1, at("2026-09-14T09:30:00Z")}}
	if d := cmp.Diff(want, events); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	if len(w.Pods) != 2 || w.Pods[0].Namespace != "a" || len(w.Nodes) != 1 || !w.Nodes[0].Ready || !w.HasPods || !w.HasNodes {
		t.Errorf("pods %+v, nodes %+v, %v %v", w.Pods, w.Nodes, w.HasPods, w.HasNodes)
	}
	if w := read(t, kueueObject("Cohort", "", "a", "")+`{"kind":"PodList","apiVersion":"v1","items":[]}`); !w.HasPods || w.HasNodes {
		t.Errorf("an empty list of pods: has pods %v, has nodes %v", w.HasPods, w.HasNodes)
	}
}

func TestDefaults(t *testing.T) {
	s := read(t, kueueObject("ClusterQueue", "ignored", "q", "")+object("kueue.x-k8s.io/v1beta1", "ClusterQueue", "", "r", `,"spec":{}`)+
		kueueObject("Workload", "ns", "w", `,"spec":{"podSets":[{"template":{}},{"name":"zero","count":0,"template":{}}]},"status":{"admission":{"clusterQueue":"q","podSetAssignments":[{"flavors":{"cpu":"f"}}]}}`)).Snapshot
	for _, name := range []string{"q", "r"} {
		if q := s.ClusterQueue(name); q == nil || q.Strategy != "BestEffortFIFO" {
			t.Errorf("ClusterQueue %s: %+v", name, q)
		}
	}
	p := s.Workloads[0].PodSets
	if p[0].Name != "main" || p[0].Count != 1 || p[0].Flavors["cpu"] != "f" || p[1].Count != 0 {
		t.Errorf("pod sets %+v", p)
	}
}

func TestEveryTextIsClean(t *testing.T) {
	const esc = "\x1b[31m\u202e"
	hostile := func(s string) string {
		raw, err := json.Marshal(s + esc)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	uid := fmt.Sprintf(`"metadata":{"name":"a","namespace":"ns","uid":%s,"labels":{%s:%s,"kueue.x-k8s.io/job-uid":%s},"ownerReferences":[{"kind":"Job","name":%s,"uid":%s}],"annotations":{%s:%s}}`,
		hostile("u"), hostile("k"), hostile("v"), hostile("j"), hostile("o"), hostile("ou"), hostile("n"), hostile("m"))
	pod := fmt.Sprintf(`"nodeSelector":{%s:%s},"tolerations":[{"key":%s}],"containers":[{"name":"c","resources":{"requests":{%s:"1"}}}]`, hostile("k"), hostile("v"), hostile("t"), hostile("r"))
	w := read(t, strings.Join([]string{
		fmt.Sprintf(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload",%s,"spec":{"queueName":%s,"podSets":[{"name":"m","count":1,"template":{"spec":{%s}}}]}}`, uid, hostile("q"), pod),
		fmt.Sprintf(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",%s,"spec":{"tolerations":[{"key":%s}]}}`, uid, hostile("t")),
		fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace",%s}`, uid), fmt.Sprintf(`{"apiVersion":"v1","kind":"Node",%s}`, uid), fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod",%s,"spec":{%s}}`, uid, pod),
		fmt.Sprintf(`{"apiVersion":"v1","kind":"LimitRange",%s,"spec":{"limits":[{"type":%s,"default":{%s:"1"}}]}}`, uid, hostile("t"), hostile("r")),
		fmt.Sprintf(`{"apiVersion":"v1","kind":%s}`, hostile("Other")), fmt.Sprintf(`{"apiVersion":%s,"kind":"Workload"}`, hostile("kueue.x-k8s.io/v")),
	}, "\n"))
	if dirty := dirtyTexts(w); len(dirty) > 0 {
		t.Errorf("texts that are not safe to draw: %q", dirty)
	}
	if got := w.Snapshot.Workloads[0].UID; got != `u\x1b[31m\u202e` {
		t.Errorf("UID %q", got)
	}
}
