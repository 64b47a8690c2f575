package world

import (
	"math"
	"strings"

	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Amount is a quantity in the unit in which Kueue counts: thousandths of a core
// for "cpu", whole units (bytes, devices) rounded up for everything else.
// Unlimited is the greatest value; arithmetic with it saturates, as in Kueue's
// pkg/resources.Amount (v0.19).
type Amount int64

// Unlimited is Kueue's sentinel for a quota too large to count.
const Unlimited Amount = math.MaxInt64

// CPU is the one resource that is counted in thousandths.
const CPU = "cpu"

// ParseAmount converts q of the named resource as Kueue converts quotas and
// requests: MilliValue for cpu, Value (rounded up) for the rest; what does not
// fit into 64 bits is Unlimited, or the least value when negative.
func ParseAmount(name string, q resource.Quantity) Amount {
	q = Tame(q)
	scale, most := resource.Scale(0), int64(math.MaxInt64)
	if name == CPU {
		scale, most = resource.Milli, math.MaxInt64/1000 // Kueue draws the line at whole cores
	}
	if q.Cmp(*resource.NewQuantity(most, resource.DecimalSI)) >= 0 {
		return Unlimited
	}
	if q.Cmp(*resource.NewScaledQuantity(math.MinInt64, scale)) <= 0 {
		return math.MinInt64
	}
	return Amount(q.ScaledValue(scale))
}

// extreme is the power of ten beyond which a quantity is tamed, in both
// directions: far outside of what 64 bits hold.
const extreme = 40

// Tame returns q, or in its place one that counts the same where q's exponent is
// so large that arithmetic with it would take minutes: "1e100000000" is a
// quantity by its grammar. Every quantity that comes from outside passes through
// here before anything is computed with it.
func Tame(q resource.Quantity) resource.Quantity {
	if q.Format != resource.DecimalExponent {
		return q // no suffix reaches far
	}
	d := q.DeepCopy()
	dec := d.AsDec()
	// The number of digits before the point, but for one.
	power := dec.UnscaledBig().BitLen()*30103/100000 - int(dec.Scale())
	switch {
	case power > extreme:
		power = extreme
	case power < -extreme:
		power = -extreme
	default:
		return q
	}
	return *resource.NewDecimalQuantity(*inf.NewDec(int64(dec.Sign()), inf.Scale(-power)), resource.DecimalExponent)
}

// Add returns a+b; Unlimited absorbs, and overflow stops at the ends.
func (a Amount) Add(b Amount) Amount {
	if a == Unlimited || b == Unlimited {
		return Unlimited
	}
	s := a + b
	switch {
	case a > 0 && b > 0 && s < 0:
		return Unlimited
	case a < 0 && b < 0 && s >= 0:
		return math.MinInt64
	}
	return s
}

// Sub returns a-b. Unlimited minus a bounded amount is Unlimited, a bounded
// amount minus Unlimited is the least value, Unlimited minus Unlimited is 0
// (Kueue's pkg/resources.Amount.Sub).
func (a Amount) Sub(b Amount) Amount {
	switch {
	case a == Unlimited && b == Unlimited:
		return 0
	case a == Unlimited:
		return Unlimited
	case b == Unlimited:
		return math.MinInt64
	}
	s := a - b
	switch {
	case a >= 0 && b < 0 && s < 0:
		return Unlimited
	case a < 0 && b > 0 && s > 0:
		return math.MinInt64
	}
	return s
}

// Mul returns a*n, saturating. n is a number of pods and not negative.
func (a Amount) Mul(n int64) Amount {
	if a == 0 || n == 0 {
		return 0
	}
	if a == Unlimited {
		return Unlimited
	}
	p := int64(a) * n
	if p/n != int64(a) || p == math.MinInt64 {
		if a < 0 {
			return math.MinInt64
		}
		return Unlimited
	}
	return Amount(p)
}

// Text writes a of the named resource in Kubernetes' canonical form, choosing
// the format as Kueue's ResourceFormatter does: memory, ephemeral-storage and
// hugepages in binary where that reads back as a binary number (128000 is
// "125Ki", 100000 is "100k"), the rest in decimal. Unlimited is "unlimited".
func (a Amount) Text(name string) string {
	if a == Unlimited {
		return "unlimited"
	}
	q := resource.NewQuantity(int64(a), resource.DecimalSI)
	if name == CPU {
		q = resource.NewMilliQuantity(int64(a), resource.DecimalSI)
	}
	if isBytes(name) {
		if b, err := resource.ParseQuantity(resource.NewQuantity(int64(a), resource.BinarySI).String()); err == nil {
			q = &b
		}
	}
	return q.String()
}

func isBytes(name string) bool {
	return name == "memory" || name == "ephemeral-storage" || strings.HasPrefix(name, "hugepages-")
}
