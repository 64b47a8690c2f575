package live

import (
	"context"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/pods"
	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/world"
)

// Reader reads, when asked, what is not watched: pods, nodes, events and Kueue's
// order of its queues. Every method blocks until it is done or ctx ends, and may
// be called from any goroutine. Failures are *ReadError.
type Reader struct {
	core   *kubernetes.Clientset
	client *kube.Client
}

// NewReader makes a Reader from a kube.Reader configuration.
func NewReader(c *rest.Config) (*Reader, error) {
	client, err := kube.NewClient(c)
	if err != nil {
		return nil, err
	}
	c = rest.CopyConfig(c)
	// Pods come in thousands; Kubernetes' own encoding costs a fraction of JSON's time.
	c.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	c.ContentType = runtime.ContentTypeProtobuf
	core, err := kubernetes.NewForConfig(c)
	if err != nil {
		return nil, err
	}
	return &Reader{core, client}, nil
}

// ReadError is a list that did not come.
type ReadError struct {
	Resource  string // with its group, as in world.Unreadable
	Namespace string // empty: all namespaces
	Err       error
}

func (e *ReadError) Error() string {
	where := "all namespaces"
	if e.Namespace != "" {
		where = "namespace " + e.Namespace
	}
	return fmt.Sprintf("cannot list %s in %s: %s", e.Resource, where, words(e.Err))
}

// Unwrap returns the server's or the network's error.
func (e *ReadError) Unwrap() error { return e.Err }

// Advice says what the person can do about it; empty where there is nothing to say.
func (e *ReadError) Advice() string {
	switch {
	case apierrors.IsForbidden(e.Err):
		return fmt.Sprintf("Ask for the right to list %s; holdfast rbac prints all that are needed.", e.Resource)
	case apierrors.IsUnauthorized(e.Err):
		return "The server does not accept the credentials: log in again, as for kubectl."
	case apierrors.IsTooManyRequests(e.Err):
		return "The server is busy: try again later."
	case errors.Is(e.Err, context.DeadlineExceeded), !answered(e.Err):
		return "See whether the server can be reached, and try again."
	}
	return ""
}

// Denied returns what the server refuses, and false where the error is another.
func (e *ReadError) Denied() (world.Unreadable, bool) {
	return world.Unreadable{Resource: e.Resource, Verb: "list", Namespace: e.Namespace}, apierrors.IsForbidden(e.Err)
}

// pageSize is how many objects come in one answer.
const pageSize = 500

// paged lists page by page. page takes one and returns where the next one begins,
// empty for none. When the list has expired on the way, again forgets what came,
// and all of it comes at once, as in client-go's tools/pager.
func paged(ctx context.Context, o metav1.ListOptions, again func(), page func(context.Context, metav1.ListOptions) (string, error)) error {
	o.Limit = pageSize
	for {
		next, err := page(ctx, o)
		switch {
		case apierrors.IsResourceExpired(err) && o.Continue != "":
			again()
			o.Continue, o.Limit = "", 0
		case err != nil:
			return err
		case next == "":
			return nil
		default:
			o.Continue = next
		}
	}
}

// Pods lists the pods of the namespace, empty for all, in the server's order.
func (r *Reader) Pods(ctx context.Context, namespace string) ([]world.Pod, error) {
	return r.pods(ctx, namespace, metav1.ListOptions{})
}

func (r *Reader) pods(ctx context.Context, namespace string, o metav1.ListOptions) ([]world.Pod, error) {
	var out []world.Pod
	err := paged(ctx, o, func() { out = nil }, func(ctx context.Context, o metav1.ListOptions) (string, error) {
		l, err := r.core.CoreV1().Pods(namespace).List(ctx, o)
		if err != nil {
			return "", err
		}
		for i := range l.Items {
			out = append(out, project.Pod(&l.Items[i]))
		}
		return l.Continue, nil
	})
	if err != nil {
		return nil, &ReadError{"pods", namespace, err}
	}
	return out, nil
}

// PodsOf lists the pods that belong to the Workload as package pods ties them. It
// asks for no more of its namespace than is certain to hold them all.
func (r *Reader) PodsOf(ctx context.Context, w *world.Workload) ([]world.Pod, error) {
	all, err := r.pods(ctx, w.Namespace, narrow(w))
	if err != nil {
		return nil, err
	}
	return pods.Of(w, all), nil
}

// narrow returns the narrowest choice of pods that surely holds all of the
// Workload's. Where the pods of a kind of job have nothing in common that every
// version of its controller writes, it is the whole namespace.
func narrow(w *world.Workload) metav1.ListOptions {
	if w.Owner == nil {
		return metav1.ListOptions{}
	}
	value, label := w.Owner.Name, ""
	switch w.Owner.Kind {
	case "Pod":
		return metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, w.Owner.Name).String()}
	case "Job":
		value, label = string(w.Owner.UID), batchv1.ControllerUidLabel
	case "JobSet", "TrainJob": // a TrainJob's JobSet has its name
		label = "jobset.sigs.k8s.io/jobset-name"
	case "MPIJob", "PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob":
		label = "training.kubeflow.org/job-name"
	case "RayCluster":
		label = "ray.io/cluster"
	case "SparkApplication":
		label = "sparkoperator.k8s.io/app-name"
	case "AppWrapper":
		label = "workload.codeflare.dev/appwrapper"
	}
	if label == "" || value == "" {
		return metav1.ListOptions{}
	}
	s, err := labels.ValidatedSelectorFromSet(labels.Set{label: value})
	if err != nil { // too long for a label: the controller writes something else
		return metav1.ListOptions{}
	}
	return metav1.ListOptions{LabelSelector: s.String()}
}

// Nodes lists the nodes in the server's order.
func (r *Reader) Nodes(ctx context.Context) ([]world.Node, error) {
	return r.nodes(ctx, metav1.ListOptions{})
}

// NodesWith lists the nodes that have all the labels.
func (r *Reader) NodesWith(ctx context.Context, with map[string]string) ([]world.Node, error) {
	s, err := labels.ValidatedSelectorFromSet(with)
	if err != nil {
		return nil, &ReadError{"nodes", "", err}
	}
	return r.nodes(ctx, metav1.ListOptions{LabelSelector: s.String()})
}

func (r *Reader) nodes(ctx context.Context, o metav1.ListOptions) ([]world.Node, error) {
	var out []world.Node
	err := paged(ctx, o, func() { out = nil }, func(ctx context.Context, o metav1.ListOptions) (string, error) {
		l, err := r.core.CoreV1().Nodes().List(ctx, o)
		if err != nil {
			return "", err
		}
		for i := range l.Items {
			out = append(out, project.Node(&l.Items[i]))
		}
		return l.Continue, nil
	})
	if err != nil {
		return nil, &ReadError{"nodes", "", err}
	}
	return out, nil
}
