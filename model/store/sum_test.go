package store

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"cli.holdfast.dev/holdfast/model/world"
)

// What was added can be taken away again, however large: big integers judge.
func TestSumsLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amounts := rapid.SliceOf(rapid.OneOf(rapid.Int64Range(0, 1000), rapid.SampledFrom([]int64{math.MaxInt64, math.MaxInt64 - 1, 1 << 62}))).Draw(t, "amounts")
		gone := rapid.SliceOfN(rapid.Bool(), len(amounts), len(amounts)).Draw(t, "gone")
		var s sum
		want := new(big.Int)
		for _, a := range amounts {
			s = s.add(world.Amount(a), 1)
			want.Add(want, big.NewInt(a))
		}
		for i, a := range amounts {
			if gone[i] {
				s = s.add(world.Amount(a), -1)
				want.Sub(want, big.NewInt(a))
			}
		}
		expect := world.Unlimited
		if want.IsInt64() {
			expect = world.Amount(want.Int64())
		}
		if got := s.amount(); got != expect {
			t.Errorf("%d, want %d", got, expect)
		}
	})
}

func TestUnlimitedUseComesBack(t *testing.T) {
	var x held
	for range 3 {
		x.reserved = x.reserved.add(world.Unlimited, 1)
	}
	x.reserved = x.reserved.add(5, 1)
	if got := x.reserved.amount(); got != world.Unlimited {
		t.Errorf("three times Unlimited is %d", got)
	}
	for range 3 {
		x.reserved = x.reserved.add(world.Unlimited, -1)
	}
	if got := x.reserved.amount(); got != 5 {
		t.Errorf("after they went %d is left, want 5", got)
	}
}
