package scenario

import (
	"context"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	kueueclient "sigs.k8s.io/kueue/client-go/clientset/versioned"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/cluster"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/manifests"
)

const reachWithin = 90 * time.Second

// step creates Jobs and waits for a goal.
type step struct {
	text string
	jobs []job
	goal goal
}

// player does a scenario's work on one cluster.
type player struct {
	cluster *cluster.Client
	kueue   kueueclient.Interface
	say     Say
	began   time.Time
}

func newPlayer(c *cluster.Client, say Say) (*player, error) {
	kc, err := kueueclient.NewForConfig(c.Config)
	if err != nil {
		return nil, err
	}
	return &player{cluster: c, kueue: kc, say: say, began: time.Now()}, nil
}

func (p *player) isAlready(ctx context.Context, g goal) bool {
	w, err := observe(ctx, p.cluster.Typed, p.kueue)
	return err == nil && g(w) == nil
}

// reach waits until the goal is reached and says so.
func (p *player) reach(ctx context.Context, text string, g goal) error {
	if err := p.await(ctx, g); err != nil {
		return fmt.Errorf("not reached: %s: %w", text, err)
	}
	p.say("%5.1f s  %s", time.Since(p.began).Seconds(), text)
	return nil
}

func (p *player) await(ctx context.Context, g goal) error {
	return cluster.Poll(ctx, reachWithin, func(ctx context.Context) error {
		w, err := observe(ctx, p.cluster.Typed, p.kueue)
		if err != nil {
			return err
		}
		return g(w)
	})
}

// steps does one step after the other. A step's Jobs are created one by one, so that they queue in this order.
func (p *player) steps(ctx context.Context, steps []step) error {
	for _, s := range steps {
		for _, j := range s.jobs {
			if _, err := p.cluster.Typed.BatchV1().Jobs(j.namespace).Create(ctx, j.object(), metav1.CreateOptions{}); err != nil {
				return fmt.Errorf("create Job %s: %w", j.key(), err)
			}
		}
		if err := p.reach(ctx, s.text, s.goal); err != nil {
			return err
		}
	}
	return nil
}

// apply writes the objects of a YAML stream and more objects as the manager.
func (p *player) apply(ctx context.Context, manager string, yaml io.Reader, more ...[]*unstructured.Unstructured) error {
	objs, err := manifests.Decode(yaml)
	if err != nil {
		return err
	}
	for _, m := range more {
		objs = append(objs, m...)
	}
	return p.cluster.Apply(ctx, manager, objs)
}

// clear deletes every Job of the namespaces and waits until their Workloads and pods are gone too.
func (p *player) clear(ctx context.Context, namespaces []string) error {
	for _, ns := range namespaces {
		err := p.cluster.Typed.BatchV1().Jobs(ns).DeleteCollection(ctx,
			metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}, metav1.ListOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete the Jobs of %s: %w", ns, err)
		}
	}
	return p.await(ctx, nothingLeft(namespaces))
}

// activateCheck does what the silent controller of an AdmissionCheck did when it started: it says that it is there.
func (p *player) activateCheck(ctx context.Context, name string) error {
	api := p.kueue.KueueV1beta2().AdmissionChecks()
	return cluster.Poll(ctx, reachWithin, func(ctx context.Context) error {
		check, err := api.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		meta.SetStatusCondition(&check.Status.Conditions, metav1.Condition{
			Type: kueue.AdmissionCheckActive, Status: metav1.ConditionTrue, Reason: "Active",
			Message: "The budget controller is running", ObservedGeneration: check.Generation,
		})
		_, err = api.UpdateStatus(ctx, check, metav1.UpdateOptions{})
		return err
	})
}
