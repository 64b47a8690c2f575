package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cli.holdfast.dev/holdfast/model/health"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// ofPending draws the number of pending Workloads.
func ofPending(x health.SLO) (float64, bool) {
	if x.Pending == nil {
		return 0, false
	}
	return float64(*x.Pending), true
}

func TestSpark(t *testing.T) {
	th, _ := theme.New("", false, false)
	n := func(n int) health.SLO { return health.SLO{Pending: &n} }
	at := func(paces float64) time.Time { return now.Add(time.Duration(paces * float64(samplePace))) }
	tests := map[string]struct {
		of   samples
		w    int
		want string
		long time.Duration
	}{
		"one is no curve":           {samples{{at(0), n(3)}}, 10, "", 0},
		"nothing is the least":      {samples{{at(0), n(0)}, {at(1), n(0)}}, 10, "▁▁", samplePace},
		"from nothing to the most":  {samples{{at(0), n(0)}, {at(1), n(7)}}, 10, "▁█", samplePace},
		"little is not nothing":     {samples{{at(0), n(1)}, {at(1), n(1000)}}, 10, "▂█", samplePace},
		"not known is not nothing":  {samples{{at(0), n(5)}, {at(1), health.SLO{}}, {at(2), n(5)}}, 10, "█?█", 2 * samplePace},
		"nobody looked":             {samples{{at(0), n(5)}, {at(3), n(5)}}, 10, "█  █", 3 * samplePace},
		"a late sample is in place": {samples{{at(0), n(5)}, {at(1.2), n(5)}, {at(2), n(5)}}, 10, "███", 2 * samplePace},
		"a clock that was set back": {samples{{at(5), n(5)}, {at(0), n(7)}, {at(1), n(7)}}, 10, "█", 0},
		"the last ones that fit":    {samples{{at(0), n(900)}, {at(1), n(7)}, {at(2), n(0)}}, 2, "█▁", samplePace},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, long := tc.of.spark(th, tc.w, ofPending)
			if d := cmp.Diff([]any{tc.want, tc.long}, []any{got, long}); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// A curve is as wide as the time that it tells of and never wider than its room, and
// what is more stands higher.
func TestSparkLaws(t *testing.T) {
	th, _ := theme.New("", false, false)
	rapid.Check(t, func(t *rapid.T) {
		var r samples
		var values []int
		for i := range rapid.IntRange(2, 2*mostSamples).Draw(t, "samples") {
			v := rapid.IntRange(0, 1000).Draw(t, "value")
			values = append(values, v)
			r = r.with(sample{now.Add(time.Duration(i) * samplePace), health.SLO{Pending: &v}})
		}
		w := rapid.IntRange(2, 200).Draw(t, "width")
		text, _ := r.spark(th, w, ofPending)
		got := strings.Split(text, "")
		if want := min(w, len(values), mostSamples); len(got) != want {
			t.Fatalf("%d cells, want %d", len(got), want)
		}
		values = values[len(values)-len(got):]
		height := func(i int) int { return slices.Index(th.Glyph.Spark[:], got[i]) }
		for i := range got {
			for j := range got {
				if values[i] < values[j] && height(i) > height(j) || values[i] == 0 && height(i) != 0 || values[i] > 0 && height(i) == 0 {
					t.Fatalf("%v is drawn as %s", values, text)
				}
			}
		}
	})
}
