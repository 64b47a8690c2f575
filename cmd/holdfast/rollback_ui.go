package main

import (
	"context"
	"path/filepath"
	"strings"

	"cli.holdfast.dev/holdfast/actions"
	rollback "cli.holdfast.dev/holdfast/actions/session"
	"cli.holdfast.dev/holdfast/model/text"
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
	c := k.s.watcher.Snapshot().Contract
	x, err := rollback.New(ref, c.Context, c.Server, k.s.desk.ClusterUID(ctx), k.s.desk.Who(), reason, k.s.clock.Now())
	if err != nil {
		return x, err
	}
	return x, k.r.Start(x)
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
	p.Plan.Session = id + "/" + string(n)
	return x, p.Plan, nil
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
	content, err := k.a.content(path)
	if err != nil {
		return rollback.Session{}, err
	}
	x, err := k.fresh(ctx, id)
	if err != nil {
		return x, err
	}
	return k.r.Attach(x, text.Clean(filepath.Base(path)), content, takeOver)
}

// Attest implements ui.Sessions.
func (k keeper) Attest(ctx context.Context, id, words string) (rollback.Session, error) {
	x, err := k.fresh(ctx, id)
	if err != nil {
		return x, err
	}
	return k.r.Attest(x, words, k.a.checkpoint)
}

// sessionDesk is the console's Desk: the plan of a session's step is carried out by
// the session, so that it stands in the checklist.
type sessionDesk struct {
	*actions.Desk
	keep keeper
}

// Execute carries out a plan, by way of its session where it is a step of one.
func (d sessionDesk) Execute(ctx context.Context, p actions.Plan, typed string) (actions.Result, error) {
	id, step, ok := strings.Cut(p.Session, "/")
	if !ok {
		return d.Desk.Execute(ctx, p, typed)
	}
	x, err := d.keep.r.Store.Load(id)
	if err != nil {
		return actions.Result{}, err
	}
	_, r, err := d.keep.r.Do(ctx, x, rollback.Prepared{Step: rollback.Name(step), Plan: &p}, typed)
	if r == nil {
		return actions.Result{}, err
	}
	if err != nil {
		r.Objects[len(r.Objects)-1].Detail += " (the session could not be written: " + text.Clean(err.Error()) + ")"
	}
	return *r, nil
}
