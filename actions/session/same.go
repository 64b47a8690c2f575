package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/bundle"
	"cli.holdfast.dev/holdfast/model/text"
)

// same refuses a session that is not what is on disk any more.
func (r *Runner) same(s Session) error {
	now, err := r.Store.Load(s.ID)
	if err != nil {
		return err
	}
	a, err := seal(s)
	if err != nil {
		return err
	}
	b, err := seal(now)
	if err != nil {
		return err
	}
	if a != b {
		return wentOn(s.ID)
	}
	return nil
}

func wentOn(id string) error {
	return &actions.Problem{What: "session " + id + " went on since it was shown", Do: "Look at it anew. Nothing was changed.", Conflict: true}
}

// seal tells a session from any other, and from what it was before.
func seal(s Session) (string, error) {
	raw, err := encode(s)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

// Ticket is what a Plan's Session says of a step that was planned for s: the step, and
// s as it was then.
func Ticket(s Session, n Name) (string, error) {
	sum, err := seal(s)
	return s.ID + "/" + string(n) + "/" + sum, err
}

// Redeem carries out the plan of a ticket, as Do does. That the session went on since
// the ticket is a *actions.Problem, and nothing was done then. Where the session could
// not be written behind it, the result's last object says so.
func (r *Runner) Redeem(ctx context.Context, p actions.Plan, typed string) (actions.Result, error) {
	parts := strings.Split(p.Session, "/")
	if len(parts) != 3 {
		return actions.Result{}, fmt.Errorf("%q is not the step of a session", text.Clean(p.Session))
	}
	s, err := r.Store.Load(parts[0])
	if err != nil {
		return actions.Result{}, err
	}
	sum, err := seal(s)
	if err != nil {
		return actions.Result{}, err
	}
	if sum != parts[2] {
		return actions.Result{}, wentOn(s.ID)
	}
	_, res, err := r.Do(ctx, s, Prepared{Step: Name(parts[1]), Plan: &p}, typed)
	if res == nil {
		return actions.Result{}, err
	}
	if err != nil && len(res.Objects) > 0 {
		res.Objects[len(res.Objects)-1].Detail += " (the session could not be written: " + text.Clean(err.Error()) + ")"
	}
	return *res, nil
}

// owns says why an export is not the one of this session; nil: nothing speaks against
// it.
func (s *Session) owns(m bundle.Manifest) error {
	switch {
	case s.ClusterUID != "" && m.ClusterUID != "" && m.ClusterUID != s.ClusterUID:
		return fmt.Errorf("it is of another cluster: its kube-system has UID %s, the session's %s", text.Clean(m.ClusterUID), s.ClusterUID)
	case m.Scope != s.Target.Scope():
		return fmt.Errorf("it is of %s, the session of %s", text.Clean(m.Scope.String()), s.Target.Scope())
	}
	return nil
}

func unsaved(err error) error {
	return &actions.Problem{What: "the session cannot be written, so nothing was done: " + text.Clean(err.Error()), Do: "Make room or mend the folder's rights, then try again.", Err: err}
}

func (s Session) copy() Session {
	s.Steps, s.History = slices.Clone(s.Steps), slices.Clone(s.History)
	return s
}
