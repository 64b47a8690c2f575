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
