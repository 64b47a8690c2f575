package main

import (
	"context"
	"strings"

	"cli.holdfast.dev/holdfast/actions"
	rollback "cli.holdfast.dev/holdfast/actions/session"
	"cli.holdfast.dev/holdfast/model/world"
)

// keeper is the sessions of the console.
type keeper struct {
	a *app
	s *session
	r *rollback.Runner
}

// List implements ui.Sessions.
func (k keeper) List(context.Context) ([]rollback.Session, []string, error) { return k.r.Store.List() }

// Load implements ui.Sessions.
func (k keeper) Load(_ context.Context, id string) (rollback.Session, error) {
	return k.r.Store.Load(id)
}

// Start implements ui.Sessions.
func (k keeper) Start(ctx context.Context, ref world.Ref, reason string) (rollback.Session, error) {
	return begin(ctx, k.s, k.r, ref, reason)
}

// Prepare implements ui.Sessions.
func (k keeper) Prepare(ctx context.Context, id string, n rollback.Name) (rollback.Session, *actions.Plan, error) {
	x, err := k.fresh(ctx, id)
	if err != nil {
		return x, nil, err
	}
	p, err := k.r.Prepare(ctx, x, n)
	if err != nil {
		return x, nil, err
	}
	if p.Plan == nil {
		x, _, err = k.r.Do(ctx, x, p, "")
		return x, nil, err
	}
	p.Plan.Session, err = rollback.Ticket(x, n)
	return x, p.Plan, err
}

// fresh is the session as it is on disk, with what was interrupted read anew.
func (k keeper) fresh(ctx context.Context, id string) (rollback.Session, error) {
	x, err := k.r.Store.Load(id)
	if err != nil {
		return x, err
	}
	if err := k.r.Here(x, k.s.desk.ClusterUID(ctx), k.s.watcher.Snapshot().Contract.Server); err != nil {
		return x, err
	}
	return k.r.Recover(ctx, x)
}

// Skip implements ui.Sessions.
func (k keeper) Skip(ctx context.Context, id string, n rollback.Name, reason string) (rollback.Session, error) {
	x, err := k.fresh(ctx, id)
	if err != nil {
		return x, err
	}
	return k.r.Skip(x, n, reason)
}

// Attach implements ui.Sessions.
func (k keeper) Attach(ctx context.Context, id, path string) (rollback.Session, error) {
	path, takeOver := strings.CutSuffix(path, " --take-over")
	f, err := named(path)
	if err != nil {
		return rollback.Session{}, err
	}
	x, err := k.fresh(ctx, id)
	if err != nil {
		return x, err
	}
	return k.r.Attach(x, f.Name, f.Content, takeOver)
}

// OpenFix implements ui.Sessions.
func (k keeper) OpenFix(ctx context.Context, id string, ref world.Ref) (actions.Draft, error) {
	x, err := k.fresh(ctx, id)
	if err != nil {
		return actions.Draft{}, err
	}
	var content []byte
	if x.Fix != nil {
		content = []byte(x.Fix.Text)
	}
	return k.s.desk.OpenFix(ctx, ref, content, k.r.Namespace)
}

// AttachEdit implements ui.Sessions.
func (k keeper) AttachEdit(ctx context.Context, id string, draft actions.Draft) (rollback.Session, error) {
	x, err := k.fresh(ctx, id)
	if err != nil {
		return x, err
	}
	return k.r.AttachEdit(ctx, x, draft)
}

// TakeOver implements ui.Sessions: the fix is attached once more, so that what was
// found without it has to be found again.
func (k keeper) TakeOver(ctx context.Context, id string) (rollback.Session, *actions.Plan, error) {
	x, err := k.fresh(ctx, id)
	if err != nil {
		return x, nil, err
	}
	if _, err = k.r.TakeOver(x); err != nil {
		return x, nil, err
	}
	return k.Prepare(ctx, id, rollback.DryRun)
}

// Attest implements ui.Sessions.
func (k keeper) Attest(ctx context.Context, id, words string) (rollback.Session, error) {
	x, err := k.fresh(ctx, id)
	if err != nil {
		return x, err
	}
	return k.r.Attest(x, words, k.a.checkpoint)
}

// Summary implements ui.Sessions.
func (k keeper) Summary(id string) string {
	c := "holdfast session summary " + id
	if k.a.journal != "" {
		c += " --journal " + quoted(k.a.journal)
	}
	return c
}

// quoted is the word as a POSIX shell takes it for one.
func quoted(word string) string {
	plain := func(r rune) bool {
		return r == '/' || r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// sessionDesk is the console's Desk: the plan of a session's step is carried out by
// the session, so that it stands in the checklist.
type sessionDesk struct {
	*actions.Desk
	keep keeper
}

// ReadFile implements ui.Desk.
func (d sessionDesk) ReadFile(_ context.Context, path string) (actions.File, error) {
	f, err := named(path)
	if err != nil {
		return f, err
	}
	f.Namespace, err = d.keep.a.namespace()
	return f, err
}

// Execute carries out a plan, by way of its session where it is a step of one.
func (d sessionDesk) Execute(ctx context.Context, p actions.Plan, typed string) (actions.Result, error) {
	if p.Session == "" {
		return d.Desk.Execute(ctx, p, typed)
	}
	return d.keep.r.Redeem(ctx, p, typed)
}
