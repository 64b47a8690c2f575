package kube

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	visibility "sigs.k8s.io/kueue/apis/visibility/v1beta2"

	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// VisibilityGroup is the API group in which Kueue tells the order of its queues.
const VisibilityGroup = "visibility.kueue.x-k8s.io"

// ErrNoVisibility is returned when a cluster does not serve VisibilityGroup.
var ErrNoVisibility = errors.New("this cluster does not serve the API group " + VisibilityGroup + ": Kueue's Visibility API is turned off or not installed")

// MostPending is the largest number of pending Workloads that is asked for: what
// Kueue itself gives by default. Kueue 0.17.0 knows no bound and panics at a
// negative one (pkg/visibility/storage).
const MostPending = 1000

// Pending asks Kueue for the first pending Workloads of a ClusterQueue, or of a
// LocalQueue where the key has a namespace, in their order. limit is put between 1
// and MostPending. It returns ErrNoVisibility, an error for which
// apierrors.IsNotFound holds where Kueue does not keep the queue, or the server's
// or the network's error.
func (c *Client) Pending(ctx context.Context, queue world.Key, limit int) ([]visibility.PendingWorkload, error) {
	if bad := append(content.IsPathSegmentName(queue.Name), content.IsPathSegmentName(queue.Namespace)...); len(bad) > 0 || queue.Name == "" {
		return nil, fmt.Errorf("%q cannot be the name of a queue", queue.String())
	}
	where := "clusterqueues/" + queue.Name
	if queue.Namespace != "" {
		where = "namespaces/" + queue.Namespace + "/localqueues/" + queue.Name
	}
	limit = max(1, min(limit, MostPending))
	for _, v := range c.visibleVersions() {
		var answer visibility.PendingWorkloadsSummary
		err := c.get(ctx, &answer, "/apis/"+VisibilityGroup+"/"+v+"/"+where+"/pendingworkloads", "limit", strconv.Itoa(limit))
		if notServed(err) {
			continue
		}
		c.visible.Store(&v)
		return answer.Items, err
	}
	c.visible.Store(nil)
	return nil, ErrNoVisibility
}

// visibleVersions lists the versions to try. Both of this group are named as those
// of Group.
func (c *Client) visibleVersions() []string {
	if v := c.visible.Load(); v != nil {
		return append([]string{*v}, Versions()...)
	}
	return Versions()
}

// notServed reports whether the answer says that the path leads nowhere, and not
// that an object is missing.
func notServed(err error) bool {
	return apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// APIAvailable reads what the API server says of the Visibility API's APIService.
func (c *Client) APIAvailable(ctx context.Context) (available bool, detail string, err error) {
	for _, v := range c.visibleVersions() {
		var s struct {
			Status struct {
				Conditions []metav1.Condition `json:"conditions"`
			} `json:"status"`
		}
		err = c.get(ctx, &s, "/apis/apiregistration.k8s.io/v1/apiservices/"+v+"."+VisibilityGroup)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return false, "", err
		}
		for _, k := range s.Status.Conditions {
			if k.Type == "Available" {
				return k.Status == metav1.ConditionTrue, text.Clean(k.Message), nil
			}
		}
		return false, "the APIService has no Available condition yet", nil
	}
	return false, "", err
}
