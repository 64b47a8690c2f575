package actions

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

const queuePath = "clusterqueues/q"

func putQueue(s *apiServer, policy string, record string) {
	meta := map[string]any{"annotations": map[string]any{"team": "a"}}
	if record != "" {
		meta["annotations"] = map[string]any{"team": "a", world.HoldAnnotation: record}
	}
	spec := map[string]any{"cohortName": "co", "futureField": map[string]any{"keep": true}}
	if policy != "" {
		spec["stopPolicy"] = policy
	}
	s.put(queuePath, "ClusterQueue", meta, spec)
}

func names(as []Affected) []string {
	out := []string{}
	for _, a := range as {
		out = append(out, a.Ref.Name)
	}
	return out
}

func TestHold(t *testing.T) {
	s := newAPIServer(t)
	s.warning = "v1 is coming"
	putQueue(s, "", "")
	d := desk(t, s, nil)
	before := s.get(queuePath)

	p, err := d.PlanHold(t.Context(), queueRef, false, "bad\x1b[2J quota")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, s.get(queuePath)); diff != "" || s.writes != 0 {
		t.Errorf("a plan changed the world:\n%s", diff)
	}
	for _, c := range []struct {
		list []Affected
		want []string
	}{{p.RunsOn, []string{"w0", "w1", "w5"}}, {p.LosesReservation, []string{"w2"}}, {p.StaysPending, []string{"w3"}}, {p.Evicts, []string{}}} {
		if diff := cmp.Diff(c.want, names(c.list)); diff != "" {
			t.Errorf("list (-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff([]string{"v1 is coming"}, p.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if p.Confirm != (Confirm{ConfirmName, "q"}) {
		t.Errorf("somebody loses a reservation, so the name is asked for; got %+v", p.Confirm)
	}
	if !strings.Contains(strings.Join(p.Diff, "\n"), "+  stopPolicy: Hold") {
		t.Errorf("the difference does not show the change:\n%s", strings.Join(p.Diff, "\n"))
	}
	if _, err := d.Execute(t.Context(), p, "y"); err == nil || s.writes != 0 {
		t.Errorf("executed without the right confirmation: %v, %d writes", err, s.writes)
	}

	r, err := d.Execute(t.Context(), p, "q")
	if err != nil || !r.OK() {
		t.Fatalf("%+v, %v", r, err)
	}
	after := s.get(queuePath)
	var rec world.HoldRecord
	if err := json.Unmarshal([]byte(metaOf(after)["annotations"].(map[string]any)[world.HoldAnnotation].(string)), &rec); err != nil {
		t.Fatal(err)
	}
	want := world.HoldRecord{Version: 1, By: "kim", At: tick, Reason: "bad\x1b[2J quota", Policy: world.StopHold, Previous: world.StopNone}
	if diff := cmp.Diff(want, rec); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	spec := after["spec"].(map[string]any)
	if spec["stopPolicy"] != "Hold" || dump(spec["futureField"]) != `{"keep":true}` || metaOf(after)["annotations"].(map[string]any)["team"] != "a" {
		t.Errorf("after the hold: %s", dump(after))
	}
	if s.writes != 1 {
		t.Errorf("%d writes, want 1", s.writes)
	}
	entries, bad, err := d.opts.Journal.Read()
	if err != nil || len(bad) > 0 || len(entries) != 2 || entries[0].Entry != "intent" || entries[1].Entry != "result" || entries[0].ID != r.JournalID || entries[1].Objects[0].Outcome != Done {
		t.Errorf("journal %+v, %v, %v", entries, bad, err)
	}
	if info, err := os.Stat(d.opts.Journal.Path()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("journal file: %v, %v", info, err)
	}
	if info, err := os.Stat(filepath.Dir(d.opts.Journal.Path())); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("journal folder: %v, %v", info, err)
	}
}

func TestWhatMayHappenBetweenPlanAndExecution(t *testing.T) {
	tests := map[string]struct {
		between func(s *apiServer)
		outcome Outcome
		words   string
		writes  int
	}{
		"nothing":            {func(*apiServer) {}, Done, "Active=False", 1},
		"a status write":     {func(s *apiServer) { s.touch(queuePath) }, Done, "Active=False", 1},
		"a colleague's edit": {func(s *apiServer) { s.edit(queuePath, "queueingStrategy", "StrictFIFO") }, Refused, "the spec of ClusterQueue/q changed", 0},
		"another hold record": {func(s *apiServer) {
			s.mu.Lock()
			defer s.mu.Unlock()
			metaOf(s.objects[base+queuePath])["annotations"] = map[string]any{world.HoldAnnotation: "x"}
		}, Refused, "the hold record of ClusterQueue/q changed", 0},
		"made again": {func(s *apiServer) {
			s.put(queuePath, "ClusterQueue", map[string]any{"uid": "another"}, map[string]any{})
		}, Refused, "was deleted and made again", 0},
		"deleted":                       {func(s *apiServer) { s.mu.Lock(); defer s.mu.Unlock(); delete(s.objects, base+queuePath) }, Refused, "not found", 0},
		"forbidden":                     {func(s *apiServer) { s.before = func(*http.Request, int) int { return 403 } }, Refused, "Ask a platform admin", 0},
		"the connection breaks":         {func(s *apiServer) { s.before = func(*http.Request, int) int { return -1 } }, OutcomeUnknown, "EOF", 0},
		"no server any more":            {func(s *apiServer) { s.CloseClientConnections(); s.Close() }, NotDone, "refused", 0},
		"trouble behind the API server": {func(s *apiServer) { s.before = func(*http.Request, int) int { return 500 } }, OutcomeUnknown, "said the server", 0},
		"status written all the time": {func(s *apiServer) {
			s.before = func(*http.Request, int) int { s.touch(queuePath); return 0 }
		}, Done, "Active=False", 1},
		"an edit at the last moment": {func(s *apiServer) {
			s.before = func(*http.Request, int) int { s.edit(queuePath, "queueingStrategy", "StrictFIFO"); return 0 }
		}, Refused, "the spec of ClusterQueue/q changed", 0},
		"a label at the last moment": {func(s *apiServer) {
			s.before = func(*http.Request, int) int {
				s.mu.Lock()
				defer s.mu.Unlock()
				metaOf(s.objects[base+queuePath])["labels"] = map[string]any{"x": "y"}
				return 0
			}
		}, Done, "Active=False", 1},
		"annotations gone at the last moment": {func(s *apiServer) {
			s.before = func(*http.Request, int) int {
				s.mu.Lock()
				defer s.mu.Unlock()
				delete(metaOf(s.objects[base+queuePath]), "annotations")
				return 0
			}
		}, Done, "Active=False", 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			putQueue(s, "None", "")
			d := desk(t, s, nil)
			p, err := d.PlanHold(t.Context(), queueRef, false, "")
			if err != nil {
				t.Fatal(err)
			}
			tc.between(s)
			r, err := d.Execute(t.Context(), p, p.Confirm.Expects)
			if err != nil {
				t.Fatal(err)
			}
			o := r.Objects[0]
			if o.Outcome != tc.outcome || !strings.Contains(o.Detail, tc.words) || s.writes != tc.writes {
				t.Errorf("%s, %q, %d writes; want %s, %q, %d", o.Outcome, o.Detail, s.writes, tc.outcome, tc.words, tc.writes)
			}
		})
	}
}

// A drain evicts who was shown, and nobody who came after.
func TestDrainOfALateComer(t *testing.T) {
	s := newAPIServer(t)
	putQueue(s, "None", "")
	st := store.New(ours{})
	st.SetContract(world.Contract{Used: "v1beta2"})
	for _, k := range world.WatchedKinds() {
		st.SetFreshness(k, world.Freshness{Feed: world.Live, Synced: true})
	}
	runs := func(name string) {
		st.Put(&world.Workload{Meta: world.Meta{Key: world.Key{Namespace: "ns", Name: name}, UID: types.UID(name)}, Active: true, State: world.Admitted, ClusterQueue: "q"})
	}
	runs("a")
	d := desk(t, s, func(o *Options) { o.World = st.Snapshot })
	p, err := d.PlanHold(t.Context(), queueRef, true, "")
	if err != nil {
		t.Fatal(err)
	}
	runs("b")
	if _, err := d.Execute(t.Context(), p, p.Confirm.Expects); err == nil || !strings.Contains(err.Error(), "Workload/ns/b was admitted since") || s.writes != 0 {
		t.Errorf("%v, %d writes", err, s.writes)
	}
	st.Delete(world.KindWorkload, world.Key{Namespace: "ns", Name: "b"})
	if r, err := d.Execute(t.Context(), p, p.Confirm.Expects); err != nil || !r.OK() {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestAReverseOfTheWriteIsNotVerified(t *testing.T) {
	s := newAPIServer(t)
	putQueue(s, "None", "")
	s.react = func(o map[string]any) { // a colleague's tool undoes it at once
		if spec := o["spec"].(map[string]any); spec["stopPolicy"] == "Hold" && !s.undone {
			s.undone = true
			go s.edit(queuePath, "stopPolicy", "None")
		}
	}
	d := desk(t, s, nil)
	p, err := d.PlanHold(t.Context(), queueRef, false, "")
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Execute(t.Context(), p, p.Confirm.Expects)
	if err != nil || r.Objects[0].Verified || !strings.Contains(r.Objects[0].Detail, "somebody changed the spec again") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestUnverifiedIsSaid(t *testing.T) {
	s := newAPIServer(t)
	putQueue(s, "None", "")
	s.react = func(map[string]any) {} // Kueue is away
	d := desk(t, s, func(o *Options) { o.VerifyFor = 600e6 })
	p, err := d.PlanHold(t.Context(), queueRef, false, "")
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Execute(t.Context(), p, p.Confirm.Expects)
	if err != nil || r.OK() || r.Objects[0].Outcome != Done || r.Objects[0].Verified || !strings.Contains(r.Objects[0].Detail, "generation 1, the spec of 2") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestNothingIsDoneWithoutAJournal(t *testing.T) {
	s := newAPIServer(t)
	putQueue(s, "None", "")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d := desk(t, s, func(o *Options) { o.Journal = NewJournal(filepath.Join(file, "journal")) })
	p, err := d.PlanHold(t.Context(), queueRef, false, "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Execute(t.Context(), p, p.Confirm.Expects)
	var problem *Problem
	if !errors.As(err, &problem) || problem.Do == "" || s.writes != 0 {
		t.Errorf("%v, %d writes", err, s.writes)
	}
}

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
