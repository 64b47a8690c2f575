package report

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// contractFields are the documented names of v1alpha1. A name may be added to a
// document; one that is missing here and there breaks somebody's program.
var contractFields = map[reflect.Type]string{
	reflect.TypeFor[Report]():     "apiVersion kind source contract cohorts clusterQueues localQueues flavors admissionChecks priorityClasses workloads chains alerts slo",
	reflect.TypeFor[Source]():     "type name readAt now",
	reflect.TypeFor[Contract]():   "served used kueueVersion kueueVersionSource controller validatingWebhook conversionWebhook visibility webhookCAValidUntil unreadable",
	reflect.TypeFor[Readiness]():  "state detail",
	reflect.TypeFor[Unreadable](): "resource verb namespace",
	reflect.TypeFor[Cohort]():     "name parent implicit cycle weightedShare resources",
	reflect.TypeFor[ClusterQueue](): "name cohort stopPolicy active inactiveCauses queueingStrategy pending reserving admitted evicting statusStale statusNote " +
		"weightedShare hold managedBy resources",
	reflect.TypeFor[Hold]():       "by at reason previous stale",
	reflect.TypeFor[LocalQueue](): "namespace name clusterQueue stopPolicy active pending reserving admitted selectorMatches statusStale statusNote hold resources",
	reflect.TypeFor[LocalUse]():   "flavor resource reserved admitted",
	reflect.TypeFor[Quota](): "flavor resource inSpec nominal borrowingLimit lendingLimit subtree local reserved admitted borrowed available potential " +
		"lendable idleLendable uncovered lenders",
	reflect.TypeFor[Lender]():         "kind name idle",
	reflect.TypeFor[Flavor]():         "name nodeLabels nodeTaints topology exists usedBy nodes",
	reflect.TypeFor[AdmissionCheck](): "name controllerName active exists reason message usedBy pending",
	reflect.TypeFor[PriorityClass]():  "kind name value workloads",
	reflect.TypeFor[Workload](): "namespace name uid owner localQueue clusterQueue priority priorityClass state podsReady pods holdsQuota stuck class advice actor " +
		"explanation reason message messageAgeSeconds neverFits shortfall obstacles position positionSource waitSeconds runningSeconds pastExecutionSeconds " +
		"overdueSeconds clockSkew requeueAt requeueCount unhealthyNodes evictions podSets checks preemption",
	reflect.TypeFor[Owner]():       "apiVersion kind name uid",
	reflect.TypeFor[Pods]():        "pending running failed note",
	reflect.TypeFor[Shortage]():    "flavor resource quantity",
	reflect.TypeFor[Obstacle]():    "kind object detail",
	reflect.TypeFor[Eviction]():    "reason underlyingCause count",
	reflect.TypeFor[PodSet]():      "name count minCount admitted reclaimable flavors",
	reflect.TypeFor[Check]():       "name state message retryCount controllerActive",
	reflect.TypeFor[Preemption]():  "preemptorUID preemptorJobUID preemptor reason preemptorPath preempteePath history recreated",
	reflect.TypeFor[Chain]():       "links end",
	reflect.TypeFor[Link]():        "victim victimUID victimPriority preemptor preemptorUID preemptorPriority reason policyHolds recovery",
	reflect.TypeFor[Recovery]():    "state requeueAt requeueCount pastExecutionSeconds reclaimablePods checkpoint",
	reflect.TypeFor[Checkpoint]():  "key value",
	reflect.TypeFor[Alert]():       "class severity object explanation advice actor count",
	reflect.TypeFor[Object]():      "kind namespace name",
	reflect.TypeFor[SLO]():         "pendingCount oldestWaitSeconds waitSeconds borrowingRatio evictions evictionRatio scope",
	reflect.TypeFor[Spread]():      "p50 p95",
	reflect.TypeFor[Borrowing]():   "flavor resource borrowed reserved ratio",
	reflect.TypeFor[Evictions]():   "reason count",
	reflect.TypeFor[Explanation](): "apiVersion kind source workload timeline ahead chain",
	reflect.TypeFor[Moment]():      "at kind type reason text",

	reflect.TypeFor[ImpactResult]():    "apiVersion kind source impact",
	reflect.TypeFor[Impact]():          "computedWith clusterRuns assumptions unknown bounded admitted preempted waiting neverFits overQuota queues quota",
	reflect.TypeFor[ImpactEdit]():      "object change",
	reflect.TypeFor[ImpactAdmission](): "workload clusterQueue flavors borrows",
	reflect.TypeFor[ImpactVictim]():    "victim victimPriority preemptor preemptorPriority reason policyHolds",
	reflect.TypeFor[ImpactEviction]():  "workload reason",
	reflect.TypeFor[ImpactWaiting]():   "count changed",
	reflect.TypeFor[ImpactChange]():    "workload before after",
	reflect.TypeFor[ImpactOver]():      "clusterQueue flavor resource by",
	reflect.TypeFor[ImpactQueue]():     "name activeBefore activeAfter",
	reflect.TypeFor[ImpactCell]():      "before after",
	reflect.TypeFor[ImpactSide]():      "nominal reserved borrowed",
}

func TestDocumentedFields(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var visit func(reflect.Type)
	visit = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || typ.String() == "time.Time" || seen[typ] {
			return
		}
		seen[typ] = true
		want, ok := contractFields[typ]
		if !ok && typ != reflect.TypeFor[Taint]() {
			t.Errorf("%s is not documented", typ)
		}
		var have []string
		for i := range typ.NumField() {
			name, options, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if name == "" {
				t.Errorf("%s.%s has no name", typ, typ.Field(i).Name)
			}
			if options == "" {
				have = append(have, name)
			}
			visit(typ.Field(i).Type)
		}
		for _, name := range strings.Fields(want) {
			if !slices.Contains(have, name) {
				t.Errorf("%s has no %s, or leaves it out when it is empty", typ, name)
			}
		}
	}
	visit(reflect.TypeFor[Report]())
	visit(reflect.TypeFor[Explanation]())
	visit(reflect.TypeFor[ImpactResult]())
	if len(seen) != len(contractFields)+1 {
		t.Errorf("%d kinds of objects, %d documented", len(seen), len(contractFields)+1)
	}
}
