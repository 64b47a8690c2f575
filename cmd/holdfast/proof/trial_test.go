//go:build sandbox

package proof

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/impact/engine"
	"cli.holdfast.dev/holdfast/model/store"
)

// trial is one world and one edit of it.
type trial struct {
	*cluster
	kind  kind
	scene *scene
	seen  *observer
	r     *rand.Rand
}

// tries is how many edits are looked at for one that does something; after ofKind
// of them, edits of other kinds, too.
const tries, ofKind = 30, 15

// run makes the world, asks for the preview, does the edit, and returns what came
// of it. errRestless is returned where the world does not come to rest before the
// edit.
func (c *cluster) run(ctx context.Context, seed uint64, number int) (*record, error) {
	r := rand.New(rand.NewPCG(seed, uint64(number)))
	t := &trial{cluster: c, kind: randomKind(r, c.fair), r: r}
	t.scene = newScene(fmt.Sprintf("t%03d", number), r, c.fair, t.kind.needs)
	rec := &record{ID: t.scene.id, Kind: t.kind.name, Seed: seed, Fair: c.fair, Settings: c.settings}
	defer t.remove(context.WithoutCancel(ctx))
	if err := t.create(ctx); err != nil {
		return rec, err
	}
	defer func() { t.seen.stop() }()
	if err := t.seen.settle(ctx, len(t.scene.jobs), t.tried); err != nil {
		return rec, fmt.Errorf("before the edit: %w", err)
	}
	now, snap, err := t.read(ctx, rec)
	if err != nil {
		return rec, err
	}
	rec.Before, rec.At = t.seen.admitted(), snap.At
	if err := t.choose(ctx, now, snap, rec); err != nil {
		return rec, err
	}
	t.seen.mark()
	if err := t.apply(ctx, rec.changes); err != nil {
		return rec, err
	}
	err = t.seen.settle(ctx, len(t.scene.jobs), t.tried)
	if rec.Unsettled = errors.Is(err, errRestless); err != nil && !rec.Unsettled {
		return rec, err
	}
	t.seen.report(rec)
	rec.Verdict = judge(rec.Before, rec.Forecast, rec.Truth)
	return rec, nil
}

func (t *trial) create(ctx context.Context) error {
	s := t.scene
	if err := t.admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.id}}); err != nil {
		return err
	}
	var err error
	if t.seen, err = observe(ctx, t.admin, s.id); err != nil {
		return err
	}
	var all []client.Object
	for _, o := range s.cohorts {
		all = append(all, o)
	}
	for i := range s.queues {
		all = append(all, s.queues[i], s.locals[i])
	}
	for _, o := range all {
		if err := t.admin.Create(ctx, o); err != nil {
			return err
		}
	}
	for i, j := range s.jobs {
		if err := wait(ctx, s.pauses[i]); err != nil {
			return err
		}
		if err := t.admin.Create(ctx, j); err != nil {
			return err
		}
	}
	return nil
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// read returns the world as the server has it and as the console does, once they
// are the same.
func (t *trial) read(ctx context.Context, rec *record) (*state, *store.Snapshot, error) {
	for end := time.Now().Add(20 * time.Second); ; {
		now, others, err := t.list(ctx)
		if err != nil {
			return nil, nil, err
		}
		snap := t.watcher.Snapshot()
		if why := behind(snap, now); why == "" {
			rec.objects = append(others, now.objects()...)
			return now, snap, nil
		} else if time.Now().After(end) {
			return nil, nil, fmt.Errorf("the console's snapshot stays behind: %s", why)
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return nil, nil, err
		}
	}
}

// list reads the objects of the trial from the server, and those that all share.
func (t *trial) list(ctx context.Context) (*state, []client.Object, error) {
	var (
		flavors kueue.ResourceFlavorList
		classes kueue.WorkloadPriorityClassList
		cohorts kueue.CohortList
		queues  kueue.ClusterQueueList
		locals  kueue.LocalQueueList
		jobs    batchv1.JobList
		ns      corev1.Namespace
	)
	in := client.InNamespace(t.scene.id)
	err := errors.Join(
		t.admin.List(ctx, &flavors), t.admin.List(ctx, &classes), t.admin.List(ctx, &cohorts), t.admin.List(ctx, &queues),
		t.admin.List(ctx, &locals, in), t.admin.List(ctx, &jobs, in), t.admin.Get(ctx, client.ObjectKey{Name: t.scene.id}, &ns),
	)
	if err != nil {
		return nil, nil, err
	}
	now := &state{}
	for i := range cohorts.Items {
		if t.scene.owns(cohorts.Items[i].Name) {
			now.cohorts = append(now.cohorts, &cohorts.Items[i])
		}
	}
	for i := range queues.Items {
		if t.scene.owns(queues.Items[i].Name) {
			now.queues = append(now.queues, &queues.Items[i])
		}
	}
	for i := range locals.Items {
		now.locals = append(now.locals, &locals.Items[i])
	}
	for i := range jobs.Items {
		now.jobs = append(now.jobs, &jobs.Items[i])
	}
	work := t.seen.workloads()
	for _, name := range slices.Sorted(maps.Keys(work)) {
		now.workloads = append(now.workloads, work[name])
	}
	others := []client.Object{&ns}
	for i := range flavors.Items {
		others = append(others, &flavors.Items[i])
	}
	for i := range classes.Items {
		others = append(others, &classes.Items[i])
	}
	return now, others, nil
}

// choose draws edits until one does something by the engine's first timing, and
// asks for the preview of it. Whether either is right cannot be known yet. Every
// sixth edit is taken as it comes.
func (t *trial) choose(ctx context.Context, now *state, snap *store.Snapshot, rec *record) error {
	e := &editor{scene: t.scene, now: now}
	want := t.r.IntN(6) // 0: anything; 1: a change; else preemptions
	best := -1
	for n := range tries {
		k := t.kind
		if n >= ofKind {
			k = e.anyKind()
		}
		changes, err := t.dryRun(ctx, k.make(e))
		if err != nil {
			return err
		}
		if len(changes) == 0 {
			continue
		}
		glance := *rec
		glance.changes = changes
		f, err := direct(ctx, &glance, engine.Modes(1)[:1], t.settings.Config)
		if err != nil {
			return err
		}
		does := 0
		switch {
		case len(f.Likely.Preempted) > 0:
			does = 2
		case !maps.Equal(f.Likely.Admitted, rec.Before):
			does = 1
		}
		if does > best {
			best, rec.Kind, rec.changes = does, k.name, changes
		}
		if best >= min(want, 2) {
			break
		}
	}
	if best < 0 {
		return errNoEdit
	}
	rec.Forecast = preview(ctx, snap, rec)
	return nil
}

// errNoEdit is a world in which no edit of the kind was found that the server takes.
var errNoEdit = errors.New("nothing to edit in this way")
