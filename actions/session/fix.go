package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/text"
)

// The step fix: the objects as they will be applied.

// Attach is the step fix: it takes the objects of a file into the session. What
// follows has to be done again.
func (r *Runner) Attach(s Session, name string, content []byte, takeOver bool) (Session, error) {
	return r.attach(s, File{Name: text.Clean(name), Text: string(content)}, takeOver, "attached "+text.Clean(name))
}

// AttachEdit takes what a person changed in the draft's text into the fix, in the place
// of what the fix had for that object. It asks the server whether it takes the object so;
// fields of others are left to the dry-run. actions.ErrNoChange means that nothing was
// changed, a *actions.Problem with Rejected set that the text is to be edited again, one
// with Conflict set that the object is another one by now.
func (r *Runner) AttachEdit(ctx context.Context, s Session, dr actions.Draft) (Session, error) {
	f, err := actions.FixOf(dr)
	if errors.Is(err, actions.ErrNoChange) {
		return s, s.unsaid(dr, err)
	}
	if err != nil {
		return s, err
	}
	if err := r.tries(ctx, f); err != nil {
		return s, err
	}
	next := File{Name: "edited objects"}
	if s.Fix != nil {
		next.Name, next.Text, next.Edited = s.Fix.Name, s.Fix.Text, slices.Clone(s.Fix.Edited)
	}
	if next.Text != "" && len(next.Edited) == 0 {
		next.Name += ", edited"
	}
	content, err := actions.Amend([]byte(next.Text), r.Namespace, f)
	if err != nil {
		return s, err
	}
	next.Text = string(content)
	e := editedOf(f)
	if i := slices.IndexFunc(next.Edited, func(x Edited) bool { return x.Object == e.Object }); i >= 0 {
		next.Edited[i] = e
	} else {
		next.Edited = append(next.Edited, e)
	}
	return r.attach(s, next, false, e.sentence())
}

// unsaid is err, unless the fix says something of the object already: that its text is now
// as the cluster has it takes nothing of that back.
func (s *Session) unsaid(dr actions.Draft, err error) error {
	r := dr.Target.Ref
	t := Target{r.Kind, r.Namespace, r.Name}
	if s.Fix == nil || !slices.ContainsFunc(s.Fix.Edited, func(e Edited) bool { return e.Object == t }) {
		return err
	}
	return &actions.Problem{
		What: fmt.Sprintf("your text has %s as the cluster has it, and the fix still changes it", t.words()),
		Do:   "The fix is as it was. Edit again, or take a file without this object.", Rejected: true,
	}
}

// tries has the server try the edited object. A change of the object since it was opened
// is said in words that fit an editor.
func (r *Runner) tries(ctx context.Context, f actions.Fix) error {
	_, err := r.Desk.PlanFile(ctx, actions.File{Name: "the edited text", Content: f.Document, Namespace: r.Namespace, TakeOver: true})
	var p *actions.Problem
	if errors.As(err, &p) && p.Conflict {
		return &actions.Problem{
			What: fmt.Sprintf("%s is not what you opened any more: %s", f.Ref, p.What),
			Do:   "Edit on: your changes are made to the object as it is now. Nothing was taken into the session.", Conflict: true, Err: err,
		}
	}
	return err
}

// TakeOver has the fix become the owner of fields that others own when it is applied.
// What was found without has to be found again.
func (r *Runner) TakeOver(s Session) (Session, error) {
	if s.Fix == nil {
		return s, &actions.Problem{What: "the session has no fix", Do: "Edit an object in the step fix, or attach a file to it. Nothing was changed."}
	}
	was := *s.Step(Fix)
	words := "takes fields over from their owners, says " + r.Who()
	return r.attach(s, *s.Fix, true, "had the fix take fields over", func(x *Step) {
		*x = was
		x.Detail = text.Clean(cmp.Or(x.Detail, s.Fix.sentence()) + "; " + words)
	})
}

// attach takes the fix into the session; then changes the step once it is done.
func (r *Runner) attach(s Session, f File, takeOver bool, note string, then ...func(*Step)) (Session, error) {
	if err := s.May(Fix); err != nil {
		return s, err
	}
	if len(f.Text) > longest/4 {
		return s, &actions.Problem{What: fmt.Sprintf("%s is longer than %d bytes", f.Name, longest/4), Do: "Attach the changed objects alone."}
	}
	return r.change(s, func(s *Session) error {
		s.begin(Fix, r.Who(), r.Now())
		s.Fix, s.TakeOver = &f, takeOver
		s.Step(Fix).Lines = cleaned(f.lines())
		s.end(Fix, Done, f.sentence(), r.Now())
		for _, g := range then {
			g(s.Step(Fix))
		}
		s.note(r.Now(), r.Who(), note)
		return nil
	})
}

// sentence says what the fix is.
func (f *File) sentence() string {
	if len(f.Edited) == 0 {
		return fmt.Sprintf("%s, %d bytes", f.Name, len(f.Text))
	}
	var all []string
	if f.Name != "edited objects" {
		all = append(all, f.Name)
	}
	for _, e := range f.Edited {
		all = append(all, e.sentence())
	}
	return strings.Join(all, "; ")
}

// lines are what was edited in it, value by value.
func (f *File) lines() []string {
	var out []string
	for _, e := range f.Edited {
		for _, l := range e.Lines {
			out = append(out, e.Object.words()+": "+l)
		}
	}
	return out
}

func (e Edited) sentence() string {
	return "edited " + e.Object.words() + ": " + strings.Join(e.Fields, ", ")
}

func (t Target) words() string { return string(t.Kind) + " " + t.Ref().Key.String() }

func editedOf(f actions.Fix) Edited {
	e := Edited{Object: Target{f.Ref.Kind, f.Ref.Namespace, f.Ref.Name}, Fields: f.Paths}
	for _, x := range f.Fields {
		e.Lines = append(e.Lines, strings.TrimSuffix(x.String(), ", by you"))
	}
	if len(f.Kept) > 0 {
		e.Lines = append(e.Lines, "stays as holdfast applied it before: "+strings.Join(f.Kept, ", "))
	}
	e.Lines = append(e.Lines, f.Notes...)
	return e
}
