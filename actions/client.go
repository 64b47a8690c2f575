package actions

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// FieldManager is the name under which the console's writes stand in
// managedFields.
const FieldManager = "holdfast"

// kindInfo says how a kind is addressed and what may be done to it.
type kindInfo struct {
	resource   string
	namespaced bool
	holdable   bool
	editable   bool
}

func infoOf(k world.Kind) (kindInfo, error) {
	switch k {
	case world.KindClusterQueue:
		return kindInfo{resource: "clusterqueues", holdable: true, editable: true}, nil
	case world.KindLocalQueue:
		return kindInfo{resource: "localqueues", namespaced: true, holdable: true, editable: true}, nil
	case world.KindCohort:
		return kindInfo{resource: "cohorts", editable: true}, nil
	case world.KindResourceFlavor:
		return kindInfo{resource: "resourceflavors", editable: true}, nil
	case world.KindWorkloadPriorityClass:
		return kindInfo{resource: "workloadpriorityclasses", editable: true}, nil
	case world.KindWorkload:
		return kindInfo{resource: "workloads", namespaced: true}, nil
	case world.KindAdmissionCheck:
		return kindInfo{resource: "admissionchecks"}, nil
	}
	return kindInfo{}, fmt.Errorf("%s is not a kind that this program acts on", k)
}

// client speaks to the API server for one plan or execution and collects the
// warnings that come with its answers. Objects are handled as the server's own
// JSON, so that fields which are newer than this program survive.
type client struct {
	dyn     dynamic.Interface
	version string
	tried   func(error) // is told how a write or dry-run of what Kueue validates ended; may be nil

	mu       sync.Mutex
	warnings []string
}

// HandleWarningHeader implements rest.WarningHandler. 299 is the only code that
// the API server uses.
func (c *client) HandleWarningHeader(code int, _ string, message string) {
	if code != 299 || message == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	message = text.Clean(message)
	for _, w := range c.warnings {
		if w == message {
			return
		}
	}
	c.warnings = append(c.warnings, message)
}

// said returns the warnings so far.
func (c *client) said() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.warnings...)
}

// client makes a client that speaks the version which the cluster serves.
func (d *Desk) client() (*client, error) {
	version := d.opts.World().Contract.Used
	if version == "" {
		return nil, &Problem{
			What: "it is not known yet which version of Kueue's API this cluster serves",
			Do:   "Wait until the header shows a version, or see why it cannot be read in the log.",
		}
	}
	c := &client{version: version}
	if told := d.opts.Tried; told != nil {
		c.tried = func(err error) { told(d.opts.Clock.Now(), err) }
	}
	cfg := rest.CopyConfig(d.opts.Config)
	cfg.WarningHandler = c
	dyn, err := dynamic.NewForConfigAndClient(cfg, d.http)
	if err != nil {
		return nil, err
	}
	c.dyn = dyn
	return c, nil
}

// resource addresses an object by its kind, or as api says where it is set.
func (c *client) resource(ref world.Ref, api schema.GroupVersionResource) (dynamic.ResourceInterface, error) {
	namespaced := ref.Namespace != ""
	if api.Empty() {
		info, err := infoOf(ref.Kind)
		if err != nil {
			return nil, err
		}
		api = schema.GroupVersionResource{Group: kube.Group, Version: c.version, Resource: info.resource}
		namespaced = info.namespaced
	}
	r := c.dyn.Resource(api)
	if namespaced {
		return r.Namespace(ref.Namespace), nil
	}
	return r, nil
}

// get reads an object of Kueue's as it is now; see read.
func (c *client) get(ctx context.Context, ref world.Ref) (*unstructured.Unstructured, error) {
	return c.read(ctx, ref, schema.GroupVersionResource{})
}

// read reads the object as it is now. With a UID in ref, an object of the same
// name but another UID is a *Problem.
func (c *client) read(ctx context.Context, ref world.Ref, api schema.GroupVersionResource) (*unstructured.Unstructured, error) {
	r, err := c.resource(ref, api)
	if err != nil {
		return nil, err
	}
	o, err := r.Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return nil, problem("read "+ref.String(), err)
	}
	if ref.UID != "" && o.GetUID() != ref.UID {
		return nil, &Problem{
			What: fmt.Sprintf("%s was deleted and made again since it was shown (UID %s, now %s)", ref, ref.UID, o.GetUID()),
			Do:   "Look at the new one and start again.", Conflict: true,
		}
	}
	return o, nil
}

// patch sends the target's merge patch so that it holds only while the object has
// the UID, generation and hold record of live (conditional). With dryRun nothing is
// stored. An object that is no longer so is an error for which moved is true.
func (c *client) patch(ctx context.Context, t Target, live *unstructured.Unstructured, dryRun bool) (*unstructured.Unstructured, error) {
	r, err := c.resource(t.Ref, t.API)
	if err != nil {
		return nil, err
	}
	var m map[string]any
	if err := utiljson.Unmarshal(t.Patch, &m); err != nil {
		return nil, fmt.Errorf("the patch is not JSON: %w", err)
	}
	body, err := conditional(m, live)
	if err != nil {
		return nil, err
	}
	opts := metav1.PatchOptions{FieldManager: FieldManager, FieldValidation: metav1.FieldValidationStrict}
	if dryRun {
		opts.DryRun = []string{metav1.DryRunAll}
	}
	return r.Patch(ctx, t.Ref.Name, types.JSONPatchType, body, opts)
}

// send writes the target's change, or has the server try it. live is the object as it
// is now; nil for one that is made.
func (c *client) send(ctx context.Context, t Target, live *unstructured.Unstructured, dryRun bool) (*unstructured.Unstructured, error) {
	o, err := c.request(ctx, t, live, dryRun)
	switch t.Ref.Kind {
	case world.KindClusterQueue, world.KindCohort, world.KindResourceFlavor, world.KindWorkload: // those that Kueue's validating webhook is asked about
		if c.tried != nil {
			c.tried(err)
		}
	}
	return o, err
}

func (c *client) request(ctx context.Context, t Target, live *unstructured.Unstructured, dryRun bool) (*unstructured.Unstructured, error) {
	if t.Method == MergePatch {
		return c.patch(ctx, t, live, dryRun)
	}
	r, err := c.resource(t.Ref, t.API)
	if err != nil {
		return nil, err
	}
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(t.Patch); err != nil {
		return nil, fmt.Errorf("the object is not JSON: %w", err)
	}
	var dry []string
	if dryRun {
		dry = []string{metav1.DryRunAll}
	}
	if t.Method == Create {
		return r.Create(ctx, o, metav1.CreateOptions{FieldManager: FieldManager, FieldValidation: metav1.FieldValidationStrict, DryRun: dry})
	}
	// With these two the server refuses to apply to anything but what was read: an
	// apply has no other precondition, and would make what was deleted.
	o.SetUID(live.GetUID())
	o.SetResourceVersion(live.GetResourceVersion())
	body, err := o.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return r.Patch(ctx, t.Ref.Name, types.ApplyPatchType, body, metav1.PatchOptions{
		FieldManager: FieldManager, FieldValidation: metav1.FieldValidationStrict, DryRun: dry, Force: &t.Force,
	})
}

// moved reports whether the server refused a patch because the object is not
// what the patch was made from.
func moved(err error) bool {
	if apierrors.IsConflict(err) {
		return len(owners(err)) == 0
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code != http.StatusUnprocessableEntity {
		return false
	}
	// A JSON patch whose test fails is answered like this, without a word on which; a
	// refusal of the content names the object and the field.
	return status.Status().Message == failedTest
}

// failedTest is all that the API server says of a JSON patch that does not fit.
const failedTest = "the server rejected our request due to an error in our request"
