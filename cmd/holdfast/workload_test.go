package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

func TestWhichWorkloadIsMeant(t *testing.T) {
	st := store.New(clock.RealClock{})
	put := func(name, job string, state world.State) {
		w := &world.Workload{Meta: world.Meta{Key: world.Key{Namespace: "ns", Name: name}, UID: types.UID(name)}, State: state, Owner: &world.Owner{Kind: "Job", Name: job}}
		st.Put(w)
	}
	put("job-train-1", "train", world.Finished)
	put("job-train-2", "train", world.Pending)
	put("job-done", "done", world.Finished)
	put("job-twice-1", "twice", world.Pending)
	put("job-twice-2", "twice", world.Admitted)
	s := st.Snapshot()
	tests := []struct{ arg, want, words string }{
		{arg: "wl/ns/any", want: "any"},
		{arg: "job/ns/train", want: "job-train-2"},
		{arg: "JOB/ns/train", want: "job-train-2"},
		{arg: "job/ns/done", words: "is finished"},
		{arg: "job/ns/twice", words: "wl/ns/job-twice-1 (of Job twice), wl/ns/job-twice-2 (of Job twice)"},
		{arg: "job/other/train", words: "no Workload belongs to a job other/train"},
		{arg: "train", words: "write wl/NAMESPACE/NAME"},
		{arg: "job/train", words: "write wl/NAMESPACE/NAME"},
		{arg: "cq/ns/q", words: "write wl/NAMESPACE/NAME"},
		{arg: "wl//q", words: "write wl/NAMESPACE/NAME"},
	}
	for _, tt := range tests {
		find, err := parseWorkload(tt.arg)
		var ref world.Ref
		if err == nil {
			ref, err = find(s)
		}
		if tt.words != "" {
			if err == nil || !strings.Contains(err.Error(), tt.words) {
				t.Errorf("%s: %v, want %q", tt.arg, err, tt.words)
			}
			continue
		}
		if d := cmp.Diff(tt.want, ref.Name); err != nil || d != "" || ref.Kind != world.KindWorkload {
			t.Errorf("%s: %v, %v", tt.arg, ref, err)
		}
	}
}

func TestPriorityNeedsAClass(t *testing.T) {
	if _, errs, code := try(t, "priority", "wl/ns/w"); code != exitUsage || !strings.Contains(errs, "--class") {
		t.Errorf("exit %d, %q", code, errs)
	}
}
