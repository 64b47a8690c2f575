// Package check holds a cluster against the rules of its quota, by the state of
// admission alone: what was admitted, what waits, who was preempted, and who may
// change the rules. Pure: values in, values out.
package check

import (
	"slices"
	"time"

	"cli.holdfast.dev/holdfast/model/chain"
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// Name is the name of a rule, as --require takes it.
type Name string

// The rules, in the order in which they are reported.
const (
	// Nominal: who fits into what is left of the own nominal quota is admitted.
	Nominal Name = "nominal"
	// BorrowCap: nobody admitted after the present spec is beyond nominal quota and
	// borrowing limit; older use is debt and no breach.
	BorrowCap Name = "borrowCap"
	// OverLimit: who asks for more than can ever be had waits.
	OverLimit Name = "overLimit"
	// Preemption: each victim is below its preemptor where the policy says so.
	Preemption Name = "preemption"
	// Selector: nobody is admitted from a namespace that the ClusterQueue does not
	// select, and no pod of such a Workload exists.
	Selector Name = "selector"
	// TenantWrites: tenants can change neither quota nor priorities nor the labels
	// by which namespaces are selected.
	TenantWrites Name = "tenantWrites"
	// Classes: the priority classes in use are on their namespace's list.
	Classes Name = "classes"
)

// Names lists the rules in their order.
func Names() []Name {
	return []Name{Nominal, BorrowCap, OverLimit, Preemption, Selector, TenantWrites, Classes}
}

// Result is how a rule came out.
type Result string

// The results. NotExercised: nothing in the cluster puts the rule to the test.
// Unknown: something that would could not be read or told.
const (
	Pass         Result = "pass"
	Fail         Result = "fail"
	NotExercised Result = "notExercised"
	Unknown      Result = "unknown"
)

// Evidence is an object and what it shows. Object is "Kind/name" or
// "Kind/namespace/name".
type Evidence struct {
	Object string `json:"object"`
	Detail string `json:"detail"`
}

// Rule is a rule with its result and the objects that it rests on.
type Rule struct {
	Name     Name       `json:"name"`
	Result   Result     `json:"result"`
	Evidence []Evidence `json:"evidence"`
	// More is how many pieces of evidence were left out.
	More int `json:"more,omitempty"`
}

// Access is the answer to one question about a subject's rights; nil Allowed is
// that there was none.
type Access struct {
	Subject string // "Group/team-a"
	Right   string // "patch clusterqueues"
	Allowed *bool
	Why     string // why there was no answer
}

// Input is what the rules look at.
type Input struct {
	Snapshot *store.Snapshot
	Now      time.Time
	Chains   []chain.Chain
	Pods     []world.Pod
	HasPods  bool
	Access   []Access
	// Allowed are the priority classes that may be used, by namespace; a namespace
	// that is not in it may use any.
	Allowed map[string][]string
}

// mostEvidence bounds the evidence of one rule; what is left out is counted.
const mostEvidence = 50

// Run applies every rule. It does not block; its time is linear in Workloads,
// cells, links and pods.
func Run(in Input) []Rule {
	c := &checker{Input: in, x: reason.New(in.Snapshot, in.Now)}
	var out []Rule
	for _, n := range Names() {
		v := verdict{}
		switch n {
		case Nominal:
			c.nominal(&v)
		case BorrowCap:
			c.borrowCap(&v)
		case OverLimit:
			c.overLimit(&v)
		case Preemption:
			c.preemption(&v)
		case Selector:
			c.selector(&v)
		case TenantWrites:
			c.tenantWrites(&v)
		case Classes:
			c.classes(&v)
		}
		out = append(out, v.rule(n))
	}
	return out
}

// Failed reports whether any rule failed, or one of the required ones did not
// pass. Required rules that are not exercised or not known fail: an acceptance
// rests on what was seen.
func Failed(rules []Rule, required []Name) bool {
	for _, r := range rules {
		if r.Result == Fail || r.Result != Pass && slices.Contains(required, r.Name) {
			return true
		}
	}
	return false
}

type checker struct {
	Input
	x *reason.Explainer
}

// verdict gathers evidence of each kind; the worst decides.
type verdict struct{ bad, unknown, good []Evidence }

func (v *verdict) fail(object, detail string) { v.bad = append(v.bad, Evidence{object, detail}) }
func (v *verdict) doubt(object, detail string) {
	v.unknown = append(v.unknown, Evidence{object, detail})
}
func (v *verdict) pass(object, detail string) { v.good = append(v.good, Evidence{object, detail}) }

func (v *verdict) rule(n Name) Rule {
	r := Rule{Name: n, Result: NotExercised, Evidence: []Evidence{}}
	for _, x := range []struct {
		result Result
		what   []Evidence
	}{{Pass, v.good}, {Unknown, v.unknown}, {Fail, v.bad}} {
		if len(x.what) > 0 {
			r.Result, r.Evidence = x.result, x.what
		}
	}
	if n := len(r.Evidence) - mostEvidence; n > 0 {
		r.Evidence, r.More = r.Evidence[:mostEvidence], n
	}
	return r
}
