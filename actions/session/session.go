// Package session is the rollback session: a checklist for a queue or cohort that is
// kept on disk (hold, export, fix, evidence, dry-run, apply, resume, compare). Each
// step is an action of package actions, planned and confirmed like any other; the
// session remembers what came of it, so that closing the terminal loses nothing and a
// colleague can go on.
package session

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// Name is a step.
type Name string

// The steps.
const (
	Hold     Name = "hold"
	Export   Name = "export"
	Fix      Name = "fix"
	Evidence Name = "evidence"
	DryRun   Name = "dry-run"
	Apply    Name = "apply"
	Resume   Name = "resume"
	Compare  Name = "compare"
)

// Names are the steps in their order.
func Names() []Name { return []Name{Hold, Export, Fix, Evidence, DryRun, Apply, Resume, Compare} }

// Help says what a step does.
func (n Name) Help() string {
	return map[Name]string{
		Hold:     "stop new admissions; what runs goes on",
		Export:   "write the state of the Workloads and queues into a bundle",
		Fix:      "correct the objects in your editor, or take a file",
		Evidence: "say what is known of the checkpoints of those who could be preempted",
		DryRun:   "have the server and Kueue's scheduler try the fix; nothing is written",
		Apply:    "write the fix",
		Resume:   "let the queues flow again",
		Compare:  "hold the export against the cluster: was everything kept?",
	}[n]
}

// State is how far a step is.
type State string

// The states. Running is seen only of a step that was interrupted: it is read anew
// from the cluster, never assumed.
const (
	Todo    State = "todo"
	Running State = "running"
	Done    State = "done"
	Failed  State = "failed"
	Skipped State = "skipped"
)

// Step is one line of the checklist. Times are UTC.
type Step struct {
	Name  Name      `json:"name"`
	State State     `json:"state"`
	By    string    `json:"by,omitempty"`
	Began time.Time `json:"began,omitzero"`
	Ended time.Time `json:"ended,omitzero"`
	// Detail is one sentence: what came of it, or why it was skipped.
	Detail string `json:"detail,omitempty"`
	// JournalID is the entry in the journal of whoever did it.
	JournalID string `json:"journalID,omitempty"`
	// Lines are what a person may want to read later: objects with their outcome, what
	// Kueue was foretold to do, the comparison.
	Lines []string `json:"lines,omitempty"`
}

// Over reports whether nothing is left to do.
func (s *Step) Over() bool { return s.State == Done || s.State == Skipped }

// File is a fix: the objects as they will be applied.
type File struct {
	Name string `json:"name"`
	Text string `json:"text"`
	// Edited are the objects in it that were edited here.
	Edited []Edited `json:"edited,omitempty"`
}

// Edited is an object of a fix that was edited here.
type Edited struct {
	Object Target `json:"object"`
	// Fields are the changed fields as the fix has them, Lines the values with those
	// before, and what else is to be known of it.
	Fields []string `json:"fields"`
	Lines  []string `json:"lines"`
}

// Session is one checklist. It is a value: package Store keeps it.
type Session struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	ID         string `json:"id"`
	// Context, Server and ClusterUID (of the namespace kube-system; empty: not readable)
	// are where it belongs.
	Context    string `json:"context"`
	Server     string `json:"server"`
	ClusterUID string `json:"clusterUID,omitempty"`
	// Target is the queue or cohort.
	Target  Target    `json:"target"`
	Reason  string    `json:"reason,omitempty"`
	Created time.Time `json:"created"`
	By      string    `json:"by"`
	Steps   []Step    `json:"steps"`
	// Bundle is the absolute path of the export, and BundleSHA256 the checksum of that
	// file; empty: not known, as in sessions from before there was one. While another one
	// is made, the Earlier ones are those of the export which it is to take the place of.
	Bundle              string `json:"bundle,omitempty"`
	BundleSHA256        string `json:"bundleSHA256,omitempty"`
	EarlierBundle       string `json:"earlierBundle,omitempty"`
	EarlierBundleSHA256 string `json:"earlierBundleSHA256,omitempty"`
	Fix                 *File  `json:"fix,omitempty"`
	// TakeOver says that the fix takes fields over from their owners.
	TakeOver bool `json:"takeOver,omitempty"`
	// Kept is what the comparison said; null: not known.
	Kept *bool `json:"kept,omitempty"`
	// Left is what was not well in the cluster at LeftAt, when the last step was over (see
	// LeftOf). LeftAt is zero while the session is not over, and in those from before it was
	// looked at.
	Left   []string  `json:"left,omitempty"`
	LeftAt time.Time `json:"leftAt,omitzero"`
	// History are sentences with their time: who began it, took it over, did or skipped what.
	History []Event `json:"history"`
}

// Target names the queue or cohort of a session.
type Target struct {
	Kind      world.Kind `json:"kind"`
	Namespace string     `json:"namespace,omitempty"`
	Name      string     `json:"name"`
}

// Ref is the target as actions take it.
func (t Target) Ref() world.Ref {
	return world.Ref{Kind: t.Kind, Key: world.Key{Namespace: t.Namespace, Name: t.Name}}
}

// Scope are the target's Workloads.
func (t Target) Scope() actions.Scope {
	switch t.Kind {
	case world.KindCohort:
		return actions.Scope{Cohort: t.Name}
	case world.KindLocalQueue:
		return actions.Scope{LocalQueue: world.Key{Namespace: t.Namespace, Name: t.Name}}
	}
	return actions.Scope{ClusterQueue: t.Name}
}

// Event is a line of a session's history.
type Event struct {
	At   time.Time `json:"at"`
	By   string    `json:"by"`
	Text string    `json:"text"`
}

// The apiVersion and kind of a session's file.
const (
	apiVersion = "holdfast.dev/v1alpha1"
	kind       = "RollbackSession"
)

// New returns a session in which nothing is done yet.
func New(target world.Ref, context, server, clusterUID, by, reason string, now time.Time) (Session, error) {
	switch target.Kind {
	case world.KindClusterQueue, world.KindLocalQueue, world.KindCohort:
	default:
		return Session{}, fmt.Errorf("a session is of a ClusterQueue, a LocalQueue or a Cohort, not of a %s", target.Kind)
	}
	var b [4]byte
	if _, err := rand.Read(b[:]); err != nil {
		return Session{}, err
	}
	s := Session{
		APIVersion: apiVersion, Kind: kind, ID: now.UTC().Format("20060102-150405") + "-" + hex.EncodeToString(b[:]),
		Context: context, Server: server, ClusterUID: clusterUID, Target: Target{target.Kind, target.Namespace, target.Name},
		Reason: text.Clean(reason), Created: now.UTC(), By: by,
	}
	for _, n := range Names() {
		s.Steps = append(s.Steps, Step{Name: n, State: Todo})
	}
	s.note(now, by, "began it")
	return s, nil
}

func (s *Session) note(now time.Time, by, what string) {
	s.History = append(slices.Clone(s.History), Event{now.UTC(), by, what})
}

// Step returns the step of the name.
func (s *Session) Step(n Name) *Step {
	for i := range s.Steps {
		if s.Steps[i].Name == n {
			return &s.Steps[i]
		}
	}
	return nil
}

// Next is the first step that is not over; nil when all are.
func (s *Session) Next() *Step {
	for i := range s.Steps {
		if !s.Steps[i].Over() {
			return &s.Steps[i]
		}
	}
	return nil
}

// Over reports whether every step is done or skipped.
func (s *Session) Over() bool { return s.Next() == nil }

// May says why the step cannot be done now; nil: it can. A step waits for those before
// it, done or skipped; one that is done can be done again.
func (s *Session) May(n Name) error {
	if s.Step(n) == nil {
		return fmt.Errorf("a session has no step %q: choose one of %s", n, join(Names()))
	}
	for i := range s.Steps {
		x := &s.Steps[i]
		if x.Name == n {
			break
		}
		if !x.Over() {
			return &actions.Problem{
				What: fmt.Sprintf("%s waits for %s, which is %s", n, x.Name, x.State),
				Do:   fmt.Sprintf("Do %s first, or skip it with a reason. Nothing was changed.", x.Name),
			}
		}
	}
	switch {
	case (n == DryRun || n == Apply) && s.Fix == nil:
		return &actions.Problem{What: fmt.Sprintf("%s needs a fix, and none is attached", n), Do: "Edit an object in the step fix or attach a file to it, or skip both."}
	case n == Compare && s.Bundle == "":
		return &actions.Problem{What: "compare needs the export of this session, and there is none", Do: "Skip it; what was lost cannot be told without."}
	case n == Export && (s.Step(Apply).begun() || s.Step(Resume).begun()):
		return &actions.Problem{What: "the export of a session is the state before the fix, and that has begun to change", Do: "Make one beside the session: holdfast export. Nothing was changed."}
	}
	return nil
}

func join(names []Name) string {
	var out []string
	for _, n := range names {
		out = append(out, string(n))
	}
	return strings.Join(out, ", ")
}

// did notes in the history what came of the step.
func (s *Session) did(n Name, now time.Time) {
	x := s.Step(n)
	words := fmt.Sprintf("%s is %s", n, x.State)
	if x.State == Running {
		words = string(n) + " has no answer"
	}
	if x.Detail != "" {
		words += ": " + x.Detail
	}
	s.note(now, x.By, words)
}

// begin marks a step as running. What rests on it and was done is to be done again:
// what it said was of another state.
func (s *Session) begin(n Name, by string, now time.Time) {
	x := s.Step(n)
	over := x.Over()
	*x = Step{Name: n, State: Running, By: by, Began: now.UTC()}
	for _, later := range map[Name][]Name{
		Hold: {Resume, Compare}, Export: {Compare}, Fix: {DryRun, Apply, Compare}, Apply: {Compare}, Resume: {Compare},
	}[n] {
		y := s.Step(later)
		// What is held after all has to be resumed, even where that was left out.
		if y.begun() || n == Fix && later != Compare || n == Hold && later == Resume && over && y.Over() {
			*y = Step{Name: later, State: Todo}
		}
	}
	if s.Step(Compare).State != Done {
		s.Kept = nil
	}
}

// begun reports whether the step may have had an effect.
func (s *Step) begun() bool { return s.State != Todo && s.State != Skipped }

// end marks what came of a step.
func (s *Session) end(n Name, state State, detail string, now time.Time) {
	x := s.Step(n)
	x.State, x.Detail, x.Ended = state, text.Clean(detail), now.UTC()
	if n == Export && state != Running {
		if state != Done {
			s.Bundle, s.BundleSHA256 = s.EarlierBundle, s.EarlierBundleSHA256
		}
		s.EarlierBundle, s.EarlierBundleSHA256 = "", ""
	}
}

// Skip leaves a step out, for a reason.
func (s *Session) Skip(n Name, by, reason string, now time.Time) error {
	x := s.Step(n)
	switch {
	case x == nil:
		return fmt.Errorf("a session has no step %q: choose one of %s", n, join(Names()))
	case strings.TrimSpace(reason) == "":
		return &actions.Problem{What: fmt.Sprintf("%s is skipped without a reason", n), Do: "Say why: it goes into the incident record."}
	case x.State == Done:
		return &actions.Problem{What: fmt.Sprintf("%s is done already", n), Do: "There is nothing to skip."}
	}
	*x = Step{Name: n, State: Skipped, By: by, Began: now.UTC(), Ended: now.UTC(), Detail: text.Clean(reason)}
	s.note(now, by, "skipped "+string(n)+": "+text.Clean(reason))
	return nil
}
