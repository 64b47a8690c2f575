package world

import (
	"math"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	corev1 "k8s.io/api/core/v1"
	kueueresources "sigs.k8s.io/kueue/pkg/resources"
)

// Kueue's own types judge the units, the arithmetic and the text.

func quantities() []string {
	return []string{
		"0", "1", "500m", "1500m", "1u", "0.1", "-1", "-500m", "2", "64", "512Gi", "1Ti", "100000", "128000", "125Ki", "1e3", "1E", "9E", "10E", "16E", "100E",
		"9223372036854775807", "9223372036854775806", "9223372036854775", "9223372036854776", "-9223372036854775808", "1023", "1024", "1025", "1Mi", "1.5Gi",
	}
}

var names = []string{"cpu", "memory", "nvidia.com/gpu", "ephemeral-storage", "hugepages-2Mi", "example.com/foo"}

func TestAmountsAreKueues(t *testing.T) {
	f := kueueresources.NewResourceFormatter()
	for _, name := range names {
		for _, text := range quantities() {
			q := resource.MustParse(text)
			got := ParseAmount(name, q)
			want := kueueresources.AmountFromQuantity(corev1.ResourceName(name), q)
			if int64(got) != want.Int64() && got != math.MinInt64 {
				t.Errorf("%s %s: %d, Kueue has %d", text, name, got, want.Int64())
			}
			if got == Unlimited || got == math.MinInt64 {
				continue
			}
			if s := f.ResourceQuantityString(corev1.ResourceName(name), int64(got)); got.Text(name) != s {
				t.Errorf("%s %s is written %q, Kueue writes %q", text, name, got.Text(name), s)
			}
		}
	}
}

func TestArithmeticIsKueues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		edge := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{0, 1, -1, math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MinInt64 + 1}))
		a, b := edge.Draw(t, "a"), edge.Draw(t, "b")
		ka, kb := kueueresources.NewAmount(a), kueueresources.NewAmount(b)
		if got, want := Amount(a).Add(Amount(b)), ka.Add(kb).Int64(); int64(got) != want {
			t.Errorf("%d + %d = %d, Kueue has %d", a, b, got, want)
		}
		if got, want := Amount(a).Sub(Amount(b)), ka.Sub(kb).Int64(); int64(got) != want {
			t.Errorf("%d - %d = %d, Kueue has %d", a, b, got, want)
		}
		n := rapid.Int64Range(0, 1000).Draw(t, "pods")
		r := kueueresources.MapRequests{"x": max(0, a)}
		r.Mul(n)
		if got := Amount(max(0, a)).Mul(n); int64(got) != r["x"] {
			t.Errorf("%d x %d = %d, Kueue has %d", a, n, got, r["x"])
		}
	})
}

func TestUnlimitedIsAWord(t *testing.T) {
	if got := Unlimited.Text("cpu"); got != "unlimited" {
		t.Errorf("%q, want unlimited", got)
	}
}
