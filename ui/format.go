package ui

import (
	"strconv"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// count writes n with a comma at the thousands.
func count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plural writes "1 Workload" or "3 Workloads".
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + one + "s"
}

// age writes a duration coarsely: 42s, 38m, 2h10m, 3d4h, 12d. What lies in the
// future by a clock that is ahead counts as now.
func age(now, then time.Time) string {
	if then.IsZero() {
		return "?"
	}
	return span(now.Sub(then))
}

func span(d time.Duration) string {
	d = max(0, d)
	s, m, h := int(d/time.Second), int(d/time.Minute), int(d/time.Hour)
	two := func(a int, ua string, b int, ub string) string {
		if b == 0 {
			return strconv.Itoa(a) + ua
		}
		return strconv.Itoa(a) + ua + strconv.Itoa(b) + ub
	}
	switch {
	case s < 60:
		return strconv.Itoa(s) + "s"
	case m < 60:
		return strconv.Itoa(m) + "m"
	case h < 24:
		return two(h, "h", m%60, "m")
	case h < 240:
		return two(h/24, "d", h%24, "h")
	}
	return strconv.Itoa(h/24) + "d"
}

// stamp writes a time of day, with the date when it is not today's. The zone is
// that of the clock.
func stamp(now, at time.Time) string {
	if at.IsZero() {
		return "?"
	}
	at = at.In(now.Location())
	if at.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return at.Format(time.TimeOnly)
	}
	return at.Format("2006-01-02 15:04")
}

// known says whether the rows of all the kinds can be counted on; where not, the
// word to show in the place of a number.
func known(e Env, kinds ...world.Kind) (word string, ok bool) {
	for _, k := range kinds {
		if word, ok := knownKind(e.Snap, k); !ok {
			if word == "" {
				word = e.Theme.Glyph.Ellipsis
			}
			return word, false
		}
	}
	return "", true
}

func knownKind(s *store.Snapshot, k world.Kind) (string, bool) {
	f := s.Fresh(k)
	switch {
	case f.Usable() && f.Feed != world.Denied:
		return "", true
	case f.Feed == world.Denied:
		return "no access", false
	case f.Feed == world.Syncing:
		return "", false
	}
	return "?", false
}

// kindNames are several objects of the kind.
func kindNames(k world.Kind) string {
	s := string(k)
	switch {
	case strings.HasSuffix(s, "s"):
		return s + "es"
	case strings.HasSuffix(s, "y"):
		return strings.TrimSuffix(s, "y") + "ies"
	}
	return s + "s"
}

// absence is the sentence that stands where rows of the kind would be.
func absence(e Env, k world.Kind) (string, bool) {
	f := e.Snap.Fresh(k)
	detail := ""
	if f.Detail != "" {
		detail = ": " + f.Detail
	}
	switch {
	case f.Feed == world.Denied:
		hint := ""
		if e.Snap.Contract.Namespace == "" && (k == world.KindWorkload || k == world.KindLocalQueue) {
			hint = " (--namespace reads one namespace)"
		}
		return "No access to " + kindNames(k) + hint + detail, true
	case f.Feed == world.Absent:
		return "The cluster does not serve " + kindNames(k) + detail, true
	case f.Usable():
		return "", false
	case f.Feed == world.Disconnected:
		return "The server was not reached yet: " + kindNames(k) + " are unknown" + detail, true
	case f.Feed == world.Failing:
		return "The server answers with an error: " + kindNames(k) + " are unknown" + detail, true
	}
	return "Syncing " + kindNames(k) + ": " + count(f.Count) + " so far", true
}
