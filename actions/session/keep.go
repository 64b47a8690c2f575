package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// change changes the session on disk under its lock.
func (r *Runner) change(s Session, f func(*Session) error) (Session, error) {
	unlock, err := r.Store.Lock(s.ID)
	if err != nil {
		return s, err
	}
	defer func() { _ = unlock() }() // it ends with the process at the latest
	if err := r.same(s); err != nil {
		return s, err
	}
	next := s.copy()
	if err := f(&next); err != nil {
		return s, err
	}
	r.close(&next)
	if err := r.Store.Save(next); err != nil {
		return s, unsaved(err)
	}
	return next, nil
}

// Start keeps a new session.
func (r *Runner) Start(s Session) error { return r.Store.Save(s) }

// Attest is the step evidence: what a named person says of the checkpoints, with what
// the cluster says of them.
func (r *Runner) Attest(s Session, words, annotation string) (Session, error) {
	if err := s.May(Evidence); err != nil {
		return s, err
	}
	if strings.TrimSpace(words) == "" {
		return s, &actions.Problem{What: "nothing is attested", Do: "Say what is known of the checkpoints, be it \"not known\"; it goes into the incident record."}
	}
	return r.change(s, func(s *Session) error {
		s.begin(Evidence, r.Who(), r.Now())
		s.Step(Evidence).Lines = cleaned(Checkpoints(r.World(), s.Target, annotation))
		s.end(Evidence, Done, r.Who()+" attests: "+words, r.Now())
		s.did(Evidence, r.Now())
		return nil
	})
}

// Checkpoints are a line for each Workload that runs in the tree of the target and
// could be preempted, with its checkpoint as the annotation says; first, where it is so,
// that not all are known. It does not block.
func Checkpoints(s *store.Snapshot, t Target, annotation string) []string {
	root := rootOf(s, t)
	var out []string
	if why := actions.Incomplete(s, t.Ref()); why != "" {
		out = append(out, why)
	}
	for _, w := range s.Workloads {
		if w.State != world.Admitted || w.ClusterQueue == "" || rootOf(s, Target{Kind: world.KindClusterQueue, Name: w.ClusterQueue}) != root {
			continue
		}
		line := fmt.Sprintf("%s (job %s, priority %d, ClusterQueue %s): ", w.Key, w.JobName(), w.Priority, w.ClusterQueue)
		switch v, ok := w.Annotations[annotation]; {
		case annotation == "":
			line += "checkpoint not known: no annotation is configured"
		case !ok:
			line += "checkpoint not known: it has no annotation " + annotation
		default:
			line += annotation + " = " + v
		}
		out = append(out, line)
	}
	return out
}

// rootOf names the tree that the target is in: the root of its cohorts, or the queue
// itself where it is in none.
func rootOf(s *store.Snapshot, t Target) string {
	name, at := "", t.Name
	switch t.Kind {
	case world.KindLocalQueue:
		if q := s.LocalQueue(world.Key{Namespace: t.Namespace, Name: t.Name}); q != nil {
			return rootOf(s, Target{Kind: world.KindClusterQueue, Name: q.ClusterQueue})
		}
		return "?"
	case world.KindClusterQueue:
		q := s.ClusterQueue(t.Name)
		if q == nil {
			return "?"
		}
		if q.Cohort == "" {
			return "queue " + t.Name
		}
		at = q.Cohort
	}
	for range len(s.Cohorts) + 1 { // a cycle has no end
		name = at
		c := s.Cohort(at)
		if c == nil || c.Parent == "" {
			break
		}
		at = c.Parent
	}
	return "cohort " + name
}

// Skip leaves a step out.
func (r *Runner) Skip(s Session, n Name, reason string) (Session, error) {
	return r.change(s, func(s *Session) error { return s.Skip(n, r.Who(), reason, r.Now()) })
}

// Bundle names the export's file where it is on this machine.
func (r *Runner) Bundle(s Session, path string) (Session, error) {
	read, unread := r.Verify(path)
	err := unread
	if err == nil {
		err = s.owns(read.Manifest)
	}
	if err != nil {
		return s, &actions.Problem{What: fmt.Sprintf("%s is not the export of this session: %s", text.Clean(path), text.Clean(err.Error())), Do: "Copy it again, or name the right one.", Err: unread}
	}
	if err := s.Other(path, read.SHA256); err != nil {
		return s, err
	}
	return r.change(s, func(s *Session) error {
		s.Bundle = path
		s.note(r.Now(), r.Who(), fmt.Sprintf("named the export %s (SHA-256 %s)", text.Clean(path), read.SHA256))
		return nil
	})
}

// Recover reads steps that were interrupted anew, from the cluster and the disk, and
// returns the session as it is then. A step is done only where its whole effect is
// there; otherwise it is to be done again, which does the rest alone. The caller must
// have a fresh snapshot.
func (r *Runner) Recover(ctx context.Context, s Session) (Session, error) {
	for i := range s.Steps {
		n := s.Steps[i].Name
		if s.Steps[i].State != Running {
			continue
		}
		var sum string // of an export
		state, detail, err := r.seen(ctx, s, n)
		if n == Export {
			state, detail, sum = r.seenExport(s.Bundle)
		}
		if err != nil {
			return s, err
		}
		if s, err = r.change(s, func(s *Session) error {
			if n == Export {
				s.BundleSHA256 = sum
			}
			s.end(n, state, detail, r.Now())
			s.note(r.Now(), r.Who(), fmt.Sprintf("%s had been interrupted; %s", n, text.Clean(detail)))
			return nil
		}); err != nil {
			return s, err
		}
	}
	return s, nil
}

// seenExport says what became of an export that was interrupted, and the checksum of
// its file where it is done.
func (r *Runner) seenExport(path string) (state State, detail, sum string) {
	read, err := r.Verify(path)
	switch {
	case err == nil:
		return Done, "read from the disk: " + path + " is whole", read.SHA256
	case errors.Is(err, os.ErrNotExist):
		return Todo, "read from the disk: there is no export", ""
	}
	return Todo, "read from the disk: " + path + " is not whole: " + err.Error(), ""
}

// seen says what became of an interrupted step other than an export.
func (r *Runner) seen(ctx context.Context, s Session, n Name) (State, string, error) {
	held, all, _ := r.held(s.Target)
	if err := r.unread(s.Target); err != nil && (n == Hold || n == Resume) {
		return Running, "", err
	}
	switch n {
	case Hold:
		if all > 0 && held == all {
			return Done, "read from the cluster: all of it is held", nil
		}
		return Todo, fmt.Sprintf("read from the cluster: %d of %d queues are held", held, all), nil
	case Resume:
		if all > 0 && held == 0 {
			return Done, "read from the cluster: nothing of it is held", nil
		}
		return Todo, fmt.Sprintf("read from the cluster: %d of %d queues are held", held, all), nil
	case Apply:
		if s.Fix == nil {
			return Todo, "there is no fix", nil
		}
		p, err := r.Desk.PlanFile(ctx, s.file(r.Namespace))
		var refused *actions.Problem
		switch {
		case errors.Is(err, actions.ErrNoChange):
			return Done, "read from the cluster: everything in the fix is so", nil
		case errors.As(err, &refused) && (refused.Rejected || refused.Conflict):
			return Failed, "not all of the fix is in the cluster, and the rest is refused: " + refused.What, nil
		case err != nil:
			return Running, "", err
		}
		return Todo, fmt.Sprintf("read from the cluster: %d objects are not as in the fix yet", len(p.Targets)), nil
	}
	return Todo, "it was interrupted and changed nothing", nil
}

// Here says whether the session is of this cluster: clusterUID and server are where
// this Runner is. It is a *actions.Problem where it is not, or cannot be told.
func (r *Runner) Here(s Session, clusterUID, server string) error {
	switch {
	case s.ClusterUID != "" && clusterUID != "" && s.ClusterUID != clusterUID:
		return &actions.Problem{What: fmt.Sprintf("the session is of another cluster: its kube-system has UID %s, this one's %s", s.ClusterUID, clusterUID), Do: "Choose the context of that cluster. Nothing was changed."}
	case (s.ClusterUID == "" || clusterUID == "") && s.Server != server:
		return &actions.Problem{What: fmt.Sprintf("whether the session is of this cluster is not known: it is of %s, this is %s", s.Server, server), Do: "Use a context with that server, or an account that may read namespace kube-system."}
	}
	return nil
}

// Import takes a session over that a colleague exported. A session of another cluster
// (Here), or one that is here already, is a *actions.Problem.
func (r *Runner) Import(s Session, clusterUID, server string) (Session, error) {
	if err := r.Here(s, clusterUID, server); err != nil {
		return s, err
	}
	unlock, err := r.Store.Lock(s.ID)
	if err != nil {
		return s, err
	}
	defer func() { _ = unlock() }() // it ends with the process at the latest
	switch old, err := r.Store.Load(s.ID); {
	case err == nil:
		return s, &actions.Problem{What: fmt.Sprintf("session %s is here already, last changed by %s", s.ID, old.lastBy()), Do: "Go on with it here, or remove its file if the other one is the true one."}
	case !errors.Is(err, os.ErrNotExist):
		return s, &actions.Problem{What: "a session of this ID is here already and cannot be read: " + text.Clean(err.Error()), Do: "Look at its file, and remove it if the other one is the true one. Nothing was changed.", Err: err}
	}
	s = s.copy()
	s.note(r.Now(), r.Who(), "took it over from "+s.lastBy())
	return s, r.Store.Save(s)
}

// lastBy is who did something last.
func (s *Session) lastBy() string {
	if len(s.History) == 0 {
		return s.By
	}
	return s.History[len(s.History)-1].By
}
