package actions

import (
	"fmt"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Deed is one action of the journal: what was meant and what came of it.
type Deed struct {
	// Intent is the entry that was written before; of a deed whose file is gone, the
	// result again.
	Intent JournalEntry
	// Result is the entry after; nil: there is none, since it was interrupted or is
	// under way.
	Result *JournalEntry
}

// Became is what a deed came to.
type Became string

// What a deed can come to.
const (
	BecameDone    Became = "done"
	BecamePartly  Became = "partly done"
	BecameNotDone Became = "not done"
	BecameRefused Became = "refused"
	// BecameUnknown: no answer came back.
	BecameUnknown Became = "unknown"
	// BecameInterrupted: no result was written.
	BecameInterrupted Became = "interrupted"
)

// NoResult says what is known of a deed that was interrupted.
const NoResult = "interrupted before a result was written; look at the objects"

// Sent says how often the write was sent, where that was more than once.
func (o JournalEvent) Sent() string {
	if o.Tries < 2 {
		return ""
	}
	return fmt.Sprintf("sent %d times", o.Tries)
}

// Deeds pairs the intents and results of Journal.Read, the newest deed first. Nothing
// blocks.
func Deeds(entries []JournalEntry) []Deed {
	var out []Deed
	at := map[string]int{}
	for i := range entries {
		e := &entries[i]
		n, known := at[e.ID]
		switch {
		case e.Entry == "result" && known:
			out[n].Result = e
		case e.Entry == "result":
			out = append(out, Deed{Intent: *e, Result: e})
		case e.Entry == "intent":
			at[e.ID] = len(out)
			out = append(out, Deed{Intent: *e})
		}
	}
	slices.SortStableFunc(out, func(a, b Deed) int { return a.Intent.Time.Compare(b.Intent.Time) })
	slices.Reverse(out)
	return out
}

// Became sums up the outcomes of the objects.
func (d Deed) Became() Became {
	if d.Result == nil {
		return BecameInterrupted
	}
	all := map[Outcome]int{}
	for _, o := range d.Result.Objects {
		all[o.Outcome]++
	}
	n := len(d.Result.Objects)
	switch {
	case all[OutcomeUnknown] > 0:
		return BecameUnknown
	case n > 0 && all[Done] == n:
		return BecameDone
	case all[Done] > 0:
		return BecamePartly
	case all[Refused] > 0:
		return BecameRefused
	}
	return BecameNotDone
}

// Of is what became of the intent's object; false where the result does not name it.
func (d Deed) Of(object string) (JournalEvent, bool) {
	if d.Result != nil {
		for _, o := range d.Result.Objects {
			if o.Object == object {
				return o, true
			}
		}
	}
	return JournalEvent{}, false
}

// NoUndo says why PlanUndo would refuse the deed whatever the cluster is like now;
// empty: it is worth trying.
func (d Deed) NoUndo() string {
	if d.Intent.Action == Export {
		return nothingChanged
	}
	var whys []string
	for _, o := range d.Intent.Objects {
		why := ""
		switch was, _ := d.Of(o.Object); {
		case was.Outcome == Refused || was.Outcome == NotDone:
			why = leftUndone(o.Object, was.Outcome)
		case !slices.Contains([]Action{Hold, Drain, Resume}, d.Intent.Action):
			why = o.oneWay()
		}
		if why == "" {
			return ""
		}
		whys = append(whys, why)
	}
	if len(whys) == 0 {
		return "it names no object"
	}
	return strings.Join(whys, "; ")
}

const nothingChanged = "an export changed nothing in the cluster"

func leftUndone(object string, was Outcome) string { return fmt.Sprintf("%s was %s then", object, was) }

// oneWay says why the change of the object cannot be taken back; empty where it can.
func (o JournalEvent) oneWay() string {
	switch {
	case o.Method == Create.word():
		return o.Object + " was made by it, and this program deletes nothing"
	case len(o.Inverse) == 0:
		return "the journal does not say what " + o.Object + " was before"
	}
	return ""
}

// wrote is the merge patch of what the object became.
func (o JournalEvent) wrote() []byte {
	if len(o.Stored) > 0 {
		return o.Stored
	}
	return o.Patch
}

// Changes are the fields that an intent writes, in the order of their paths: Yours is
// what it gives them and Was what they had. before is unset where the journal does
// not say what was there; Was is empty then.
func (o JournalEvent) Changes() (fields []Field, before bool) {
	var back, sent map[string]any
	if utiljson.Unmarshal(o.wrote(), &sent) != nil {
		return nil, false
	}
	before = len(o.Inverse) > 0 && utiljson.Unmarshal(o.Inverse, &back) == nil
	if before {
		sent = only(sent, back)
	}
	was, is := mergeApply(nil, back), mergeApply(nil, sent)
	scaffold(was, is)
	_, fields = threeWay(was, was, is)
	return fields, before || o.Method == Create.word()
}

// only is m with those fields alone that of names.
func only(m, of map[string]any) map[string]any {
	out := map[string]any{}
	for k, x := range of {
		v, ok := m[k]
		vm, isMap := v.(map[string]any)
		xm, ofMap := x.(map[string]any)
		switch {
		case !ok:
		case isMap && ofMap:
			out[k] = only(vm, xm)
		default:
			out[k] = v
		}
	}
	return out
}

// scaffold gives was empty maps where is has maps, so that their members are compared
// one by one.
func scaffold(was, is map[string]any) {
	for k, v := range is {
		m, isMap := v.(map[string]any)
		if !isMap {
			continue
		}
		if _, ok := was[k]; !ok {
			was[k] = map[string]any{}
		}
		if sub, ok := was[k].(map[string]any); ok {
			scaffold(sub, m)
		}
	}
}
