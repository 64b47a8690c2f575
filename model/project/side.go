package project

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcehelpers "k8s.io/component-helpers/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

func runtimeClass(o *nodev1.RuntimeClass) *world.RuntimeClass {
	r := &world.RuntimeClass{Meta: meta(&o.ObjectMeta)}
	if o.Overhead != nil {
		r.Overhead = o.Overhead.PodFixed
	}
	return r
}

func topology(o *kueue.Topology) *world.Topology {
	t := &world.Topology{Meta: meta(&o.ObjectMeta)}
	for _, l := range o.Spec.Levels {
		t.Levels = append(t.Levels, intern(l.NodeLabel))
	}
	return t
}

// Event returns the row of an event of core/v1. Events that a recorder of
// events.k8s.io/v1 wrote come through core/v1 without lastTimestamp and with
// eventTime or a series instead.
func Event(o *corev1.Event) world.Event {
	e := world.Event{
		Key: world.Key{Namespace: intern(o.Namespace), Name: text.Clean(o.Name)}, UID: o.UID,
		Kind:   world.Kind(intern(o.InvolvedObject.Kind)),
		Object: world.Key{Namespace: intern(o.InvolvedObject.Namespace), Name: text.Clean(o.InvolvedObject.Name)}, ObjectUID: o.InvolvedObject.UID,
		Type: intern(o.Type), Reason: intern(o.Reason), Message: text.Clean(o.Message), Count: o.Count,
	}
	series, latest := time.Time{}, o.LastTimestamp.Time
	if o.Series != nil {
		series, e.Count = o.Series.LastObservedTime.Time, max(e.Count, o.Series.Count)
	}
	e.At = first(series, latest, o.EventTime.Time, o.FirstTimestamp.Time, o.CreationTimestamp.Time)
	return e
}

// NewEvent returns the row of an event of events.k8s.io/v1.
func NewEvent(o *eventsv1.Event) world.Event {
	e := world.Event{
		Key: world.Key{Namespace: intern(o.Namespace), Name: text.Clean(o.Name)}, UID: o.UID,
		Kind:   world.Kind(intern(o.Regarding.Kind)),
		Object: world.Key{Namespace: intern(o.Regarding.Namespace), Name: text.Clean(o.Regarding.Name)}, ObjectUID: o.Regarding.UID,
		Type: intern(o.Type), Reason: intern(o.Reason), Message: text.Clean(o.Note), Count: o.DeprecatedCount,
	}
	var series time.Time
	if o.Series != nil {
		series, e.Count = o.Series.LastObservedTime.Time, max(e.Count, o.Series.Count)
	}
	e.At = first(series, o.DeprecatedLastTimestamp.Time, o.EventTime.Time, o.DeprecatedFirstTimestamp.Time, o.CreationTimestamp.Time)
	return e
}

// first returns the first time that is set.
func first(ts ...time.Time) time.Time {
	for _, t := range ts {
		if !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

// Names that Kueue gives to pods.
const (
	podSetLabel        = "kueue.x-k8s.io/podset"
	workloadAnnotation = "kueue.x-k8s.io/workload"
	podGroup           = "kueue.x-k8s.io/pod-group-name"
)

// Pod returns the row of a pod.
func Pod(o *corev1.Pod) world.Pod {
	p := world.Pod{
		Meta: meta(&o.ObjectMeta), Phase: intern(o.Status.Phase), Node: intern(o.Spec.NodeName),
		Workload: text.Clean(o.Annotations[workloadAnnotation]), PodSet: intern(o.Labels[podSetLabel]),
		Message: podMessage(o), Selector: o.Spec.NodeSelector, Labels: o.Labels,
		Requests: requests(resourcehelpers.PodRequests(o, resourcehelpers.PodResourcesOptions{})),
	}
	if p.Group = text.Clean(o.Labels[podGroup]); p.Group == "" {
		p.Group = text.Clean(o.Annotations[podGroup])
	}
	for i := range o.OwnerReferences {
		if r := &o.OwnerReferences[i]; r.Controller != nil && *r.Controller {
			p.Owner = &world.Owner{APIVersion: intern(r.APIVersion), Kind: intern(r.Kind), Name: text.Clean(r.Name), UID: r.UID}
		}
	}
	return p
}

// podMessage says why a pod does not run: gates, the scheduler's word, what its
// containers wait for or how they ended, in this order.
func podMessage(o *corev1.Pod) string {
	for _, c := range o.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status != corev1.ConditionTrue {
			return text.Clean(c.Message)
		}
	}
	for _, list := range [][]corev1.ContainerStatus{o.Status.InitContainerStatuses, o.Status.ContainerStatuses} {
		for i := range list {
			s := &list[i].State
			switch {
			case s.Waiting != nil && s.Waiting.Reason != "PodInitializing" && s.Waiting.Reason != "ContainerCreating":
				return join(s.Waiting.Reason, s.Waiting.Message)
			case s.Terminated != nil && s.Terminated.ExitCode != 0:
				return join(s.Terminated.Reason, s.Terminated.Message)
			}
		}
	}
	return join(o.Status.Reason, o.Status.Message)
}

func join(reason, message string) string {
	if message == "" {
		return text.Clean(reason)
	}
	return text.Clean(reason + ": " + message)
}

// Node returns the row of a node.
func Node(o *corev1.Node) world.Node {
	n := world.Node{Meta: meta(&o.ObjectMeta), Labels: o.Labels}
	for _, c := range o.Status.Conditions {
		if c.Type == corev1.NodeReady {
			n.Ready = c.Status == corev1.ConditionTrue
		}
	}
	return n
}
