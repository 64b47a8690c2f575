package actions

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
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
	cfg := rest.CopyConfig(d.opts.Config)
	cfg.WarningHandler = c
	dyn, err := dynamic.NewForConfigAndClient(cfg, d.http)
	if err != nil {
		return nil, err
	}
	c.dyn = dyn
	return c, nil
}

func (c *client) resource(ref world.Ref) (dynamic.ResourceInterface, error) {
	info, err := infoOf(ref.Kind)
	if err != nil {
		return nil, err
	}
	r := c.dyn.Resource(schema.GroupVersionResource{Group: kube.Group, Version: c.version, Resource: info.resource})
	if info.namespaced {
		return r.Namespace(ref.Namespace), nil
	}
	return r, nil
}

// get reads the object as it is now. With a UID in ref, an object of the same
// name but another UID is a *Problem.
func (c *client) get(ctx context.Context, ref world.Ref) (*unstructured.Unstructured, error) {
	r, err := c.resource(ref)
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

// patch sends a JSON merge patch that holds only if the object still has the UID
// and resourceVersion of o. With dryRun nothing is stored.
func (c *client) patch(ctx context.Context, ref world.Ref, o *unstructured.Unstructured, body []byte, dryRun bool) (*unstructured.Unstructured, error) {
	r, err := c.resource(ref)
	if err != nil {
		return nil, err
	}
	pinned, err := pin(body, o)
	if err != nil {
		return nil, err
	}
	opts := metav1.PatchOptions{FieldManager: FieldManager, FieldValidation: metav1.FieldValidationStrict}
	if dryRun {
		opts.DryRun = []string{metav1.DryRunAll}
	}
	return r.Patch(ctx, ref.Name, types.MergePatchType, pinned, opts)
}

// pin adds the preconditions of o to a merge patch.
func pin(body []byte, o *unstructured.Unstructured) ([]byte, error) {
	var m map[string]any
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, fmt.Errorf("the patch is not JSON: %w", err)
	}
	meta, _ := m["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
		m["metadata"] = meta
	}
	meta["uid"], meta["resourceVersion"] = string(o.GetUID()), o.GetResourceVersion()
	return json.Marshal(m)
}
