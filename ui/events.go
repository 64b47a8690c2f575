package ui

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/filter"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// eventKey names an event; a file may have no UIDs.
type eventKey struct {
	uid types.UID
	key world.Key
}

// events lists what was read of the events; they are never watched.
type events = onDemand[eventKey, world.Event, actions.EventList]

func newEvents() events {
	return newOnDemand(&demand[eventKey, world.Event, actions.EventList]{
		sheet: eventSheet, read: readEvents, needs: true, head: eventHeads,
		reload: Binding{Keys: keys("r"), Name: "read", Help: "read the events again"},
		widen:  Binding{Keys: keys("o"), Name: "others", Help: "read the events of objects of every kind (pods, Jobs), or of Kueue's alone"},
	})
}

// readEvents returns how events are read; nil where nobody does.
func readEvents(e Env, every bool) func(context.Context) (actions.EventList, error) {
	if e.events == nil {
		return nil
	}
	source, scope := e.events, actions.EventScope{Namespace: e.Snap.Contract.Namespace, Every: every}
	return func(ctx context.Context) (actions.EventList, error) { return source.Events(ctx, scope) }
}

func eventSheet(every bool, list actions.EventList) *sheet[eventKey, world.Event] {
	rows := slices.Clone(list.Events)
	slices.SortStableFunc(rows, func(a, b world.Event) int {
		return cmp.Or(b.At.Compare(a.At), a.Object.Compare(b.Object), cmp.Compare(a.Name, b.Name))
	})
	s := &sheet[eventKey, world.Event]{
		name: "Events", noun: "event", own: "newest", columns: eventColumns(), fields: []string{"ns", "kind", "reason", "type", "name"},
		none: "There are no such events.",
		key:  func(x world.Event) eventKey { return eventKey{x.UID, x.Key} },
		list: arranged(eventColumns(), func(look) []world.Event { return slices.Clone(rows) },
			func(look) func(world.Event, string, string) bool { return eventHas },
			func(x world.Event) string { return object(eventObject(x)) + " " + x.Reason + " " + x.Message }),
		same:  func(_, _ *store.Snapshot, _ filter.Query) bool { return true },
		cells: eventCells, strip: eventStrip, open: openEvent,
	}
	if every {
		s.name = "Events of every kind"
	}
	return s
}

func eventObject(x world.Event) world.Ref {
	return world.Ref{Kind: x.Kind, Key: x.Object, UID: x.ObjectUID}
}

func eventHas(x world.Event, field, text string) bool {
	has := func(s string) bool { return strings.Contains(strings.ToLower(s), text) }
	switch field {
	case "ns":
		return filter.Holds(x.Object.Namespace, text)
	case "kind":
		return strings.HasPrefix(strings.ToLower(string(x.Kind)), text)
	case "reason":
		return has(x.Reason)
	case "type":
		return strings.HasPrefix(strings.ToLower(x.Type), text)
	case "name":
		return filter.Holds(x.Object.Name, text)
	}
	return has(object(eventObject(x))) || has(x.Reason) || has(x.Message) || has(x.Type)
}

func eventColumns() []column[world.Event] {
	type x = world.Event
	return []column[x]{
		{Column: table.Column{Title: "AGE", Right: true, Min: 5, Max: 6}, falling: true, compare: func(look) func(a, b x) int {
			return func(a, b x) int { return b.At.Compare(a.At) }
		}},
		{Column: table.Column{Title: "TYPE", Min: 7, Max: 7}, compare: by(func(x x) string { return x.Type })},
		{Column: table.Column{Title: "REASON", Min: 13, Max: 24}, compare: by(func(x x) string { return x.Reason })},
		{Column: table.Column{Title: "OBJECT", Min: 24, Max: 50}, compare: by(func(x x) string { return object(eventObject(x)) })},
		{Column: table.Column{Title: "COUNT", Right: true, Min: 5, Max: 7, Drop: 2}, compare: by(func(x x) int32 { return x.Count }), falling: true},
		{Column: table.Column{Title: "MESSAGE", Min: 22, Max: 22, Grow: 1, Drop: 1}},
	}
}

// eventTimes is how often it was seen; Kueue counts none that was seen once.
func eventTimes(x world.Event) int { return max(1, int(x.Count)) }

func eventRole(x world.Event) theme.Role {
	if x.Type == "Normal" {
		return theme.Plain
	}
	return theme.Warn
}

func eventCells(e Env, x world.Event, _ bool) []table.Cell {
	return []table.Cell{
		{Text: age(e.Now, x.At)}, {Text: or(x.Type, "?"), Role: eventRole(x)}, {Text: or(x.Reason, "?")},
		{Text: object(eventObject(x)), Role: theme.Strong}, {Text: count(eventTimes(x))}, {Text: x.Message},
	}
}

func eventStrip(e Env, x world.Event, _ bool) strip {
	tail := "  " + x.Reason + ", " + stamp(e.Now, x.At)
	if n := eventTimes(x); n > 1 {
		tail += ", " + strconv.Itoa(n) + " times"
	}
	return strip{head: object(eventObject(x)), tail: tail, text: or(x.Message, "It has no message."), role: eventRole(x)}
}

// openEvent opens the object of an event.
func openEvent(e Env, x world.Event) Intent {
	ref := eventObject(x)
	if w := e.Snap.WorkloadByKey(ref.Key); ref.Kind == world.KindWorkload && ref.UID == "" && w != nil {
		ref = w.Ref()
	}
	switch ref.Kind {
	case world.KindWorkload, world.KindClusterQueue, world.KindLocalQueue, world.KindCohort, world.KindResourceFlavor, world.KindAdmissionCheck:
		return opening(e, ref)
	}
	return say{"there is no page of a " + or(string(ref.Kind), "nameless kind"), theme.Warn}
}

// eventHeads say what was read, from where and when.
func eventHeads(e Env, s events) []string {
	wide := s.wide
	if s.got.done {
		wide = s.got.wide
	}
	what := "Events of Workloads, queues, cohorts and checks"
	if wide {
		what = "Events of objects of every kind"
	}
	ns := e.Snap.Contract.Namespace
	switch {
	case ns == "":
		what += ", all namespaces"
	case wide:
		what += ", namespace " + ns + " alone"
	default:
		what += ", namespace " + ns + " alone (those of ClusterQueues are in another)"
	}
	list := s.got.value
	if list.Reach != "" {
		what += ", " + list.Reach
	}
	what += "."
	switch {
	case e.events == nil:
		return wrapped(e, "Nobody reads events here.", theme.Warn)
	case s.asked != 0 && s.wide && !wide:
		what += " Reading those of every kind" + e.Theme.Glyph.Ellipsis
	case s.asked != 0:
		what += " Reading" + e.Theme.Glyph.Ellipsis
	case s.got.good || len(list.Events) > 0:
		what += " Read " + age(e.Now, s.got.at) + " ago."
	}
	out := wrapped(e, what, theme.Dim)
	if list.Cut {
		out = append(out, wrapped(e, "There are more, and those that are left out are not the oldest.", theme.Warn)...)
	}
	if s.got.err != nil {
		out = append(out, failed(e, s.got.err, len(list.Events))...)
	}
	return out
}

// failed says why something was not read, and what follows all the same.
func failed(e Env, err error, rows int) []string {
	said := problem(err)
	if rows > 0 {
		said[len(said)-1] += " What follows is what was read before."
	}
	var out []string
	for _, l := range said {
		out = append(out, wrapped(e, l, theme.Alarm)...)
	}
	return out
}

// wrapped are the lines of a sentence above a list.
func wrapped(e Env, s string, role theme.Role) []string {
	var out []string
	for _, l := range term.Wrap(s, e.W-2) {
		out = append(out, " "+e.Theme.Paint(role, l))
	}
	return out
}
