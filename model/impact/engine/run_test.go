package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Every answer here follows from the scene by hand.
func TestRun(t *testing.T) {
	policy := func(within, reclaim kueue.PreemptionPolicy) func(*kueue.ClusterQueue) {
		return func(q *kueue.ClusterQueue) {
			q.Spec.Preemption = &kueue.ClusterQueuePreemption{WithinClusterQueue: within, ReclaimWithinCohort: reclaim}
		}
	}
	stop := func(p kueue.StopPolicy) func(*kueue.ClusterQueue) {
		return func(q *kueue.ClusterQueue) { q.Spec.StopPolicy = &p }
	}
	for _, c := range []struct {
		name  string
		scene func(*scene) []Change
		want  told
	}{
		{"nothing changes", func(s *scene) []Change {
			s.queue("a", "", 4)
			s.running("r", "a", 4, 0)
			s.job("p", "a", 1, 0)
			return nil
		}, told{}},
		{"more quota starts the oldest that fits", func(s *scene) []Change {
			s.queue("a", "", 4)
			s.running("r", "a", 4, 0)
			s.job("big", "a", 8, 0)
			s.job("small", "a", 2, 0)
			s.job("later", "a", 2, 0)
			return []Change{s.edit("a", quota(6))}
		}, told{Status: []string{"+small"}}},
		{"strict order lets nothing pass the head", func(s *scene) []Change {
			s.queue("a", "", 4, func(q *kueue.ClusterQueue) { q.Spec.QueueingStrategy = kueue.StrictFIFO })
			s.running("r", "a", 4, 0)
			s.job("big", "a", 8, 0)
			s.job("small", "a", 2, 0)
			return []Change{s.edit("a", quota(6))}
		}, told{}},
		{"less quota evicts nobody", func(s *scene) []Change {
			s.queue("a", "", 4)
			s.running("r", "a", 4, 0)
			return []Change{s.edit("a", quota(1))}
		}, told{}},
		{"a policy lets the higher priority preempt the lower", func(s *scene) []Change {
			s.queue("a", "", 4)
			s.running("low", "a", 2, 0)
			s.running("mid", "a", 2, 10)
			s.job("high", "a", 2, 20)
			return []Change{s.edit("a", policy(kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyNever))}
		}, told{Status: []string{"+high", "-low"}, Preempted: []string{"low<-high InClusterQueue"}}},
		{"reclaiming takes back what was lent", func(s *scene) []Change {
			s.queue("a", "co", 4)
			s.queue("b", "co", 4)
			s.running("b1", "b", 4, 0)
			s.running("b2", "b", 4, 50)
			s.job("a1", "a", 4, 0)
			return []Change{s.edit("a", policy(kueue.PreemptionPolicyNever, kueue.PreemptionPolicyAny))}
		}, told{Status: []string{"+a1", "-b1"}, Preempted: []string{"b1<-a1 InCohortReclamation"}}},
		{"a victim borrows elsewhere", func(s *scene) []Change {
			s.queue("a", "co", 4)
			s.queue("b", "co", 0)
			s.queue("c", "co", 0)
			s.running("b1", "b", 2, 0)
			s.running("c1", "c", 2, 0)
			s.job("a1", "a", 3, 0)
			return []Change{s.edit("a", func(q *kueue.ClusterQueue) {
				quota(5)(q)
				policy(kueue.PreemptionPolicyNever, kueue.PreemptionPolicyAny)(q)
			})}
		}, told{Status: []string{"+a1", "-c1"}, Preempted: []string{"c1<-a1 InCohortReclamation"}}},
		{"a hold keeps what runs", func(s *scene) []Change {
			s.queue("a", "", 4)
			s.running("r", "a", 2, 0)
			return []Change{s.edit("a", stop(kueue.Hold))}
		}, told{Queues: []string{"a true>false Stopped"}}},
		{"a hold keeps the next from starting", func(s *scene) []Change {
			s.queue("a", "", 4)
			s.running("r", "a", 4, 0)
			s.job("p", "a", 1, 0)
			return []Change{s.edit("a", func(q *kueue.ClusterQueue) { stop(kueue.Hold)(q); quota(8)(q) })}
		}, told{Queues: []string{"a true>false Stopped"}}},
		{"a drain evicts", func(s *scene) []Change {
			s.queue("a", "co", 4)
			s.queue("b", "co", 0)
			s.running("r", "a", 4, 0)
			s.job("p", "b", 3, 0)
			return []Change{s.edit("a", stop(kueue.HoldAndDrain))}
		}, told{Status: []string{"+p", "-r"}, Evicted: []string{"r ClusterQueueStopped"}, Queues: []string{"a true>false Stopped"}}},
		{"a resume starts what waited", func(s *scene) []Change {
			s.queue("a", "", 4, stop(kueue.Hold))
			s.job("p", "a", 1, 0)
			return []Change{s.edit("a", stop(kueue.None))}
		}, told{Status: []string{"+p"}, Queues: []string{"a false>true Ready"}}},
		{"a move to a cohort with room", func(s *scene) []Change {
			s.queue("a", "", 1)
			s.queue("b", "co", 8)
			s.job("p", "a", 4, 0)
			return []Change{s.edit("a", func(q *kueue.ClusterQueue) { q.Spec.CohortName = "co" })}
		}, told{Status: []string{"+p"}}},
		{"a cohort that leaves makes room, and Kueue does not look for it", func(s *scene) []Change {
			s.queue("a", "left", 4)
			s.queue("b", "right", 4)
			s.running("b1", "b", 6, 0)
			s.job("a1", "a", 4, 0)
			leaves := s.cohort("right", "root")
			s.cohort("left", "root")
			n := leaves.DeepCopy()
			n.Spec.ParentName = "elsewhere"
			return []Change{{Old: leaves, New: n}}
		}, told{}},
		{"a drained LocalQueue gives back its quota, and Kueue does not look for who could take it", func(s *scene) []Change {
			s.cohort("co", "")
			s.queue("a", "co", 4)
			s.queue("b", "co", 0)
			s.running("r", "a", 4, 0)
			s.job("p", "b", 3, 0)
			return []Change{s.drainLocal("a")}
		}, told{Status: []string{"-r"}, Evicted: []string{"r LocalQueueStopped"}}},
		{"unless there are two levels of cohorts: a ClusterQueue's new status has the one between looked at", func(s *scene) []Change {
			s.cohort("co", "root")
			s.queue("a", "co", 4)
			s.queue("b", "co", 0)
			s.running("r", "a", 4, 0)
			s.job("p", "b", 3, 0)
			return []Change{s.drainLocal("a")}
		}, told{Status: []string{"+p", "-r"}, Evicted: []string{"r LocalQueueStopped"}}},
		{"and the one between has an object", func(s *scene) []Change {
			s.cohort("co", "between")
			s.cohort("between", "root")
			s.queue("a", "co", 4)
			s.queue("b", "root", 0)
			s.running("r", "a", 4, 0)
			s.job("p", "b", 3, 0)
			s.Cohorts = s.Cohorts[1:] // Kueue knows co by its name alone
			return []Change{s.drainLocal("a")}
		}, told{Status: []string{"-r"}, Evicted: []string{"r LocalQueueStopped"}}},
		{"a queue that is being deleted lets nobody in", func(s *scene) []Change {
			s.queue("a", "", 1, func(q *kueue.ClusterQueue) {
				q.DeletionTimestamp, q.Finalizers = &metav1.Time{Time: noon}, []string{kueue.ResourceInUseFinalizerName}
			})
			s.running("r", "a", 1, 0)
			s.queue("b", "", 1)
			s.job("p", "a", 1, 0)
			return []Change{s.edit("b", quota(2))}
		}, told{}},
		{"a drained Workload that claims devices stays out", func(s *scene) []Change {
			s.queue("a", "", 4)
			w := s.running("r", "a", 4, 0)
			w.Spec.PodSets[0].Template.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: ptr("one")}}
			return []Change{s.edit("a", stop(kueue.HoldAndDrain))}
		}, told{Status: []string{"-r"}, Evicted: []string{"r ClusterQueueStopped"}, Queues: []string{"a true>false Stopped"}}},
		{"a Workload that could start before", func(s *scene) []Change {
			s.queue("a", "", 4)
			s.job("p", "a", 1, 0)
			return []Change{s.edit("a", quota(5))}
		}, told{Status: []string{"+p"}, Restless: []string{"p"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene()
			changes := c.scene(s)
			for _, m := range Modes(1) {
				got := s.tell(s.run(t, m, changes...))
				if d := cmp.Diff(c.want, got); d != "" {
					t.Errorf("%s (-want +got):\n%s", m.Name, d)
				}
			}
		})
	}
}

// The objects and changes that a run is given are as they were, also where Kueue
// works on them without a copy.
func TestRunWritesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, changes, opts := randomScene(t)
		before := s.copy()
		edits := make([]Change, len(changes))
		for i, c := range changes {
			edits[i] = Change{Old: c.Old.DeepCopyObject().(client.Object), New: c.New.DeepCopyObject().(client.Object)}
		}
		if _, err := Run(context.Background(), s.Objects, changes, Modes(1)[0], opts); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(before, s.Objects); d != "" {
			t.Errorf("objects (-before +after):\n%s", d)
		}
		if d := cmp.Diff(edits, changes); d != "" {
			t.Errorf("changes (-before +after):\n%s", d)
		}
	})
}

// At the end of a run nothing moves: nothing is due, and as many cycles again as
// there are Workloads change nothing. (A manager that is started anew may find room
// that this one was never told of.)
func TestRunEndsAtRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, changes, opts := randomScene(t)
		if err := SetGates(nil); err != nil {
			t.Fatal(err)
		}
		m := rapid.SampledFrom(Modes(len(changes))).Draw(t, "mode")
		p := assemble(newShelf(adopted(s.Objects)), opts, byCache)
		r := newRun(p, func() { schedule(p.scheduler, p.ctx) }, s.Objects, m, opts)
		out, err := r.run(t.Context(), s.Objects, changes)
		if err != nil {
			t.Fatal(err)
		}
		if out.Bound != "" {
			t.Skip("went back and forth")
		}
		if next := r.next(); !next.IsZero() {
			t.Errorf("something is due in %v", next.Sub(r.clock.Now()))
		}
		for n := range len(s.Workloads) + 2*r.patience {
			if r.waiting() == 0 { // a cycle would wait for a head
				break
			}
			r.cycle()
			if moved, err := r.deliver(); err != nil || moved {
				t.Fatalf("cycle %d more: moved %v, error %v", n+1, moved, err)
			}
		}
	})
}

// A context that has ended ends the run with its error.
func TestRunIsCancelled(t *testing.T) {
	s := newScene()
	s.queue("a", "", 4)
	s.job("p", "a", 1, 0)
	ctx, cancel := context.WithCancel(t.Context())
	seen := 0
	_, err := Run(ctx, s.Objects, nil, Modes(1)[0], Options{At: noon, Progress: func(Progress) { seen++; cancel() }})
	if !errors.Is(err, context.Canceled) || seen == 0 {
		t.Errorf("error %v after %d reports of progress", err, seen)
	}
}

// A run that takes too many cycles is cut off, and says so.
func TestRunIsBounded(t *testing.T) {
	s := newScene()
	s.queue("a", "", 8)
	for _, n := range []string{"p1", "p2", "p3", "p4", "p5"} {
		s.job(n, "a", 1, 0)
	}
	out, err := Run(t.Context(), s.Objects, nil, Modes(1)[0], Options{At: noon, MostCycles: 2})
	if err != nil {
		t.Fatal(err)
	}
	if want := "after 2 scheduling cycles Workloads still moved"; out.Bound != want {
		t.Errorf("bound %q, want %q", out.Bound, want)
	}
}

// The gates of a process are set once.
func TestGatesAreSetOnce(t *testing.T) {
	if err := SetGates(map[string]bool{"NoSuchGate": true}); err == nil {
		t.Error("an unknown gate was set")
	}
	if err := SetGates(nil); err != nil {
		t.Error(err)
	}
	if err := SetGates(map[string]bool{"PartialAdmission": false}); !errors.Is(err, ErrGates) {
		t.Errorf("another set: %v", err)
	}
}

// Who preempted last and still waits stands before a higher priority, in a queue
// of BestEffortFIFO and for a manager that was there when it happened.
func TestRunRemembersThePreemptor(t *testing.T) {
	for _, c := range []struct {
		name     string
		strategy kueue.QueueingStrategy
		since    bool // the preemptor was admitted and evicted since
		want     map[bool]string
	}{
		{"best effort", kueue.BestEffortFIFO, false, map[bool]string{false: "+preemptor", true: "+higher"}},
		{"strict", kueue.StrictFIFO, false, map[bool]string{false: "+higher", true: "+higher"}},
		{"admitted since", kueue.BestEffortFIFO, true, map[bool]string{false: "+higher", true: "+higher"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene()
			s.queue("a", "", 4, func(q *kueue.ClusterQueue) { q.Spec.QueueingStrategy = c.strategy })
			s.running("r", "a", 2, 30)
			s.job("higher", "a", 3, 20)
			p := s.job("preemptor", "a", 3, 10)
			v := s.job("victim", "a", 4, 0)
			for _, typ := range []string{kueue.WorkloadEvicted, kueue.WorkloadPreempted} {
				v.Status.Conditions = append(v.Status.Conditions, metav1.Condition{
					Type: typ, Status: metav1.ConditionTrue, Reason: "InClusterQueue", LastTransitionTime: metav1.NewTime(noon.Add(-time.Hour)),
					Message: "Preempted to accommodate a workload (UID: uid-preemptor, JobUID: job-preemptor) due to prioritization in the ClusterQueue",
				})
			}
			if c.since {
				p.Status.Conditions = append(p.Status.Conditions, metav1.Condition{
					Type: kueue.WorkloadEvicted, Status: metav1.ConditionTrue, Reason: "Preempted", LastTransitionTime: metav1.NewTime(noon.Add(-time.Minute)),
				})
			}
			for _, m := range Modes(1) {
				got := s.tell(s.run(t, m, s.edit("a", quota(5))))
				if d := cmp.Diff(told{Status: []string{c.want[m.Forgets]}}, got); d != "" {
					t.Errorf("%s (-want +got):\n%s", m.Name, d)
				}
			}
		})
	}
}
