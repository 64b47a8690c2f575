package chain

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/model/world"
)

func eventOn(object string, uid types.UID, reason, message string) world.Event {
	ns, name, _ := strings.Cut(object, "/")
	return world.Event{Kind: world.KindWorkload, Object: world.Key{Namespace: ns, Name: name}, ObjectUID: uid, Reason: reason, Message: message, At: t0}
}

const priorities = "; preemptor effective priority: 900 (base: 900, boost: 0); preemptee effective priority: 500 (base: 500, boost: 0)"

func TestTell(t *testing.T) {
	p900, p500, minus := int32(900), int32(500), int32(-7)
	opera, brass := world.Key{Namespace: "stage", Name: "job-opera"}, world.Key{Namespace: "band", Name: "job-brass"}
	tests := map[string]struct {
		event world.Event
		want  *told
	}{
		"on the preemptor": {
			eventOn("stage/job-opera", "o", "PreemptedWorkload", "Preempted workload band/job-brass (UID: b) in ClusterQueue mid"+priorities),
			&told{victim: "b", victimName: brass, preemptor: "o", preemptorName: opera, victimPriority: &p500, preemptorPriority: &p900},
		},
		"on the victim": {
			eventOn("band/job-brass", "b", "Preempted", "Preempted to accommodate a workload (UID: o, JobUID: j) due to reclamation within the cohort; preemptor path: /hall/top; preemptee path: /hall/mid"+priorities),
			&told{victim: "b", victimName: brass, preemptor: "o", job: "j", victimPriority: &p500, preemptorPriority: &p900},
		},
		"the eviction has no priorities": {
			eventOn("band/job-brass", "b", "EvictedDueToPreempted", "Preempted to accommodate a workload (UID: o, JobUID: j) due to reclamation within the cohort; preemptor path: /hall/top; preemptee path: /hall/mid"),
			&told{victim: "b", victimName: brass, preemptor: "o", job: "j"},
		},
		"older: no job, no paths": {
			eventOn("band/job-brass", "b", "Preempted", "Preempted to accommodate a workload (UID: o) due to prioritization in the ClusterQueue"),
			&told{victim: "b", victimName: brass, preemptor: "o"},
		},
		"negative and huge priorities": {
			eventOn("stage/job-opera", "o", "PreemptedWorkload", "Preempted workload band/job-brass (UID: b) in ClusterQueue mid; preemptor effective priority: 2147483648 (base: 1, boost: 2147483647); preemptee effective priority: -7 (base: -7, boost: 0)"),
			&told{victim: "b", victimName: brass, preemptor: "o", preemptorName: opera, victimPriority: &minus},
		},
		"cut in the middle": {
			eventOn("stage/job-opera", "o", "PreemptedWorkload", "Preempted workload band/job-brass (UID: b) in ClusterQueue mid; preemptor effective priority: "),
			&told{victim: "b", victimName: brass, preemptor: "o", preemptorName: opera},
		},
		"only the job is known":   {eventOn("band/job-brass", "b", "Preempted", "Preempted to accommodate a workload (UID: UNKNOWN, JobUID: j) due to UNKNOWN"), &told{victim: "b", victimName: brass, job: "j"}},
		"both unknown":            {eventOn("band/job-brass", "b", "Preempted", "Preempted to accommodate a workload (UID: UNKNOWN, JobUID: UNKNOWN) due to UNKNOWN"), nil},
		"victim without a UID":    {eventOn("stage/job-opera", "o", "PreemptedWorkload", "Preempted workload band/job-brass in ClusterQueue mid"), nil},
		"victim unknown":          {eventOn("stage/job-opera", "o", "PreemptedWorkload", "Preempted workload band/job-brass (UID: UNKNOWN) in ClusterQueue mid"), nil},
		"of an object without":    {eventOn("band/job-brass", "", "Preempted", "Preempted to accommodate a workload (UID: o, JobUID: j)"), nil},
		"another reason":          {eventOn("band/job-brass", "b", "Pending", "Preempted to accommodate a workload (UID: o, JobUID: j)"), nil},
		"the text further on":     {eventOn("band/job-brass", "b", "Preempted", "Not Preempted to accommodate a workload (UID: o, JobUID: j)"), nil},
		"of a pod, by that word":  {world.Event{Kind: "Pod", ObjectUID: "b", Reason: "Preempted", Message: "Preempted to accommodate a workload (UID: o, JobUID: j)"}, nil},
		"of a pod, by Kubernetes": {world.Event{Kind: "Pod", ObjectUID: "b", Reason: "Preempted", Message: "Preempted by pod x on node y"}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := tell(tc.event)
			if tc.want == nil {
				if ok {
					t.Errorf("tells %+v", got)
				}
				return
			}
			tc.want.at = t0
			if d := cmp.Diff(*tc.want, got, cmp.AllowUnexported(told{})); !ok || d != "" {
				t.Errorf("told %t (-want +got):\n%s", ok, d)
			}
		})
	}
}

func FuzzTell(f *testing.F) {
	for _, s := range []string{
		"Preempted workload band/job-brass (UID: b) in ClusterQueue mid" + priorities,
		"Preempted to accommodate a workload (UID: o, JobUID: j) due to reclamation within the cohort while borrowing; preemptor path: /hall/top; preemptee path: /hall/mid" + priorities,
		"Preempted to accommodate a workload (UID: UNKNOWN, JobUID: UNKNOWN) due to prioritization in the ClusterQueue; preemptor path: UNKNOWN; preemptee path: UNKNOWN",
		"Preempted to accommodate a workload (UID: o) due to prioritization in the ClusterQueue", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, message string) {
		for _, reason := range []string{"PreemptedWorkload", "Preempted", "EvictedDueToPreempted"} {
			e := eventOn("ns/name", "here", reason, message)
			got, ok := tell(e)
			if !ok {
				continue
			}
			if got.victim == "" || got.preemptor == "" && got.job == "" {
				t.Errorf("tells of nobody: %+v", got)
			}
			for _, uid := range []types.UID{got.victim, got.preemptor, got.job} {
				if uid == "UNKNOWN" || uid != "here" && !strings.Contains(message, string(uid)) || strings.ContainsAny(string(uid), " \t\n,)") {
					t.Errorf("%q is no UID of %q", uid, message)
				}
			}
			if got.victim != "here" && got.preemptor != "here" {
				t.Errorf("the event's own object has no part in it: %+v", got)
			}
			if k := got.victimName; k.Name == "" || strings.ContainsAny(k.Namespace+k.Name, "/ \t\n") {
				t.Errorf("a victim is called %q", k)
			}
		}
	})
}
