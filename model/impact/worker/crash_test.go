package worker

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/world"
)

func TestReasons(t *testing.T) {
	c := exec.Command("/bin/sh", "-c", "exit 2")
	_ = c.Run() // it is made to fail
	for name, tc := range map[string]struct{ said, want string }{
		"nothing":        {"", "exit status 2"},
		"only blanks":    {"\n \n\t\r\n", "exit status 2"},
		"words":          {"first\nlast\n\n", "last (exit status 2)"},
		"no end":         {"panic: half", "panic: half"},
		"a second panic": {"panic: one\n\tpanic: two [recovered]\n", "panic: one"},
		"deadlock":       {"log\nfatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan receive]:\n", "fatal error: all goroutines are asleep - deadlock!"},
		"stack":          {"runtime: goroutine stack exceeds 134217728-byte limit\nruntime: sp=0x1 stack=[0x2, 0x3]\nfatal error: stack overflow\n\nruntime stack:\n", "its stack overflowed (runtime: goroutine stack exceeds 134217728-byte limit)"},
		"memory":         {"fatal error: runtime: out of memory\n\nruntime stack:\n", "it had no memory left (fatal error: runtime: out of memory)"},
		"no more memory": {"runtime: cannot allocate memory\nfatal error: x\n", "it had no memory left (runtime: cannot allocate memory)"},
		"hostile":        {"panic: \x1b[2J\x00\n", `panic: \x1b[2J\x00`},
		"long":           {"panic: " + strings.Repeat("x", 1<<20) + "\n", "panic: " + strings.Repeat("x", mostRemark-7) + "..."},
		"mentioned":      {"not a panic: really\ngone\n", "gone (exit status 2)"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &remarks{}
			if n, err := r.Write([]byte(tc.said)); n != len(tc.said) || err != nil {
				t.Errorf("wrote %d, %v", n, err)
			}
			if got := r.reason(c.ProcessState); got != tc.want {
				t.Errorf("reason %q, want %q", got, tc.want)
			}
		})
	}
}

// In whatever pieces it comes, what is kept is the same, and little.
func TestRemarksInPieces(t *testing.T) {
	c := exec.Command("/bin/sh", "-c", "exit 2")
	_ = c.Run() // it is made to fail
	rapid.Check(t, func(t *rapid.T) {
		said := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"panic: ", "fatal error: ", "runtime: goroutine stack exceeds", "out of memory", "\n", "\r\n", "word", "\x1b", strings.Repeat("y", 700),
		})).Draw(t, "said"), "")
		whole, pieces := &remarks{}, &remarks{}
		_, _ = whole.Write([]byte(said)) // it never fails
		for rest := said; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "length")
			_, _ = pieces.Write([]byte(rest[:n])) // it never fails
			rest = rest[n:]
			if len(pieces.line) > mostRemark {
				t.Fatalf("%d bytes of a line are kept", len(pieces.line))
			}
		}
		if a, b := whole.reason(c.ProcessState), pieces.reason(c.ProcessState); a != b {
			t.Fatalf("%q in one piece, %q in several", a, b)
		}
	})
}

func TestEditsSurviveJSON(t *testing.T) {
	meta := metav1.ObjectMeta{Name: "x", Namespace: "ns", Generation: 3}
	for _, e := range []Edit{
		{world.KindClusterQueue, &kueue.ClusterQueue{ObjectMeta: meta}, &kueue.ClusterQueue{ObjectMeta: meta, Spec: kueue.ClusterQueueSpec{CohortName: "c"}}},
		{world.KindLocalQueue, nil, &kueue.LocalQueue{ObjectMeta: meta}},
		{world.KindCohort, &kueue.Cohort{ObjectMeta: meta}, nil},
		{world.KindResourceFlavor, nil, &kueue.ResourceFlavor{ObjectMeta: meta}},
		{world.KindAdmissionCheck, nil, &kueue.AdmissionCheck{ObjectMeta: meta}},
		{world.KindWorkload, nil, &kueue.Workload{ObjectMeta: meta}},
	} {
		t.Run(string(e.Kind), func(t *testing.T) {
			raw, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			got := Edit{Old: &kueue.Cohort{}} // what was there before goes
			if err := json.Unmarshal(raw, &got); err != nil {
				t.Fatal(err)
			}
			if !equality.Semantic.DeepEqual(e, got) {
				t.Errorf("after JSON (-before +after):\n%s", cmp.Diff(e, got))
			}
		})
	}
	for raw, want := range map[string]string{
		`{"Kind":"Node"}`: "a preview cannot change a Node", `{"Kind":"Cohort","Old":{"spec":1}}`: "an edited Cohort is not readable", `[]`: "cannot unmarshal array",
	} {
		if err := json.Unmarshal([]byte(raw), &Edit{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", raw, err, want)
		}
	}
}
