package proof

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// figures are the counts of some trials.
type figures struct {
	n, changed, preempted, equal, sure, sureEqual, wrong, unlisted int
}

func (f *figures) add(r *record) {
	count := func(n *int, yes bool) {
		if yes {
			*n++
		}
	}
	v := r.Verdict
	f.n++
	count(&f.changed, v.Changed)
	count(&f.preempted, v.Preempts)
	count(&f.equal, v.Equal)
	count(&f.sure, v.Sure)
	count(&f.sureEqual, v.Sure && v.Equal)
	count(&f.wrong, r.wrong())
	count(&f.unlisted, len(v.Unlisted) > 0)
}

// summary is a proof's trials, with what was left out and why.
type summary struct {
	trials []*record
	// endless are the trials whose world went on and on after the edit: there is no
	// outcome to compare, but what was called certain must have happened.
	endless []*record
	// dropped counts the worlds without a trial, by reason.
	dropped map[string]int
}

// write writes the tables.
func (s *summary) write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, f figures) {
		_, _ = fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", name, f.n, f.changed, f.preempted, f.equal, f.sure, f.sureEqual, f.wrong, f.unlisted)
	}
	_, _ = fmt.Fprintln(t, "edit\tn\tchanged\tpreempted\tequal\tcertain\tcertain and equal\tcertain and wrong\tin no timing\t")
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	for _, name := range names {
		if f := s.count(func(r *record) bool { return r.Kind == name }); f.n > 0 {
			row(name, f)
		}
	}
	row("fair sharing off", s.count(func(r *record) bool { return !r.Fair }))
	row("fair sharing on", s.count(func(r *record) bool { return r.Fair }))
	all := s.all()
	row("all", all)
	row("of those that changed", s.count(func(r *record) bool { return r.Verdict.Changed }))
	if err := t.Flush(); err != nil {
		return err
	}
	foreseen := 0
	for _, r := range s.endless {
		if r.Forecast.Bounded != "" {
			foreseen++
		}
	}
	_, err := fmt.Fprintf(w, "%s\nlatency of %s\npreview: %s\nedits after which Kueue did not come to rest: %d, the preview foresaw it for %d\nworlds without a trial: %v\n",
		spread("admitted or moved Workloads per edit", s.each(func(r *record) int { return moves(r.Before, r.Truth.Admitted) }))+"\n"+
			spread("preemptions per edit", s.each(func(r *record) int { return len(r.Truth.Preempted) })),
		durations("evictions", s.latencies()), durations("all timings", s.took()), len(s.endless), foreseen, s.dropped)
	return err
}

func (s *summary) all() figures { return s.count(func(*record) bool { return true }) }

func (s *summary) count(of func(*record) bool) figures {
	var f figures
	for _, r := range s.trials {
		if of(r) {
			f.add(r)
		}
	}
	return f
}

func (s *summary) each(f func(*record) int) []int {
	var out []int
	for _, r := range s.trials {
		out = append(out, f(r))
	}
	return out
}

func (s *summary) latencies() []time.Duration {
	var out []time.Duration
	for _, r := range s.trials {
		out = append(out, r.Latencies...)
	}
	return out
}

func (s *summary) took() []time.Duration {
	var out []time.Duration
	for _, r := range s.trials {
		out = append(out, r.Forecast.Took)
	}
	return out
}

// moves counts the Workloads that are not where they were.
func moves(before, after map[string]string) int {
	n := 0
	for name, where := range after {
		if before[name] != where {
			n++
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			n++
		}
	}
	return n
}

// spread is a distribution in one line: how many have 0, 1, 2, 3-5, 6 and more.
func spread(what string, of []int) string {
	var n [5]int
	for _, x := range of {
		switch {
		case x < 3:
			n[x]++
		case x < 6:
			n[3]++
		default:
			n[4]++
		}
	}
	return fmt.Sprintf("%s: none %d, one %d, two %d, three to five %d, more %d", what, n[0], n[1], n[2], n[3], n[4])
}

func durations(what string, of []time.Duration) string {
	if len(of) == 0 {
		return what + ": none"
	}
	slices.Sort(of)
	at := func(p float64) time.Duration { return of[int(p*float64(len(of)-1))].Round(time.Millisecond) }
	return fmt.Sprintf("%s: %d, median %s, 90%% within %s, %s to %s", what, len(of), at(0.5), at(0.9), at(0), at(1))
}

// take adds a trial.
func (s *summary) take(r *record) {
	if r.Unsettled {
		s.endless = append(s.endless, r)
	} else {
		s.trials = append(s.trials, r)
	}
}

// verdict says why the proof fails; empty: it does not.
func (s *summary) verdict() []string {
	var out []string
	f := s.all()
	wrong := f.wrong
	for _, r := range s.endless {
		if r.wrong() {
			wrong++
		}
	}
	if wrong > 0 {
		out = append(out, fmt.Sprintf("%d previews were wrong in what they called certain", wrong))
	}
	if f.n >= enough && f.equal*100 < f.n*leastEqual {
		out = append(out, fmt.Sprintf("of %d previews the likeliest outcome came in %d, less than %d%%", f.n, f.equal, leastEqual))
	}
	if f.n >= enough && f.unlisted*100 > f.n*(100-leastListed) {
		out = append(out, fmt.Sprintf("of %d previews %d had not all that came in any timing, more than %d%%", f.n, f.unlisted, 100-leastListed))
	}
	if f.n >= enough && (f.changed*2 < f.n || f.preempted*4 < f.n) {
		out = append(out, fmt.Sprintf("of %d edits only %d changed something and %d preempted: they prove too little", f.n, f.changed, f.preempted))
	}
	return out
}

// enough is the number of edits from which on shares are judged. What is called certain
// has to be so without exception. One outcome cannot come each time, since Kueue does
// not do the same each time (TestKueueAgainstKueue): the goal of 99 % is not reached.
const enough, leastEqual, leastListed = 100, 90, 97
