package actions

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"cli.holdfast.dev/holdfast/model/world"
)

// op is one operation of a JSON patch (RFC 6902).
type op struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// conditional turns a merge patch into a JSON patch that the server applies only
// while the object's UID, generation and hold record are those of live. The
// server tests and stores in one step and by itself begins again when only the
// status moved, so Kueue's constant status writes cannot make it fail, and a
// colleague's change of the spec always does.
//
// A test for null holds where there is no such member: Kubernetes' JSON patch
// library takes it so.
func conditional(merge map[string]any, live *unstructured.Unstructured) ([]byte, error) {
	ops := []op{
		{"test", "/metadata/uid", string(live.GetUID())},
		{"test", "/metadata/generation", nil},
	}
	if n := live.GetGeneration(); n != 0 { // not every kind outside Kueue counts it
		ops[1].Value = n
	}
	annotations, _, _ := unstructured.NestedMap(live.Object, "metadata", "annotations")
	if annotations != nil {
		ops = append(ops, op{"test", "/metadata/annotations/" + pointer(world.HoldAnnotation), annotations[world.HoldAnnotation]})
	}
	return json.Marshal(append(ops, operations("", merge, live.Object)...))
}

// operations writes the merge patch of the object at the path as additions and
// removals. now is the object there.
func operations(path string, merge, now map[string]any) []op {
	var ops []op
	for _, k := range sortedKeys(merge) {
		at := path + "/" + pointer(k)
		old, there := now[k]
		// The generation does not count labels and annotations.
		if strings.HasPrefix(path, "/metadata/") {
			ops = append(ops, op{"test", at, old})
		}
		if merge[k] == nil {
			if there {
				ops = append(ops, op{Op: "remove", Path: at})
			}
			continue
		}
		sub, isMap := merge[k].(map[string]any)
		oldMap, wasMap := old.(map[string]any)
		switch {
		case isMap && wasMap:
			ops = append(ops, operations(at, sub, oldMap)...)
		case isMap:
			if !there {
				ops = append(ops, op{"test", at, nil}) // nobody has made one meanwhile
			}
			ops = append(ops, op{"add", at, mergeApply(nil, sub)})
		default:
			ops = append(ops, op{"add", at, merge[k]})
		}
	}
	return ops
}

// pointer escapes a member name for a JSON pointer (RFC 6901).
func pointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
