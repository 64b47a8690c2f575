package ui

import (
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/health"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// The pace at which figures are kept for the small curves, and how many are: as many as
// are drawn.
const (
	samplePace  = 30 * time.Second
	mostSamples = mostCurve
)

// sample is the figures at one time.
type sample struct {
	at  time.Time
	slo health.SLO
}

// samples are the last ones since the console was opened, the oldest first. It is a value.
type samples []sample

// with returns the samples and one more, without the oldest where there are too
// many.
func (r samples) with(x sample) samples {
	from := max(0, len(r)+1-mostSamples)
	out := make(samples, 0, len(r)-from+1)
	return append(append(out, r[from:]...), x)
}

// until are the samples up to the time.
func (r samples) until(at time.Time) samples {
	for len(r) > 0 && r[len(r)-1].at.After(at) {
		r = r[:len(r)-1]
	}
	return r
}

// slot is how many paces before the last sample one was taken; 0 also where the clock
// was set back between the two.
func (r samples) slot(x sample) int {
	return max(0, int((r[len(r)-1].at.Sub(x.at)+samplePace/2)/samplePace))
}

// spark draws a figure in at most w cells, one for each pace of time, and says how much
// time that is. Its height is its share of the most that is drawn. A figure that was not
// known is a question mark, a time at which nobody looked is blank. Fewer than two
// samples are no curve: the text is empty.
func (r samples) spark(th *theme.Theme, w int, f func(health.SLO) (v float64, known bool)) (text string, long time.Duration) {
	if len(r) < 2 || w < 2 {
		return "", 0
	}
	n := min(w, r.slot(r[0])+1)
	type point struct {
		v     float64
		known bool
	}
	at := make([]*point, n)
	most := 0.0
	for _, x := range r {
		if i := r.slot(x); i < n {
			v, known := f(x.slo)
			at[n-1-i] = &point{v, known}
			if known {
				most = max(most, v)
			}
		}
	}
	var b strings.Builder
	for _, p := range at {
		switch {
		case p == nil:
			b.WriteByte(' ')
		case !p.known:
			b.WriteString(th.Glyph.Unknown)
		default:
			b.WriteString(th.Glyph.Spark[level(p.v, most)])
		}
	}
	return b.String(), time.Duration(n-1) * samplePace
}

// level is the height of v: the least for nothing alone, the greatest for the most.
func level(v, most float64) int {
	const top = len(theme.Glyphs{}.Spark) - 1
	if v <= 0 || most <= 0 {
		return 0
	}
	return max(1, int(v/most*float64(top)+0.5))
}
