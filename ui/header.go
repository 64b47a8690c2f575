package ui

import (
	"slices"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// segment is a piece of the header. When there is no room the one with the
// highest drop goes first; 0 stays.
type segment struct {
	text string
	role theme.Role
	drop int
}

// header says where this is, who asks, and how far it can be trusted. It always
// tells of the newest snapshot, also while a dialog is open.
func (r root) header() string {
	c := r.live.Contract
	left := []segment{{"holdfast", theme.Strong, 9}, r.place(c), r.person(c), kueue(c), r.freshness()}
	if c.Namespace != "" {
		left = slices.Insert(left, 3, segment{"only ns " + term.Clip(c.Namespace, max(12, r.w/5), r.theme.Glyph.Ellipsis), theme.Warn, 0})
	}
	if c.Server != "" && r.w >= 160 {
		left = slices.Insert(left, 2, segment{c.Server, theme.Dim, 10})
	}
	if c.Controller == world.NotReady {
		left = append(left, segment{r.theme.Glyph.Cross + " Kueue's controller is not ready", theme.Alarm, 3})
	}
	badge := segment{"WRITE", theme.Badge, 0}
	switch {
	case r.opt.File != "":
		badge = segment{"FILE", theme.Good, 0}
	case r.opt.ReadOnly:
		badge = segment{"READ-ONLY", theme.Good, 0}
	}
	clock := r.now.Format(time.TimeOnly)
	if r.w >= 100 {
		clock += r.now.Format(" -07:00")
	}
	right := []segment{badge, {clock, theme.Plain, 0}}
	left = slices.DeleteFunc(left, func(s segment) bool { return s.text == "" })
	for width(left)+width(right)+1 > r.w {
		if i := mostDroppable(left); i >= 0 {
			left = slices.Delete(left, i, i+1)
			continue
		}
		break
	}
	room := r.w - width(right) - 1
	var b strings.Builder
	used := 0
	for _, s := range left {
		t := term.Clip(s.text, room-used-2, r.theme.Glyph.Ellipsis)
		if t == "" {
			continue
		}
		b.WriteString(" " + r.theme.Paint(s.role, t) + " ")
		used += term.Width(t) + 2
	}
	b.WriteString(term.Spaces(r.w - used - width(right)))
	for _, s := range right {
		b.WriteString(" " + r.theme.Paint(s.role, s.text) + " ")
	}
	return b.String()
}

func width(ss []segment) int {
	n := 0
	for _, s := range ss {
		n += term.Width(s.text) + 2
	}
	return n
}

func mostDroppable(ss []segment) int {
	at := -1
	for i, s := range ss {
		if s.drop > 0 && (at < 0 || s.drop > ss[at].drop) {
			at = i
		}
	}
	return at
}

func (r root) place(c world.Contract) segment {
	if r.opt.File != "" {
		return segment{tail(text.Clean(r.opt.File), max(12, r.w/3), r.theme.Glyph.Ellipsis), theme.Strong, 0}
	}
	name := c.Context
	if name == "" {
		name = "no context"
	}
	name = tail(name, max(12, r.w/4), r.theme.Glyph.Ellipsis)
	if r.opt.Production {
		return segment{"PROD " + name, theme.Danger, 0}
	}
	return segment{name, theme.Strong, 0}
}

// tail keeps the end of a name that is too long: clusters of one account have
// names that differ there.
func tail(s string, w int, ellipsis string) string {
	if term.Width(s) <= w {
		return s
	}
	runes := []rune(s)
	for len(runes) > 0 && term.Width(ellipsis+string(runes)) > w {
		runes = runes[1:]
	}
	return ellipsis + string(runes)
}

func (r root) person(c world.Contract) segment {
	short := func(s string) string { return term.Clip(s, max(12, r.w/5), r.theme.Glyph.Ellipsis) }
	switch {
	case r.opt.File != "":
		return segment{}
	case c.Impersonates != "":
		return segment{"AS " + short(c.Impersonates), theme.Alarm, 0}
	case c.User == "":
		return segment{"user ?", theme.Dim, 5}
	case c.UserFrom == "kubeconfig":
		return segment{short(c.User) + "?", theme.Plain, 5}
	}
	return segment{short(c.User), theme.Plain, 5}
}

func kueue(c world.Contract) segment {
	v := "Kueue ?"
	if c.KueueVersion != "" {
		v = "Kueue " + strings.TrimPrefix(c.KueueVersion, "v")
	}
	if c.Used != "" {
		v += " " + c.Used
	}
	return segment{v, theme.Plain, 8}
}

// freshness tells the worst of what changes by itself, and what is out of reach.
func (r root) freshness() segment {
	g := r.theme.Glyph
	kind, worst, shut := worstFeed(r.live)
	if r.opt.File != "" {
		s := segment{"not live", theme.Warn, 0}
		if len(shut) > 0 {
			s.text += ", " + strings.Replace(strings.Join(shut, ", "), "not served", "not in the file", 1)
		}
		return s
	}
	s := segment{g.Live + " live", theme.Good, 0}
	switch worst.Feed {
	case world.Syncing:
		n := 0
		for _, k := range world.WatchedKinds() {
			n += r.live.Fresh(k).Count
		}
		s = segment{g.Syncing + " syncing " + count(n), theme.Warn, 0}
	case world.Delayed:
		s = segment{g.Warn + " " + kindNames(kind) + " delayed " + r.heard(worst), theme.Warn, 0}
	case world.Failing:
		s = segment{g.Warn + " " + kindNames(kind) + " fail, the server answers with an error; last " + r.heard(worst), theme.Alarm, 0}
	case world.Disconnected:
		s = segment{g.Warn + " disconnected " + r.heard(worst), theme.Alarm, 0}
		if wait := worst.Retry.Sub(r.now); !worst.Retry.IsZero() && wait > 0 {
			s.text += ", retry in " + span(wait)
		}
	}
	if kind == "" {
		return segment{g.Cross + " " + strings.Join(shut, ", "), theme.Alarm, 0}
	}
	if len(shut) > 0 {
		s.text += ", " + g.Cross + " " + strings.Join(shut, ", ")
		s.role = max(s.role, theme.Warn)
	}
	return s
}

func (r root) heard(f world.Freshness) string {
	if f.Heard.IsZero() {
		return "(never heard)"
	}
	return age(r.now, f.Heard)
}

// worstFeed returns the worst of the feeds that work or will, and words for
// those that do not and will not.
func worstFeed(s *store.Snapshot) (kind world.Kind, worst world.Freshness, shut []string) {
	var denied, absent []string
	for _, k := range world.WatchedKinds() {
		f := s.Fresh(k)
		switch f.Feed {
		case world.Denied:
			denied = append(denied, kindNames(k))
			continue
		case world.Absent:
			absent = append(absent, kindNames(k))
			continue
		}
		if kind == "" || f.Feed > worst.Feed || f.Feed == worst.Feed && f.Heard.Before(worst.Heard) {
			kind, worst = k, f
		}
	}
	if len(denied) > 0 {
		shut = append(shut, "no access: "+few(denied))
	}
	if len(absent) > 0 {
		shut = append(shut, "not served: "+few(absent))
	}
	return kind, worst, shut
}

// few writes the first name and how many more there are.
func few(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return names[0] + " +" + count(len(names)-1)
}

// tabLabel is a tab as its line names it.
type tabLabel struct {
	tab  Tab
	text string
}

func (l tabLabel) width() int { return term.Width(l.text) }

// tabLabels name the tabs with their keys. Where there is no room the last ones are
// their keys alone; a tab without a key is shown while it is open.
func (r root) tabLabels() []tabLabel {
	var all []tabLabel
	used := 0
	for t := range tabs {
		if t.key() == "" && t != r.tab {
			continue
		}
		l := tabLabel{t, " " + strings.TrimSpace(t.key()+" "+t.String()) + " "}
		all = append(all, l)
		used += l.width()
	}
	_, most := r.hints(r.env(), r.keys(), r.w)
	for i := len(all) - 1; i >= 0 && used+min(most, r.w/4) > r.w; i-- {
		l := &all[i]
		if l.tab == r.tab || l.tab.key() == "" {
			continue
		}
		used -= l.width()
		l.text = " " + l.tab.key()
		used += l.width()
	}
	return all
}

// tabLine is the tabs, and the keys that always work.
func (r root) tabLine() string {
	var b strings.Builder
	used := 0
	for _, l := range r.tabLabels() {
		role := theme.Dim
		if l.tab == r.tab {
			role = theme.Badge
		}
		text := term.Clip(l.text, r.w-used, "")
		used += term.Width(text)
		b.WriteString(r.theme.Paint(role, text))
	}
	always, n := r.hints(r.env(), r.keys(), r.w-used)
	return b.String() + term.Spaces(r.w-used-n) + always
}
