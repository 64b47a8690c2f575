package reason

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	kueueworkload "sigs.k8s.io/kueue/pkg/workload"

	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/world"
)

func after(d time.Duration) *time.Duration { return &d }

// made is a Workload that was made so long ago.
func made(ago time.Duration, state world.State, c ...world.Conditions) *world.Workload {
	w := workload(state, c...)
	w.Created = now.Add(-ago)
	return w
}

func TestTimesOf(t *testing.T) {
	past := int32(90)
	ran := made(time.Hour, world.Pending)
	ran.PastExecutionSeconds = &past
	backoff := func(state world.State, in time.Duration, c ...world.Conditions) *world.Workload {
		w := made(time.Hour, state, c...)
		w.RequeueAt = now.Add(in)
		return w
	}
	slow := made(time.Hour, world.Evicting, cond("Evicted", "True", "Preempted", "", 40*time.Minute), cond("Admitted", "True", "Admitted", "", 50*time.Minute))
	slow.Grace = 30 * time.Minute
	patient := made(time.Hour, world.Evicting, cond("Evicted", "True", "Preempted", "", 20*time.Minute))
	patient.Grace = 30 * time.Minute
	tests := map[string]struct {
		w    *world.Workload
		want Times
	}{
		"pending since it was made":           {made(3*time.Minute, world.Pending), Times{Wait: after(3 * time.Minute)}},
		"requeued since":                      {made(time.Hour, world.Pending, cond("Requeued", "True", "Preempted", "", time.Minute)), Times{Wait: after(time.Minute)}},
		"in backoff: the condition counts":    {made(time.Hour, world.Pending, cond("Requeued", "False", "PodsReadyTimeout", "", 2*time.Minute)), Times{Wait: after(2 * time.Minute)}},
		"it ran before":                       {ran, Times{Wait: after(time.Hour), PastExecution: after(90 * time.Second)}},
		"reserving still waits":               {made(time.Hour, world.Reserving, cond("QuotaReserved", "True", "", "", time.Minute)), Times{Wait: after(time.Hour)}},
		"admitted":                            {made(time.Hour, world.Admitted, cond("QuotaReserved", "True", "", "", 31*time.Minute), cond("Admitted", "True", "", "", 30*time.Minute)), Times{Wait: after(30 * time.Minute), Running: after(30 * time.Minute)}},
		"finished":                            {made(time.Hour, world.Finished, cond("Admitted", "True", "", "", 30*time.Minute)), Times{}},
		"deactivated":                         {made(time.Hour, world.Deactivated), Times{}},
		"made in the future, a little":        {made(-3*time.Second, world.Pending), Times{Wait: after(0)}},
		"made in the future":                  {made(-time.Minute, world.Pending), Times{Wait: after(0), Skew: true}},
		"a condition in the future":           {made(time.Hour, world.Pending, cond("QuotaReserved", "False", "Pending", "", -time.Minute)), Times{Wait: after(time.Hour), Skew: true}},
		"admitted before its quota":           {made(time.Hour, world.Admitted, cond("QuotaReserved", "True", "", "", 5*time.Minute), cond("Admitted", "True", "", "", 6*time.Minute)), Times{Wait: after(54 * time.Minute), Running: after(6 * time.Minute), Skew: true}},
		"admitted before its quota, rounding": {made(time.Hour, world.Admitted, cond("QuotaReserved", "True", "", "", 5*time.Minute), cond("Admitted", "True", "", "", 5*time.Minute+time.Second)), Times{Wait: after(55*time.Minute - time.Second), Running: after(5*time.Minute + time.Second)}},
		"admitted before it was made":         {made(time.Minute, world.Admitted, cond("Admitted", "True", "", "", 2*time.Minute)), Times{Wait: after(0), Running: after(2 * time.Minute), Skew: true}},
		"nobody wrote when it was made":       {workload(world.Pending), Times{}},
		"a retry ahead":                       {backoff(world.Pending, time.Minute), Times{Wait: after(time.Hour)}},
		"a retry that is due":                 {backoff(world.Pending, -time.Minute), Times{Wait: after(time.Hour), Overdue: after(time.Minute)}},
		"an old retry of one that runs":       {backoff(world.Admitted, -time.Hour, cond("Admitted", "True", "", "", time.Minute)), Times{Wait: after(59 * time.Minute), Running: after(time.Minute)}},
		"an eviction":                         {made(time.Hour, world.Evicting, cond("Evicted", "True", "Preempted", "", 4*time.Minute)), Times{}},
		"an eviction that does not end":       {made(time.Hour, world.Evicting, cond("Evicted", "True", "Preempted", "", 15*time.Minute)), Times{Overdue: after(10 * time.Minute)}},
		"its pods may take long":              {patient, Times{}},
		"its pods took longer":                {slow, Times{Wait: after(10 * time.Minute), Running: after(50 * time.Minute), Overdue: after(5 * time.Minute)}},
		"an eviction without a time":          {made(time.Hour, world.Evicting, world.Conditions{{Type: "Evicted", Status: "True"}}), Times{}},
		"an eviction, its retry ahead":        {backoff(world.Evicting, time.Hour, cond("Evicted", "True", "PodsReadyTimeout", "", 15*time.Minute)), Times{Overdue: after(10 * time.Minute)}},
		"an eviction, its retry due":          {backoff(world.Evicting, -14*time.Minute, cond("Evicted", "True", "PodsReadyTimeout", "", 15*time.Minute)), Times{Overdue: after(14 * time.Minute)}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, TimesOf(tc.w, now)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// The wait of a Workload in the queue is what Kueue measures, and never negative.
func TestWaitIsKueues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.Custom(func(t *rapid.T) metav1.Time {
			return metav1.NewTime(now.Add(time.Duration(rapid.IntRange(-3600, 60).Draw(t, "seconds")) * time.Second))
		})
		o := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at.Draw(t, "made")}}
		if rapid.Bool().Draw(t, "requeued") {
			o.Status.Conditions = []metav1.Condition{{Type: kueue.WorkloadRequeued, Status: rapid.SampledFrom([]metav1.ConditionStatus{"True", "False"}).Draw(t, "status"), LastTransitionTime: at.Draw(t, "at")}}
		}
		got := TimesOf(project.Workload(o), now)
		if want := max(0, kueueworkload.QueuedWaitTime(o, clocktesting.NewFakeClock(now))); got.Wait == nil || *got.Wait != want {
			t.Errorf("wait %v, Kueue measures %v", got.Wait, want)
		}
	})
}

// What is said of an eviction keeps to the clock.
func TestEvictions(t *testing.T) {
	evicted := func(ago, grace time.Duration, retry time.Time) *world.Workload {
		w := workload(world.Evicting, cond("Evicted", "True", "PodsReadyTimeout", "", ago))
		w.Grace, w.RequeueAt = grace, retry
		return w
	}
	timeless := workload(world.Evicting, world.Conditions{{Type: "Evicted", Status: "True", Reason: "PodsReadyTimeout"}})
	tests := map[string]struct {
		w     *world.Workload
		stuck bool
		want  string
	}{
		"under way":               {evicted(time.Minute, 0, time.Time{}), false, "Being evicted (PodsReadyTimeout) for 60s: its pods have not ended, the quota is still taken."},
		"its pods may take long":  {evicted(20*time.Minute, 30*time.Minute, time.Time{}), false, "Being evicted (PodsReadyTimeout) for 20m: its pods have not ended, the quota is still taken."},
		"its pods took longer":    {evicted(40*time.Minute, 30*time.Minute, time.Time{}), true, "Eviction (PodsReadyTimeout) has not ended for 40m: the job still has active pods and holds its quota."},
		"its retry is due":        {evicted(40*time.Minute, 0, now.Add(-30*time.Minute)), true, "Eviction (PodsReadyTimeout) has not ended for 40m: the job still has active pods and holds its quota. Its retry has been due for 30m."},
		"its retry is ahead":      {evicted(40*time.Minute, 0, now.Add(time.Hour)), true, "Eviction (PodsReadyTimeout) has not ended for 40m: the job still has active pods and holds its quota."},
		"nobody wrote since when": {timeless, false, "Being evicted (PodsReadyTimeout) for an unknown time: its pods have not ended, the quota is still taken."},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e := explained(snapshotOf(newScene().rows(tc.w)...), tc.w, now)
			if d := cmp.Diff(tc.want, e.Sentence); d != "" || e.Stuck != tc.stuck || e.Class != PodsNotReady || (e.Advice == AdviceEscalate) != tc.stuck {
				t.Errorf("%s, %s, stuck %v (-want +got):\n%s", e.Class, e.Advice, e.Stuck, d)
			}
		})
	}
}
