package scenario

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// goal is something that has to be so; it returns an error that says what is not.
type goal func(world) error

// all is reached when every goal is.
func all(goals ...goal) goal {
	return func(w world) error {
		var errs []error
		for _, g := range goals {
			errs = append(errs, g(w))
		}
		return errors.Join(errs...)
	}
}

// forEach is the goal for each of the Jobs.
func forEach(jobs []job, g func(job) goal) goal {
	var goals []goal
	for _, j := range jobs {
		goals = append(goals, g(j))
	}
	return all(goals...)
}

// forOne is the goal for any one of the Jobs: of equal ones that wait Kueue looks
// at one only, and which that is rests on their UIDs.
func forOne(jobs []job, g func(job) goal) goal {
	return func(w world) error {
		var all []error
		for _, j := range jobs {
			err := g(j)(w)
			if err == nil {
				return nil
			}
			all = append(all, err)
		}
		return errors.Join(all...)
	}
}

// onWorkload makes a goal of a check of the Job's Workload, which has to exist.
func onWorkload(j job, check func(world, kueue.Workload) error) goal {
	return func(w world) error {
		wl, ok := w.workloads[j.key()]
		if !ok {
			return fmt.Errorf("%s has no Workload", j.key())
		}
		if err := check(w, wl); err != nil {
			return fmt.Errorf("%s: %w", j.key(), err)
		}
		return nil
	}
}

func isTrue(wl kueue.Workload, condition string) bool {
	return meta.IsStatusConditionTrue(wl.Status.Conditions, condition)
}

// admitted: the Job is admitted and each of its pods runs.
func admitted(j job) goal {
	return onWorkload(j, func(w world, wl kueue.Workload) error {
		if !isTrue(wl, kueue.WorkloadAdmitted) {
			return fmt.Errorf("not admitted (%s)", describe(wl.Status.Conditions))
		}
		if got := w.running[j.key()]; got != int(j.pods) {
			return fmt.Errorf("%d of %d pods run", got, j.pods)
		}
		return nil
	})
}

// waits: the Job has no quota, for a reason with the text in it, and no pod.
func waits(j job, text string) goal {
	return onWorkload(j, func(w world, wl kueue.Workload) error {
		c := meta.FindStatusCondition(wl.Status.Conditions, kueue.WorkloadQuotaReserved)
		if c == nil || c.Status != metav1.ConditionFalse || !strings.Contains(c.Message, text) {
			return fmt.Errorf("does not wait with %q (%s)", text, describe(wl.Status.Conditions))
		}
		if got := w.pods[j.key()]; got != 0 {
			return fmt.Errorf("waits for quota but has %d pods", got)
		}
		return nil
	})
}

// queued: the Job has no quota and no pod. Kueue need not have said why: of Jobs that are alike it tries one and leaves
// the others without a condition.
func queued(j job) goal {
	return onWorkload(j, func(w world, wl kueue.Workload) error {
		if isTrue(wl, kueue.WorkloadQuotaReserved) {
			return fmt.Errorf("is not queued (%s)", describe(wl.Status.Conditions))
		}
		if got := w.pods[j.key()]; got != 0 {
			return fmt.Errorf("is queued but has %d pods", got)
		}
		return nil
	})
}

// preemptedBy: the Job lost its quota to one of the preemptors, whose UID the condition names, and is out of it still.
func preemptedBy(j job, preemptors ...job) goal {
	return onWorkload(j, func(w world, wl kueue.Workload) error {
		c := meta.FindStatusCondition(wl.Status.Conditions, kueue.WorkloadPreempted)
		if c == nil || c.Status != metav1.ConditionTrue || !isTrue(wl, kueue.WorkloadEvicted) {
			return fmt.Errorf("not preempted (%s)", describe(wl.Status.Conditions))
		}
		if isTrue(wl, kueue.WorkloadQuotaReserved) {
			return errors.New("preempted, but its quota is not free yet")
		}
		for _, p := range preemptors {
			by, ok := w.workloads[p.key()]
			if ok && strings.Contains(c.Message, string(by.UID)) {
				return nil
			}
		}
		return fmt.Errorf("preempted by somebody else: %s", c.Message)
	})
}

// waitsForCheck: the Job has its quota and waits for the admission check alone.
func waitsForCheck(j job, check string) goal {
	return onWorkload(j, func(_ world, wl kueue.Workload) error {
		if !isTrue(wl, kueue.WorkloadQuotaReserved) || isTrue(wl, kueue.WorkloadAdmitted) {
			return fmt.Errorf("does not hold quota without being admitted (%s)", describe(wl.Status.Conditions))
		}
		for _, s := range wl.Status.AdmissionChecks {
			if string(s.Name) == check && s.State == kueue.CheckStatePending {
				return nil
			}
		}
		return fmt.Errorf("admission check %s is not Pending", check)
	})
}

// holds: the ClusterQueue's workloads hold that many GPUs of the flavor, borrowed of them.
func holds(queue, flavor, gpus, borrowed string) goal {
	return func(w world) error {
		for _, f := range w.queues[queue].Status.FlavorsReservation {
			if string(f.Name) != flavor {
				continue
			}
			for _, r := range f.Resources {
				if r.Name != gpuResource {
					continue
				}
				if r.Total.String() == gpus && r.Borrowed.String() == borrowed {
					return nil
				}
				return fmt.Errorf("%s holds %s GPUs (%s borrowed), not %s (%s)", queue, r.Total.String(), r.Borrowed.String(), gpus, borrowed)
			}
		}
		return fmt.Errorf("%s does not tell what it holds of %s", queue, flavor)
	}
}

// inactive: the ClusterQueue admits nothing, for the reason.
func inactive(queue, reason string) goal {
	return func(w world) error {
		conditions := w.queues[queue].Status.Conditions
		c := meta.FindStatusCondition(conditions, kueue.ClusterQueueActive)
		if c == nil || c.Status != metav1.ConditionFalse || c.Reason != reason {
			return fmt.Errorf("%s is not inactive with reason %s (%s)", queue, reason, describe(conditions))
		}
		return nil
	}
}

// nothingLeft: no Job, Workload or pod in the namespaces.
func nothingLeft(namespaces []string) goal {
	return func(w world) error {
		for _, ns := range namespaces {
			n := 0
			for key := range w.workloads {
				n += count(key, ns)
			}
			for key := range w.jobs {
				n += count(key, ns)
			}
			for key := range w.pods {
				n += count(key, ns)
			}
			if n > 0 {
				return fmt.Errorf("%d objects of an earlier run are still in %s", n, ns)
			}
		}
		return nil
	}
}

func count(key, namespace string) int {
	if strings.HasPrefix(key, namespace+"/") {
		return 1
	}
	return 0
}

// describe writes conditions in one line.
func describe(conditions []metav1.Condition) string {
	if len(conditions) == 0 {
		return "no conditions"
	}
	var parts []string
	for _, c := range conditions {
		parts = append(parts, fmt.Sprintf("%s=%s/%s: %s", c.Type, c.Status, c.Reason, c.Message))
	}
	return strings.Join(parts, "; ")
}
