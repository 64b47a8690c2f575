package actions

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"cli.holdfast.dev/holdfast/model/impact"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// Options say what a Desk works with.
type Options struct {
	// Config is a kube.Writer configuration.
	Config *rest.Config
	// World returns the latest snapshot; it must not block.
	World func() *store.Snapshot
	// Context is the kubeconfig context, shown and asked for in dialogs.
	Context string
	// Production marks the context as one where a slip hurts: several objects at once
	// then ask for its name.
	Production bool
	// ReadOnly says that Config refuses writes; the Desk then says so beforehand.
	ReadOnly bool
	Journal  *Journal
	Clock    clock.WithTicker
	// ExportDir is where exports go; it must exist.
	ExportDir string
	// DraftDir is a private folder for files that are being edited; it is made when
	// needed.
	DraftDir string
	// Editor is the command line of the person's editor ("vim", "code --wait").
	Editor string
	// PodsOf reads the pods of a Workload; nil: nobody does.
	PodsOf func(context.Context, *world.Workload) ([]world.Pod, error)
	// NodesWith reads the nodes that have all the labels; nil: nobody does.
	NodesWith func(context.Context, map[string]string) ([]world.Node, error)
	// Impact computes what Kueue will do when the edits are made to what World returns
	// (impact.Preview); it blocks until then or until its context ends, and the
	// function, which may be nil, is told of the progress. Nil: plans say that it is
	// not computed.
	Impact func(context.Context, []impact.Edit, func(impact.Progress)) impact.Result
	// Tried, which may be nil, is told when the server has taken or refused a write or
	// dry-run of an object that Kueue's validating webhook is asked about, and how; it must
	// not block and may be called from any goroutine.
	Tried func(at time.Time, err error)
	// Checkpoint is the annotation of a Workload in which its job records its checkpoint;
	// empty: none is known.
	Checkpoint string
	// Version is that of this program, for what it writes.
	Version string
	// Progress, which may be nil, is told how far Execute is with an export, in a few
	// words, and with none at its end; it must not block and may be called from any goroutine.
	Progress func(string)
	// VerifyFor bounds how long Execute watches for Kueue's reaction.
	VerifyFor time.Duration
	// LastsFor is how long a priority that followed is watched to say that it stays.
	LastsFor time.Duration
}

// Desk plans and executes actions. Its methods block until the API server has
// answered or their context ends, and may be called from any goroutine. Methods
// whose name begins with Plan never change anything.
type Desk struct {
	opts   Options
	http   *http.Client
	access *access
	drafts drafts
}

// NewDesk returns a Desk. It does not talk to the cluster yet.
func NewDesk(o Options) (*Desk, error) {
	h, err := rest.HTTPClientFor(o.Config)
	if err != nil {
		return nil, err
	}
	return &Desk{opts: o, http: h, access: newAccess()}, nil
}

// plan returns a Plan with who and where filled in.
func (d *Desk) plan(a Action) Plan {
	c := d.opts.World().Contract
	return Plan{Action: a, Context: d.opts.Context, Server: c.Server, User: d.who()}
}

// Who names the person as the server knows them. It does not block.
func (d *Desk) Who() string { return d.who() }

// ClusterUID is the UID of the namespace kube-system, by which people tell clusters
// apart; empty where it cannot be read. It blocks until the server has answered.
func (d *Desk) ClusterUID(ctx context.Context) string {
	c, err := d.client()
	if err != nil {
		return ""
	}
	return d.clusterUID(ctx, c)
}

// Exists says that a queue or cohort is not there, as far as that is known. It does not
// block.
func (d *Desk) Exists(ref world.Ref) error {
	scope := Scope{ClusterQueue: ref.Name}
	switch ref.Kind {
	case world.KindCohort:
		scope = Scope{Cohort: ref.Name}
	case world.KindLocalQueue:
		scope = Scope{LocalQueue: ref.Key}
	}
	return exists(scope, d.opts.World())
}

// who names the person as the server knows them.
func (d *Desk) who() string {
	c := d.opts.World().Contract
	switch {
	case c.User == "":
		return "unknown"
	case c.UserFrom == "kubeconfig":
		return c.User + " (kubeconfig's word)"
	}
	return c.User
}

// target captures o for a plan.
func target(ref world.Ref, o *unstructured.Unstructured) Target {
	ref.UID = o.GetUID()
	base, _ := o.MarshalJSON() // it was JSON before
	return Target{
		Base: base,
		Ref:  ref, Generation: o.GetGeneration(), ResourceVersion: o.GetResourceVersion(),
		HoldBefore: o.GetAnnotations()[world.HoldAnnotation], Labels: o.GetLabels(), Annotations: o.GetAnnotations(),
	}
}

// policyOf reads spec.stopPolicy.
func policyOf(o *unstructured.Unstructured) world.StopPolicy {
	p, _, _ := unstructured.NestedString(o.Object, "spec", "stopPolicy")
	if p == "" {
		return world.StopNone
	}
	return world.StopPolicy(p)
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		// Only maps of strings and numbers come here.
		panic(fmt.Sprintf("actions: %v", err))
	}
	return b
}
