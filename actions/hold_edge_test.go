package actions

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

func TestResume(t *testing.T) {
	record := func(policy, previous string) string {
		return `{"version":1,"by":"lee","at":"2026-12-02T10:00:00Z","reason":"r","policy":"` + policy + `","previous":"` + previous + `"}`
	}
	tests := map[string]struct {
		policy, record string
		change, note   string
		after          string
	}{
		"to none":                     {"Hold", record("Hold", "None"), "stopPolicy Hold -> None", `Held by lee`, "None"},
		"to the recorded policy":      {"HoldAndDrain", record("HoldAndDrain", "Hold"), "stopPolicy HoldAndDrain -> Hold", "It stays stopped: the recorded policy is Hold.", "Hold"},
		"without a record":            {"Hold", "", "stopPolicy Hold -> None", "not recorded, None is assumed", "None"},
		"a record of another program": {"Hold", `{"version":9}`, "stopPolicy Hold -> None", "version 9", "None"},
		"changed since":               {"HoldAndDrain", record("Hold", "None"), "stopPolicy HoldAndDrain -> None", "Its policy was changed since", "None"},
		"lifted already":              {"None", record("Hold", "None"), "the hold record is taken away", "The hold was undone; by whom is not recorded. Only the record is left.", "None"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			putQueue(s, tc.policy, tc.record)
			d := desk(t, s, nil)
			p, err := d.PlanResume(t.Context(), queueRef)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(p.Targets[0].Change, tc.change) || !strings.Contains(strings.Join(p.Notes, "\n"), tc.note) {
				t.Errorf("change %q, notes %q", p.Targets[0].Change, p.Notes)
			}
			r, err := d.Execute(t.Context(), p, p.Confirm.Expects)
			if err != nil || !r.OK() {
				t.Fatalf("%+v, %v", r, err)
			}
			o := s.get(queuePath)
			_, left := metaOf(o)["annotations"].(map[string]any)[world.HoldAnnotation]
			if got := o["spec"].(map[string]any)["stopPolicy"]; got != tc.after || left {
				t.Errorf("stopPolicy %v, record left %v; want %s and none", got, left, tc.after)
			}
		})
	}
	s := newAPIServer(t)
	putQueue(s, "None", "")
	if _, err := desk(t, s, nil).PlanResume(t.Context(), queueRef); err == nil || !strings.Contains(err.Error(), "is not held") {
		t.Errorf("a queue that is not held: %v", err)
	}
}

// Resuming to HoldAndDrain evicts, so it is asked for like a drain.
func TestResumeOfADrain(t *testing.T) {
	s := newAPIServer(t)
	putQueue(s, "Hold", `{"version":1,"by":"lee","at":"2026-12-02T10:00:00Z","policy":"Hold","previous":"HoldAndDrain"}`)
	p, err := desk(t, s, nil).PlanResume(t.Context(), queueRef)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"w0", "w1", "w5"}, names(p.Evicts)); diff != "" || p.Confirm != (Confirm{ConfirmContext, "prod 3"}) {
		t.Errorf("evicts (-want +got):\n%s\nconfirm %+v", diff, p.Confirm)
	}
}

// Where not all Workloads are known the number of the evicted is not either.
func TestDrainOfWhatCannotBeSeen(t *testing.T) {
	tests := map[string]struct {
		contract world.Contract
		feed     world.Feed
		want     string
	}{
		"no access":     {world.Contract{Used: "v1beta2"}, world.Denied, "the list of Workloads is denied; the list of LocalQueues is denied"},
		"one namespace": {world.Contract{Used: "v1beta2", Namespace: "ns"}, world.Live, "only Workloads of namespace ns are read"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			putQueue(s, "None", "")
			st := store.New(ours{})
			st.SetContract(tc.contract)
			for _, k := range world.WatchedKinds() {
				st.SetFreshness(k, world.Freshness{Feed: tc.feed, Synced: true})
			}
			snap := st.Snapshot()
			d := desk(t, s, func(o *Options) { o.World = func() *store.Snapshot { return snap } })
			p, err := d.PlanHold(t.Context(), queueRef, true, "")
			if err != nil {
				t.Fatal(err)
			}
			if p.Confirm.Expects != "prod unknown" || !strings.Contains(p.Incomplete, tc.want) {
				t.Errorf("confirm %+v, incomplete %q", p.Confirm, p.Incomplete)
			}
		})
	}
}

// A hold by a later version is not overwritten: what it recorded would be lost.
func TestDrainKeepsARecordItCannotRead(t *testing.T) {
	s := newAPIServer(t)
	putQueue(s, "Hold", `{"version":2,"before":"None"}`)
	if _, err := desk(t, s, nil).PlanHold(t.Context(), queueRef, true, ""); err == nil || !strings.Contains(err.Error(), "cannot read") {
		t.Errorf("%v", err)
	}
}

func TestWhatKueueDoesNotReport(t *testing.T) {
	s := newAPIServer(t)
	s.react = func(map[string]any) {}
	s.put("cohorts/co", "Cohort", map[string]any{}, map[string]any{"parentName": "a"})
	d := desk(t, s, nil)
	p, err := d.PlanFile(t.Context(), fileOf("apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: co}\nspec: {parentName: b}\n"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Execute(t.Context(), p, p.Confirm.Expects)
	if err != nil || !r.OK() || r.Objects[0].Verified || !r.Objects[0].Unverifiable {
		t.Errorf("%+v, %v", r, err)
	}
}

// Labels are not in the generation, and still nobody's change is overwritten.
func TestAColleaguesLabelIsKept(t *testing.T) {
	label := func(s *apiServer, v string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		metaOf(s.objects[base+queuePath])["labels"] = map[string]any{"tier": v}
	}
	for name, late := range map[string]bool{"before the execution": false, "at the last moment": true} {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			putQueue(s, "None", "")
			label(s, "1")
			d := desk(t, s, nil)
			p, err := d.PlanEdit(t.Context(), edited(t, d, `tier: "1"`, `tier: "3"`))
			if err != nil {
				t.Fatal(err)
			}
			if late {
				s.before = func(*http.Request, int) int { label(s, "2"); return 0 }
			} else {
				label(s, "2")
			}
			r, err := d.Execute(t.Context(), p, p.Confirm.Expects)
			if err != nil || r.Objects[0].Outcome != Refused || !strings.Contains(r.Objects[0].Detail, "the label tier of ClusterQueue/q changed") || s.writes != 0 {
				t.Errorf("%+v, %v, %d writes", r, err, s.writes)
			}
		})
	}
}

func TestTheJournalRecoversFromHalfALine(t *testing.T) {
	j := NewJournal(filepath.Join(t.TempDir(), "journal.jsonl"))
	if err := os.WriteFile(j.Path(), []byte(`{"id":"cut of`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := j.intent(Plan{Action: Hold}, tick); err != nil {
		t.Fatal(err)
	}
	entries, bad, err := j.Read()
	if err != nil || len(entries) != 1 || len(bad) != 1 {
		t.Errorf("%d entries, problems %q, %v; want one of each", len(entries), bad, err)
	}
}

func TestASecondHold(t *testing.T) {
	s := newAPIServer(t)
	putQueue(s, "Hold", `{"version":1,"by":"lee","at":"2026-12-02T10:00:00Z","policy":"Hold","previous":"None"}`)
	d := desk(t, s, nil)
	if _, err := d.PlanHold(t.Context(), queueRef, false, ""); err == nil || !strings.Contains(err.Error(), "already stopped with Hold by lee") {
		t.Errorf("hold of a held queue: %v", err)
	}
	p, err := d.PlanHold(t.Context(), queueRef, true, "")
	if err != nil {
		t.Fatal(err)
	}
	if p.Confirm != (Confirm{ConfirmContext, "prod 3"}) {
		t.Errorf("a drain asks for the context and the number of evicted; got %+v", p.Confirm)
	}
	var patch struct {
		Metadata struct{ Annotations map[string]string }
	}
	if err := json.Unmarshal(p.Targets[0].Patch, &patch); err != nil {
		t.Fatal(err)
	}
	var rec world.HoldRecord
	if err := json.Unmarshal([]byte(patch.Metadata.Annotations[world.HoldAnnotation]), &rec); err != nil {
		t.Fatal(err)
	}
	if rec.Previous != world.StopNone || rec.Policy != world.StopHoldAndDrain {
		t.Errorf("record %+v: what the first hold found must be kept", rec)
	}
}

func TestReadOnly(t *testing.T) {
	s := newAPIServer(t)
	putQueue(s, "None", "")
	d := desk(t, s, func(o *Options) { o.ReadOnly = true })
	if _, err := d.PlanHold(t.Context(), queueRef, false, ""); err == nil || !strings.Contains(err.Error(), "--read-only") {
		t.Errorf("%v", err)
	}
	if ok, why := d.May(queueRef, Hold); ok || why != "started with --read-only" {
		t.Errorf("May: %v %q", ok, why)
	}
}
