package file

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"cli.holdfast.dev/holdfast/model/bundle"
	"cli.holdfast.dev/holdfast/model/world"
)

// export writes the Workload as an export and returns its members.
func export(t *testing.T, m bundle.Manifest) []member {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal([]byte(workloadJSON), &o); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := bundle.NewWriter(&b, now)
	if err := w.Objects("workloads/0001.yaml", []map[string]any{o}); err != nil {
		t.Fatal(err)
	}
	m, err := w.Close(m)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	// The members here hold the object as JSON, which has another sum.
	meter := bundle.NewMeter()
	if _, err := meter.Write(text); err != nil {
		t.Fatal(err)
	}
	f := meter.File("workloads/0001.yaml")
	m.Files[0] = f
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return []member{{"workloads/0001.yaml", string(text)}, {"manifest.json", string(raw)}}
}

// What holdfast wrote lists every file: whatever differs was changed.
func TestExportThatWasChanged(t *testing.T) {
	good := export(t, bundle.Manifest{})
	folder := []member{{"x/" + good[0].name, good[0].content}, {"x/" + good[1].name, good[1].content}}
	for name, tc := range map[string]struct {
		members []member
		want    string // in the error; empty for none
	}{
		"as it was":       {good, ""},
		"in a folder":     {folder, ""},
		"a file twice":    {[]member{good[0], good[0], good[1]}, "workloads/0001.yaml is in it twice: it was changed"},
		"a file more":     {[]member{{"workloads/0002.yaml", workloadJSON}, good[0], good[1]}, "workloads/0002.yaml is in it but not in its manifest"},
		"a file less":     {good[1:], "workloads/0001.yaml, which its manifest lists, is not in it"},
		"beside a folder": {append([]member{{"y.yaml", workloadJSON}}, folder...), "y.yaml is in it but not in its manifest"},
		"another number":  {[]member{good[0], {good[1].name, strings.Replace(good[1].content, `"objects":1`, `"objects":2`, 1)}}, "holds 1 objects, its manifest says 2"},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := Read(strings.NewReader(packed(tarred(tc.members...))), "f", now)
			switch {
			case tc.want == "" && (err != nil || len(w.Snapshot.Workloads) != 1):
				t.Errorf("%v", err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

// What an export says that it left out is unknown, what it lists is all there is.
func TestExportSaysWhatItHolds(t *testing.T) {
	members := export(t, bundle.Manifest{
		Context: "prod", Scope: bundle.Scope{ClusterQueue: "q"},
		Lists:  []bundle.List{{Resource: "clusterqueues", Kind: "ClusterQueue"}, {Resource: "events", Kind: "Event", Cut: "the first 20000 are taken"}},
		Unread: []bundle.Unread{{Resource: "cohorts", Kind: "Cohort", Why: "forbidden."}},
	})
	w := read(t, packed(tarred(members...)))
	if f := w.Snapshot.Fresh(world.KindCohort); f.Feed != world.Absent || f.Detail != "it was not exported: forbidden" {
		t.Errorf("cohorts %+v", f)
	}
	if f := w.Snapshot.Fresh(world.KindClusterQueue); f.Feed != world.Live {
		t.Errorf("ClusterQueues %+v", f)
	}
	if c := w.Snapshot.Contract; c.Part != "ClusterQueue q" || c.Limit() != "ClusterQueue q" {
		t.Errorf("of a part: %+v", c)
	}
	notes := strings.Join(w.Notes, "\n")
	for _, want := range []string{"cohorts were not exported: forbidden.", "events are not all there: the first 20000 are taken.", "Exported from context prod"} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q is not in\n%s", want, notes)
		}
	}
}
