package pack

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"cli.holdfast.dev/holdfast/model/world"
)

// Two lists of pod sets are one entry of the table exactly when they are equal.
func TestPodSetsOfOneKeyAreEqual(t *testing.T) {
	few := func(t *rapid.T) int { return rapid.IntRange(0, 1).Draw(t, "n") }
	draw := rapid.Custom(func(t *rapid.T) []PodSet {
		list := make([]PodSet, rapid.IntRange(1, 2).Draw(t, "sets"))
		for i := range list {
			list[i] = PodSet{Name: few(t), Count: int32(few(t)), Reclaimable: int32(few(t)), Shape: few(t), Topology: few(t)}
			if few(t) == 1 {
				list[i].MinCount = ptr.To(int32(few(t)))
			}
			if n := rapid.IntRange(0, 3).Draw(t, "requests"); n > 0 {
				list[i].Published = make([]Request, n-1)
				for j := range list[i].Published {
					list[i].Published[j] = Request{Resource: few(t), Amount: world.Amount(few(t))}
				}
			}
		}
		return list
	})
	// Random lists hardly ever differ in one thing only.
	change := func(t *rapid.T, list []PodSet) {
		ps := &list[rapid.IntRange(0, len(list)-1).Draw(t, "set")]
		switch rapid.IntRange(0, 8).Draw(t, "field") {
		case 0:
			ps.Name++
		case 1:
			ps.Count++
		case 2:
			ps.Reclaimable++
		case 3:
			ps.Shape++
		case 4:
			ps.Topology++
		case 5:
			ps.MinCount = ptr.To(ptr.Deref(ps.MinCount, 0) + 1)
		case 6:
			ps.Published = append(ps.Published, Request{})
		case 7:
			if len(ps.Published) > 0 {
				ps.Published[0].Amount++
			}
		case 8:
			if ps.Published != nil && len(ps.Published) == 0 {
				ps.Published = nil
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a := draw.Draw(t, "a")
		b := append([]PodSet(nil), a...)
		for i := range b {
			if b[i].Published != nil {
				b[i].Published = append([]Request{}, b[i].Published...)
			}
		}
		if keyOf(a) != keyOf(b) {
			t.Fatalf("equal lists have two keys: %v", a)
		}
		change(t, b)
		if equal := cmp.Equal(a, b); (keyOf(a) == keyOf(b)) != equal {
			t.Fatalf("%+v and %+v have keys %q and %q", a, b, keyOf(a), keyOf(b))
		}
		if c := draw.Draw(t, "c"); (keyOf(a) == keyOf(c)) != cmp.Equal(a, c) {
			t.Fatalf("%+v and %+v have keys %q and %q", a, c, keyOf(a), keyOf(c))
		}
	})
}
