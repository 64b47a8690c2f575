package live

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	visibility "sigs.k8s.io/kueue/apis/visibility/v1beta2"

	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// Position is where Kueue has a pending Workload in its queues, counted from 1.
type Position struct {
	world.Key
	LocalQueue          string // its name
	ClusterQueue, Local int
}

// Positions asks Kueue for the first pending Workloads of a ClusterQueue in their
// order, at most limit of them and at most kube.MostPending. Where Kueue does not
// tell, there are none and why says why: the order can only be estimated then.
func (r *Reader) Positions(ctx context.Context, clusterQueue string, limit int) (places []Position, why string) {
	key := world.Key{Name: clusterQueue}
	items, err := r.client.Pending(ctx, key, limit)
	if err != nil {
		return nil, estimated(err, key)
	}
	return positions(items, ""), ""
}

// LocalPositions is Positions of a LocalQueue.
func (r *Reader) LocalPositions(ctx context.Context, queue world.Key, limit int) (places []Position, why string) {
	items, err := r.client.Pending(ctx, queue, limit)
	if err != nil {
		return nil, estimated(err, queue)
	}
	return positions(items, queue.Namespace), ""
}

// positions makes positions of what Kueue answered. namespace limits them; empty:
// all. The place in the LocalQueue is counted anew: LocalQueues of one name in
// several namespaces are counted as one by Kueue before 0.18.6 and 0.19.2, and
// 0.17.0 mixes them in the answer about one of them (pkg/visibility/storage).
func positions(items []visibility.PendingWorkload, namespace string) []Position {
	out := make([]Position, 0, len(items))
	local := map[world.Key]int{}
	for i := range items {
		w := &items[i]
		if namespace != "" && w.Namespace != namespace || w.PositionInClusterQueue < 0 {
			continue
		}
		queue := world.Key{Namespace: w.Namespace, Name: string(w.LocalQueueName)}
		local[queue]++
		out = append(out, Position{
			Key:        world.Key{Namespace: text.Clean(w.Namespace), Name: text.Clean(w.Name)},
			LocalQueue: text.Clean(queue.Name), ClusterQueue: int(w.PositionInClusterQueue) + 1, Local: local[queue],
		})
	}
	return out
}

// estimated says why Kueue's own order of the queue is not known.
func estimated(err error, queue world.Key) string {
	kind, resource := "ClusterQueue", "clusterqueues"
	if queue.Namespace != "" {
		kind, resource = "LocalQueue", "localqueues"
	}
	switch {
	case errors.Is(err, kube.ErrNoVisibility):
		return err.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "Kueue's Visibility API gave no answer in time"
	case errors.Is(err, context.Canceled):
		return "the question was broken off"
	case apierrors.IsForbidden(err):
		return fmt.Sprintf("no access: get %s.%s/pendingworkloads is not allowed (403)", resource, kube.VisibilityGroup)
	case apierrors.IsNotFound(err) && kind == "LocalQueue":
		return fmt.Sprintf("Kueue keeps no order of LocalQueue %s: it is held, or Kueue does not know it (404)", queue)
	case apierrors.IsNotFound(err):
		return fmt.Sprintf("Kueue does not know %s %s (404)", kind, queue)
	case apierrors.IsTooManyRequests(err):
		return "the server is busy (429)"
	case apierrors.IsServiceUnavailable(err):
		return "Kueue's Visibility API is not available (503); see whether Kueue's manager runs: " + words(err)
	case apierrors.IsInternalError(err):
		return "Kueue's Visibility API fails (500), before Kueue 0.18.6 and 0.19.2 as long as any pending Workload has no priority: " + words(err)
	case !answered(err):
		return "Kueue's Visibility API cannot be reached: " + words(err)
	}
	return "Kueue's Visibility API fails: " + words(err)
}
