package actions

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/webhooks"

	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// acceptable refuses an object that a cluster would not take: with Kueue's own
// webhooks, and with those rules of its CRDs that bear on scheduling and that its
// Go types do not hold. now is nil where the object is made.
func acceptable(ref world.Ref, now, will runtime.Object) error {
	if errs := enums(will); len(errs) > 0 {
		return refused(ref, "the CRD's schema", errs.ToAggregate())
	}
	var err error
	ctx := context.Background() // they only look for a logger in it
	switch o := will.(type) {
	case *kueue.ClusterQueue:
		w := &webhooks.ClusterQueueWebhook{}
		if old, ok := now.(*kueue.ClusterQueue); ok {
			_, err = w.ValidateUpdate(ctx, old, o)
		} else {
			_, err = w.ValidateCreate(ctx, o)
		}
	case *kueue.Cohort:
		_, err = (&webhooks.CohortWebhook{}).ValidateCreate(ctx, o)
	case *kueue.ResourceFlavor:
		_, err = (&webhooks.ResourceFlavorWebhook{}).ValidateCreate(ctx, o)
	case *kueue.LocalQueue:
		if old, ok := now.(*kueue.LocalQueue); ok && old.Spec.ClusterQueue != o.Spec.ClusterQueue {
			return refused(ref, "the CRD's schema", field.Invalid(field.NewPath("spec", "clusterQueue"), string(o.Spec.ClusterQueue), "field is immutable"))
		}
	}
	if err != nil {
		return refused(ref, "Kueue's webhook", err)
	}
	return nil
}

func refused(ref world.Ref, by string, err error) error {
	return &Problem{What: text.Clean(fmt.Sprintf("%s would be refused by %s: %s", ref, by, err)), Do: "Correct it.", Rejected: true, Err: err}
}

// enums checks fields against kubebuilder:validation:Enum of Kueue's types
// (apis/kueue/v1beta2/clusterqueue_types.go, localqueue_types.go). Empty ones get
// their default.
func enums(o runtime.Object) field.ErrorList {
	var errs field.ErrorList
	check := func(path, value string, allowed ...string) {
		if value == "" {
			return
		}
		for _, a := range allowed {
			if a == value {
				return
			}
		}
		p := strings.Split(path, ".")
		errs = append(errs, field.NotSupported(field.NewPath("spec", p...), value, allowed))
	}
	stop := func(p *kueue.StopPolicy) {
		if p != nil {
			check("stopPolicy", string(*p), string(kueue.None), string(kueue.Hold), string(kueue.HoldAndDrain))
		}
	}
	switch o := o.(type) {
	case *kueue.LocalQueue:
		stop(o.Spec.StopPolicy)
	case *kueue.ClusterQueue:
		stop(o.Spec.StopPolicy)
		check("queueingStrategy", string(o.Spec.QueueingStrategy), string(kueue.StrictFIFO), string(kueue.BestEffortFIFO))
		if f := o.Spec.FlavorFungibility; f != nil {
			check("flavorFungibility.whenCanBorrow", string(f.WhenCanBorrow), string(kueue.MayStopSearch), string(kueue.TryNextFlavor))
			check("flavorFungibility.whenCanPreempt", string(f.WhenCanPreempt), string(kueue.MayStopSearch), string(kueue.TryNextFlavor))
			if f.Preference != nil {
				check("flavorFungibility.preference", string(*f.Preference), string(kueue.BorrowingOverPreemption), string(kueue.PreemptionOverBorrowing))
			}
		}
		if p := o.Spec.Preemption; p != nil {
			never, lower, any := string(kueue.PreemptionPolicyNever), string(kueue.PreemptionPolicyLowerPriority), string(kueue.PreemptionPolicyAny)
			check("preemption.reclaimWithinCohort", string(p.ReclaimWithinCohort), never, lower, any)
			check("preemption.withinClusterQueue", string(p.WithinClusterQueue), never, lower, string(kueue.PreemptionPolicyLowerOrNewerEqualPriority))
			if b := p.BorrowWithinCohort; b != nil {
				check("preemption.borrowWithinCohort.policy", string(b.Policy), string(kueue.BorrowWithinCohortPolicyNever), string(kueue.BorrowWithinCohortPolicyLowerPriority))
			}
		}
	}
	return errs
}
