package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// errUnsupported is what a call gets that no part of Kueue which runs here makes
// in the version that was read.
var errUnsupported = errors.New("the code of Kueue asked for something that a preview does not have")

// refusals remembers the first thing that was refused. Kueue's code may log the
// error and go on; the run ends with it, since going on would be a guess.
type refusals struct {
	mu    sync.Mutex
	first error
}

func (r *refusals) refuse(verb string, o any) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := fmt.Errorf("%w: %s of %T", errUnsupported, verb, o)
	if r.first == nil {
		r.first = err
	}
	return err
}

func (r *refusals) err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first
}

// unsupported refuses the verbs of client.Client that a run does not serve.
type unsupported struct{ *refusals }

// Create implements client.Writer.
func (u unsupported) Create(_ context.Context, o client.Object, _ ...client.CreateOption) error {
	return u.refuse("create", o)
}

// Delete implements client.Writer.
func (u unsupported) Delete(_ context.Context, o client.Object, _ ...client.DeleteOption) error {
	return u.refuse("delete", o)
}

// DeleteAllOf implements client.Writer.
func (u unsupported) DeleteAllOf(_ context.Context, o client.Object, _ ...client.DeleteAllOfOption) error {
	return u.refuse("deletion of all", o)
}

// Patch implements client.Writer.
func (u unsupported) Patch(_ context.Context, o client.Object, _ client.Patch, _ ...client.PatchOption) error {
	return u.refuse("patch", o)
}

// Apply implements client.Writer.
func (u unsupported) Apply(_ context.Context, o runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
	return u.refuse("apply", o)
}

// SubResource implements client.Client.
func (unsupported) SubResource(string) client.SubResourceClient { return nil }

// Scheme implements client.Client.
func (unsupported) Scheme() *runtime.Scheme { return runtime.NewScheme() }

// RESTMapper implements client.Client.
func (unsupported) RESTMapper() apimeta.RESTMapper { return nil }

// GroupVersionKindFor implements client.Client.
func (u unsupported) GroupVersionKindFor(o runtime.Object) (schema.GroupVersionKind, error) {
	return schema.GroupVersionKind{}, u.refuse("kind", o)
}

// IsObjectNamespaced implements client.Client.
func (u unsupported) IsObjectNamespaced(o runtime.Object) (bool, error) {
	return false, u.refuse("scope", o)
}

// unsupportedStatus refuses the verbs of a status that a run does not serve.
type unsupportedStatus struct{ *refusals }

// Create implements client.SubResourceWriter.
func (u unsupportedStatus) Create(_ context.Context, o client.Object, _ client.Object, _ ...client.SubResourceCreateOption) error {
	return u.refuse("creation of a subresource", o)
}

// Apply implements client.SubResourceWriter.
func (u unsupportedStatus) Apply(_ context.Context, o runtime.ApplyConfiguration, _ ...client.SubResourceApplyOption) error {
	return u.refuse("apply of a subresource", o)
}
