package scenario

import (
	"bytes"
	"context"
	_ "embed"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/cluster"
)

//go:embed incident/world.yaml
var incidentWorld []byte

//go:embed incident/queues.yaml
var incidentQueues []byte

//go:embed incident/bad-edit.yaml
var incidentBadEdit []byte

// Who wrote what, as the objects' managed fields tell it.
const (
	platformAdmin = "platform-admin"
	teamBAdmin    = "team-b-admin"
)

// incidentJobs are the Jobs of the scenario. Sizes are such that every step has one outcome: the cohort ai-shared has
// 18 GPUs (2 of its own, 8 of team-a, 4 of team-b, 4 of team-c) and all of them are in use before the mistake.
type incidentJobs struct {
	nominal   []job // team-a: 8 GPUs
	sweep3    job   // team-a: borrows 2, and is preempted
	sweep4    job   // team-a: over the borrowing limit
	giant     job   // team-a: never fits
	urgent    job   // team-a: preempts sweep-3
	teamC     []job // 8 GPUs, 4 borrowed
	pretrain  []job // team-b: 5 times 4 GPUs
	stray     job   // team-x, a namespace without the label
	budgeted  job   // research: waits for a check
	lookup    job   // research: in an inactive queue
	victims   []job // of the mistake
	survivors []job // of the mistake
}

func newIncidentJobs() incidentJobs {
	j := incidentJobs{
		nominal: []job{
			{"team-a", "train-llm", "batch", "normal", 2, 2},
			{"team-a", "train-vit", "batch", "normal", 1, 2},
			{"team-a", "sweep-1", "batch", "low", 1, 1},
			{"team-a", "sweep-2", "batch", "low", 1, 1},
		},
		sweep3: job{"team-a", "sweep-3", "batch", "low", 1, 2},
		sweep4: job{"team-a", "sweep-4", "batch", "low", 1, 2},
		giant:  job{"team-a", "train-giant", "batch", "normal", 3, 8},
		urgent: job{"team-a", "urgent", "batch", "high", 1, 2},
		teamC: []job{
			{"team-c", "finetune-1", "batch", "normal", 1, 4},
			{"team-c", "eval-7", "batch", "low", 1, 1},
			{"team-c", "eval-8", "batch", "low", 1, 1},
			{"team-c", "serving-bench", "batch", "normal", 1, 2},
		},
		pretrain: []job{
			{"team-b", "pretrain-1", "batch", "low", 1, 4},
			{"team-b", "pretrain-2", "batch", "low", 1, 4},
			{"team-b", "pretrain-3", "batch", "low", 1, 4},
			{"team-b", "pretrain-4", "batch", "low", 1, 4},
			{"team-b", "pretrain-5", "batch", "low", 1, 4},
		},
		stray:    job{"team-x", "train-stray", "batch", "normal", 1, 1},
		budgeted: job{"research", "finetune-70b", "checked", "normal", 1, 8},
		lookup:   job{"research", "tokenize", "unchecked", "normal", 1, 0},
	}
	j.victims = []job{j.nominal[2], j.nominal[3], j.teamC[1], j.teamC[2]}
	j.survivors = []job{j.nominal[0], j.nominal[1], j.urgent, j.teamC[0], j.teamC[3]}
	return j
}

func incidentNamespaces() []string {
	return []string{"team-a", "team-b", "team-c", "team-x", "research"}
}

const noQuota = "insufficient unused quota"

// incidentEnd is what a person finds at the end.
func incidentEnd(j incidentJobs) goal {
	return all(
		forEach(j.pretrain, admitted),
		forEach(j.victims, func(v job) goal { return preemptedBy(v, j.pretrain...) }),
		forEach(j.survivors, admitted),
		preemptedBy(j.sweep3, j.urgent), waits(j.sweep4, noQuota), waits(j.giant, "maximum capacity"),
		waits(j.stray, "namespace doesn't match"), waitsForCheck(j.budgeted, "budget-approval"),
		inactive("unchecked-cq", "AdmissionCheckInactive"), waits(j.lookup, "is inactive"),
	)
}

func playIncident(ctx context.Context, c *cluster.Client, say Say) error {
	p, err := newPlayer(c, say)
	if err != nil {
		return err
	}
	j := newIncidentJobs()
	if p.isAlready(ctx, incidentEnd(j)) {
		say("the incident is there already; nothing to do")
		return nil
	}
	if err := p.eve(ctx, j); err != nil {
		return err
	}
	if err := p.apply(ctx, teamBAdmin, bytes.NewReader(incidentBadEdit)); err != nil {
		return err
	}
	if err := p.reach(ctx, "the mistaken edit of team-b-cq preempts work of team-a and team-c", incidentEnd(j)); err != nil {
		return err
	}
	say("%s", incidentText)
	return nil
}

// incidentEve is what a person finds before the mistake.
func incidentEve(j incidentJobs) goal {
	return all(
		forEach(j.nominal, admitted), admitted(j.urgent), forEach(j.teamC, admitted), forEach(j.pretrain, queued),
		preemptedBy(j.sweep3, j.urgent), waits(j.sweep4, noQuota), waits(j.giant, "maximum capacity"),
		holds("team-a-cq", "a100-80g", "10", "2"), holds("team-c-cq", "a100-80g", "8", "4"),
	)
}

func playEve(ctx context.Context, c *cluster.Client, say Say) error {
	p, err := newPlayer(c, say)
	if err != nil {
		return err
	}
	j := newIncidentJobs()
	if p.isAlready(ctx, incidentEve(j)) {
		say("everything is there already; nothing to do")
		return nil
	}
	if err := p.eve(ctx, j); err != nil {
		return err
	}
	return p.reach(ctx, "all quota is in use, and team-b waits", incidentEve(j))
}

// eve makes the world of the incident and brings it to where the mistake is made.
func (p *player) eve(ctx context.Context, j incidentJobs) error {
	// Jobs of an earlier run would stand in the way of the first steps.
	if err := p.clear(ctx, incidentNamespaces()); err != nil {
		return err
	}
	// Enough nodes for all quota, also after the mistake: the scheduler must never be what a Job waits for.
	if err := p.apply(ctx, platformAdmin, bytes.NewReader(incidentWorld),
		nodes("a100-80g", 8, 8), nodes("h100-80g", 1, 8), nodes("cpu-only", 1, 0)); err != nil {
		return err
	}
	if err := p.activateCheck(ctx, "budget-approval"); err != nil {
		return err
	}
	if err := p.apply(ctx, platformAdmin, bytes.NewReader(incidentQueues)); err != nil {
		return err
	}
	return p.steps(ctx, incidentSteps(j))
}

func incidentSteps(j incidentJobs) []step {
	return []step{
		{"team-a runs within its nominal quota", j.nominal,
			all(forEach(j.nominal, admitted), holds("team-a-cq", "a100-80g", "8", "0"))},
		{"team-a borrows 2 GPUs", []job{j.sweep3},
			all(admitted(j.sweep3), holds("team-a-cq", "a100-80g", "10", "2"))},
		{"team-a is stopped at its borrowing limit; one Job waits, one can never fit", []job{j.sweep4, j.giant},
			all(waits(j.sweep4, noQuota), waits(j.giant, "maximum capacity"))},
		{"an urgent Job preempts one of lower priority in team-a", []job{j.urgent},
			all(admitted(j.urgent), preemptedBy(j.sweep3, j.urgent))},
		{"a Job in a namespace without the label stays out", []job{j.stray},
			waits(j.stray, "namespace doesn't match")},
		{"a Job has its quota and waits for an admission check", []job{j.budgeted},
			waitsForCheck(j.budgeted, "budget-approval")},
		{"a Job is queued where an admission check's controller is missing", []job{j.lookup},
			all(inactive("unchecked-cq", "AdmissionCheckInactive"), waits(j.lookup, "is inactive"))},
		{"team-c borrows what team-b leaves idle", j.teamC,
			all(forEach(j.teamC, admitted), holds("team-c-cq", "a100-80g", "8", "4"))},
		{"team-b's low-priority Jobs wait, since nothing running is of lower priority", j.pretrain,
			all(forOne(j.pretrain, func(x job) goal { return waits(x, noQuota) }), forEach(j.pretrain, queued))},
	}
}

const incidentText = `
What you see: four Jobs of team-a and team-c (sweep-1, sweep-2, eval-7, eval-8) lost their GPUs to team-b's pretraining.
Why: team-b-cq was edited to 20 GPUs instead of 4 and reclaimWithinCohort Any instead of LowerPriority.
What helps: put team-b-cq back, and nothing more is preempted; team-b keeps what it runs until that ends or team-b-cq
is drained (stopPolicy HoldAndDrain), which brings the four back.
Also waiting, each for a reason of its own: sweep-3, sweep-4 and train-giant (team-a), train-stray (team-x),
finetune-70b and tokenize (research).`
