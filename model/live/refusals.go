package live

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"cli.holdfast.dev/holdfast/model/world"
)

// refusals remembers what the server forbids, beside what the feeds ask for. Its
// zero value is empty; it may be used from any goroutine.
type refusals struct {
	mu  sync.Mutex
	set map[world.Unreadable]bool
}

// note takes the answer to a call.
func (r *refusals) note(err error, u world.Unreadable) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case apierrors.IsForbidden(err):
		if r.set == nil {
			r.set = map[world.Unreadable]bool{}
		}
		r.set[u] = true
	case err == nil:
		delete(r.set, u)
	}
}

func (r *refusals) list() []world.Unreadable {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.set))
}

func compareUnreadable(a, b world.Unreadable) int {
	return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Verb, b.Verb), cmp.Compare(a.Namespace, b.Namespace))
}

// groupResource writes a resource as kubectl does.
func groupResource(resource, group string) string {
	if group == "" {
		return resource
	}
	return resource + "." + group
}
