package world

import (
	"math"
	"regexp"
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

// The grammar allows exponents with which arithmetic would take minutes.
func TestExtremeExponents(t *testing.T) {
	tests := map[string]struct{ cpu, bytes Amount }{
		"1e100000000":           {Unlimited, Unlimited},
		"1e-30":                 {1, 1}, // rounded up, like everything below one
		"-1e100000000":          {math.MinInt64, math.MinInt64},
		"0e100000000":           {0, 0},
		"1234567e-6":            {1235, 2},
		"9223372036854775807e0": {Unlimited, Unlimited},
		"1e3":                   {1000000, 1000},
	}
	for in, want := range tests {
		q := resource.MustParse(in)
		if cpu, bytes := ParseAmount("cpu", q), ParseAmount("memory", q); cpu != want.cpu || bytes != want.bytes {
			t.Errorf("%s: cpu %d, memory %d; want %d and %d", in, cpu, bytes, want.cpu, want.bytes)
		}
	}
}

// hangs finds what Kubernetes' own parser takes minutes for: a large negative
// exponent. The reader of files (model/file) refuses such text; an API server
// would never have got so far.
var hangs = regexp.MustCompile(`[eE][+-]?0*[0-9]{4,}`)

// Whatever reads as a quantity is the amount that Kueue makes of it, and the text
// of an amount reads back as the same amount.
func FuzzAmount(f *testing.F) {
	for _, q := range quantities() {
		f.Add("cpu", q)
		f.Add("memory", q)
	}
	format := kueueresources.NewResourceFormatter()
	f.Fuzz(func(t *testing.T, name, in string) {
		if hangs.MatchString(in) {
			return
		}
		q, err := resource.ParseQuantity(in)
		if err != nil {
			return
		}
		got := ParseAmount(name, q)
		if want := kueueresources.AmountFromQuantity(corev1.ResourceName(name), Tame(q)).Int64(); int64(got) != want && got != math.MinInt64 {
			t.Fatalf("%s %q: %d, Kueue has %d", name, in, got, want)
		}
		if got == Unlimited || got == math.MinInt64 {
			return
		}
		text := got.Text(name)
		if want := format.ResourceQuantityString(corev1.ResourceName(name), int64(got)); text != want {
			t.Fatalf("%s %d is written %q, Kueue writes %q", name, got, text, want)
		}
		back, err := resource.ParseQuantity(text)
		if err != nil {
			t.Fatalf("%s %d is written %q, which does not read back: %v", name, got, text, err)
		}
		if again := ParseAmount(name, back); again != got {
			t.Fatalf("%s %d is written %q, which reads back as %d", name, got, text, again)
		}
	})
}
