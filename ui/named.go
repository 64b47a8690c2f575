package ui

import (
	"slices"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// named is a row about a name that queues or Workloads use: that of an object, or of one
// that there is not.
type named interface {
	// ref names the object; its UID is empty where there is none.
	ref() world.Ref
	// there says that there is an object.
	there() bool
}

// metaOf is the metadata of the object that has the name now; nil where there is none.
func metaOf(s *store.Snapshot, r world.Ref) *world.Meta {
	switch r.Kind {
	case world.KindResourceFlavor:
		if f := s.Flavor(r.Name); f != nil {
			return &f.Meta
		}
	case world.KindAdmissionCheck:
		if k := s.Check(r.Name); k != nil {
			return &k.Meta
		}
	case world.KindWorkloadPriorityClass:
		if p := s.PriorityClass(r.Name); p != nil {
			return &p.Meta
		}
	case world.KindPriorityClass:
		if p := s.PodPriorityClass(r.Name); p != nil {
			return &p.Meta
		}
	}
	return nil
}

// lost reports that what a row says of whether there is an object is not so any more.
func lost(s *store.Snapshot, r world.Ref, there bool) bool {
	m := metaOf(s, r)
	if !there {
		return m != nil
	}
	return m == nil || m.UID != r.UID
}

// lostWords says what became of a row that is not listed any more.
func lostWords(s *store.Snapshot, r world.Ref, there bool) string {
	switch {
	case !lost(s, r, there):
		return "nothing names it any more"
	case !there:
		return "there is an object of this name now"
	}
	return "does not exist any more"
}

// sameKnown reports that the kinds can be counted on in both snapshots alike, and that
// both know of the same Workloads.
func sameKnown(a, b *store.Snapshot, kinds ...world.Kind) bool {
	return a.Contract.Limit() == b.Contract.Limit() && !slices.ContainsFunc(kinds, func(k world.Kind) bool {
		x, xOK := knownKind(a, k)
		y, yOK := knownKind(b, k)
		return x != y || xOK != yOK
	})
}

// whole says whether all Workloads are known; where not, the word to show in the place
// of a number of them.
func whole(e Env) (word string, ok bool) {
	if word, ok := known(e, world.KindWorkload); !ok {
		return word, false
	}
	if e.Snap.Contract.Limit() != "" {
		return "?", false
	}
	return "", true
}

// subject says what objects do: "ClusterQueue a names", "ClusterQueues a, b name".
func subject(kind string, names []string, one, many string) string {
	if len(names) == 1 {
		return kind + " " + names[0] + one
	}
	return kind + "s " + few3(names) + many
}

// editKey is the binding that edits the object.
func editKey(stay Screen, target targeter) Binding {
	return Binding{
		Keys: keys("e"), Name: "edit", Help: "edit the spec in your editor; the server tries it before you confirm",
		Enabled: func(e Env) (bool, string) {
			ref, why := target(e)
			if why == "" {
				why = unedited(e, ref)
			}
			return why == "", why
		},
		Run: func(e Env) (Screen, Intent) {
			ref, _ := target(e)
			return stay, open{openEdit(e, ref)}
		},
	}
}

// unedited says why the object cannot be edited; empty where it can, as far as is known.
func unedited(e Env, ref world.Ref) string {
	switch {
	case ref.Kind == world.KindPriorityClass:
		return "a PriorityClass is Kubernetes' own, and its value cannot change"
	case ref.Kind == world.KindAdmissionCheck:
		return "an AdmissionCheck is not edited here; it is its controller's affair"
	case metaOf(e.Snap, ref) == nil:
		return "there is no object " + object(ref)
	case e.ReadOnly:
		return "started with --read-only"
	}
	_, why := e.Desk.May(ref, actions.Edit)
	return why
}

// callDoc writes the state, and what to do about it.
func callDoc(p *paper, state string, role theme.Role, call string) {
	p.text("STATE", state, role)
	if call != "" {
		p.text("", p.e.Theme.Glyph.Arrow+" "+call, role)
	}
}

// ownerDoc says who else may change the object, and whether the person may.
func ownerDoc(p *paper, m *world.Meta, ref world.Ref) {
	if m == nil {
		return
	}
	if m.Deleting {
		p.text("DELETED", "it is being deleted, which ends when nothing uses it any more", theme.Warn)
	}
	ownedDoc(p, *m)
	switch why := unedited(p.e, ref); {
	case why != "":
		p.text("EDIT", "you may not edit it here: "+why, theme.Dim)
	case p.e.Desk.Granted(ref):
		p.text("EDIT", "you may edit it: e", theme.Plain)
	default:
		p.text("EDIT", "whether you may edit it is not known: the server says when you try (e)", theme.Plain)
	}
}
