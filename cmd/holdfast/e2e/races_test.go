//go:build sandbox

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/clock"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/store"
	rows "cli.holdfast.dev/holdfast/model/world"
)

// deskOf is a Desk of the engineer on call that does not wait for Kueue.
func deskOf(t *testing.T) *actions.Desk {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", filepath.Join(world.dir, "oncall.kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	st := store.New(clock.RealClock{})
	st.SetContract(rows.Contract{Used: "v1beta2", Served: []string{"v1beta2", "v1beta1"}, User: "oncall"})
	snap := st.Snapshot()
	d, err := actions.NewDesk(actions.Options{
		Config: kube.Writer(cfg, "test", false), World: func() *store.Snapshot { return snap }, Context: "sandbox-oncall", Clock: clock.RealClock{},
		Journal: actions.NewJournal(filepath.Join(t.TempDir(), "state", "journal.jsonl")), ExportDir: t.TempDir(), DraftDir: filepath.Join(t.TempDir(), "drafts"), VerifyFor: time.Nanosecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var weightLine = regexp.MustCompile(`weight: "?(\d+)"?`)

// A hundred edits while a colleague edits the same field all the time: each edit adds
// 1000 to what it saw, the colleague adds 1 to what they saw. If either ever wrote
// over the other, the sum would be another one.
func TestHundredRaces(t *testing.T) {
	const rounds, name = 100, "team-c-cq"
	queues := world.admin.KueueV1beta2().ClusterQueues()
	weight := func(q *kueue.ClusterQueue) int {
		if q.Spec.FairSharing == nil || q.Spec.FairSharing.Weight == nil {
			return 0
		}
		return int(q.Spec.FairSharing.Weight.Value())
	}
	set := func(ctx context.Context, by int) error { // as kubectl edit does
		q, err := queues.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		q.Spec.FairSharing = &kueue.FairSharing{Weight: resource.NewQuantity(int64(weight(q)+by), resource.DecimalSI)}
		_, err = queues.Update(ctx, q, metav1.UpdateOptions{FieldManager: "colleague"})
		return err
	}
	before := clusterQueue(t, name)
	// Kueue writes statuses of its own into what is set up and put back here.
	if err := retry.RetryOnConflict(retry.DefaultBackoff, func() error { return set(t.Context(), 1) }); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			q := clusterQueue(t, name)
			q.Spec.FairSharing = before.Spec.FairSharing
			_, err := queues.Update(t.Context(), q, metav1.UpdateOptions{})
			return err
		}); err != nil {
			t.Error(err)
		}
	}()
	start := weight(clusterQueue(t, name))

	ctx, stop := context.WithCancel(t.Context())
	colleague := make(chan int)
	go func() {
		n := 0
		for tick := time.NewTicker(60 * time.Millisecond); ctx.Err() == nil; <-tick.C {
			switch err := set(context.WithoutCancel(ctx), 1); {
			case err == nil:
				n++
			case !apierrors.IsConflict(err):
				t.Error(err)
			}
		}
		colleague <- n
	}()
	d := deskOf(t)
	done, refused := 0, 0
	for range rounds {
		ok, err := addThousand(ctx, d, name)
		switch {
		case err != nil:
			t.Error(err)
		case ok:
			done++
		default:
			refused++
		}
	}
	stop()
	n := <-colleague
	if got, want := weight(clusterQueue(t, name)), start+n+1000*done; got != want {
		t.Errorf("weight %d, want %d: %d edits done, %d refused, %d of the colleague's", got, want, done, refused, n)
	}
	t.Logf("%d edits done, %d refused, %d of the colleague's", done, refused, n)
	if refused == 0 || done == 0 || n < rounds/4 {
		t.Errorf("%d edits done, %d refused, %d of the colleague's: this tests nothing", done, refused, n)
	}
}

// addThousand edits the weight; false means that it was refused because it moved.
func addThousand(ctx context.Context, d *actions.Desk, name string) (bool, error) {
	moved := func(err error) (bool, error) {
		var p *actions.Problem
		if errors.As(err, &p) && p.Conflict {
			return false, nil
		}
		return false, err
	}
	dr, err := d.OpenEdit(ctx, rows.Ref{Kind: rows.KindClusterQueue, Key: rows.Key{Name: name}})
	if err != nil {
		return false, err
	}
	defer func() { _ = d.CloseDraft(dr) }()
	was, err := strconv.Atoi(weightLine.FindStringSubmatch(dr.Original)[1])
	if err != nil {
		return false, err
	}
	if err := os.WriteFile(dr.Path, []byte(weightLine.ReplaceAllString(dr.Original, fmt.Sprintf(`weight: "%d"`, was+1000))), 0o600); err != nil {
		return false, err
	}
	p, err := d.PlanEdit(ctx, dr)
	if err != nil {
		return moved(err)
	}
	r, err := d.Execute(ctx, p, p.Confirm.Expects)
	if err != nil {
		return moved(err)
	}
	switch r.Objects[0].Outcome {
	case actions.Done:
		return true, nil
	case actions.Refused:
		return false, nil
	}
	return false, fmt.Errorf("%+v", r)
}
