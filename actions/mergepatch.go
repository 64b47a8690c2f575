package actions

import (
	"maps"
	"reflect"
	"slices"
)

// The JSON merge patch of RFC 7386 on decoded objects. The libraries in the
// module graph decode numbers as floats on the way, which changes quotas beyond
// 2^53; these two keep the numbers as they were read.

// mergeDiff returns the merge patch that turns before into after; empty when
// they are equal.
func mergeDiff(before, after map[string]any) map[string]any {
	out := map[string]any{}
	for k, b := range before {
		if _, kept := after[k]; !kept && b != nil {
			out[k] = nil
		}
	}
	for k, a := range after {
		b, had := before[k]
		am, aIsMap := a.(map[string]any)
		bm, bIsMap := b.(map[string]any)
		switch {
		case aIsMap && bIsMap:
			if d := mergeDiff(bm, am); len(d) > 0 {
				out[k] = d
			}
		case !had && a == nil:
			// null where there was nothing asks for nothing
		case !had || !reflect.DeepEqual(a, b):
			out[k] = a
		}
	}
	return out
}

// mergeApply returns base with the merge patch applied. Neither argument is
// changed.
func mergeApply(base, patch map[string]any) map[string]any {
	out := make(map[string]any, len(base))
	for k, v := range base {
		out[k] = v
	}
	for k, p := range patch {
		pm, isMap := p.(map[string]any)
		bm, _ := out[k].(map[string]any)
		switch {
		case p == nil:
			delete(out, k)
		case isMap:
			out[k] = mergeApply(bm, pm)
		default:
			out[k] = p
		}
	}
	return out
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
