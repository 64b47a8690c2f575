package ui

import (
	"errors"

	"pgregory.net/rapid"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// hostile has servers, files and the machine itself answer with what a terminal would
// obey.
func (s *stage) hostile(t *rapid.T) {
	const evil = "\x1b]0;owned\x07\x1b[2J\u202e\u200b\r\n\tpw: \u0000"
	bad := func(name string) error {
		return rapid.SampledFrom([]error{
			nil, errors.New(evil), &actions.Problem{What: evil, Do: evil}, &actions.Problem{What: evil, Do: evil, Rejected: true}, foreign(),
		}).Draw(t, name)
	}
	d := s.desk
	d.planErr, d.execErr, d.detailErr = bad("error of a plan"), bad("error of doing it"), bad("error of a detail")
	d.readErr, d.renewErr = bad("error of a file"), bad("error of a draft")
	d.result = actions.Result{Action: d.plan.Action, JournalID: evil, Objects: []actions.ObjectResult{{
		Ref: d.plan.Targets[0].Ref, Outcome: actions.Refused, Detail: evil, Meanwhile: []actions.Field{{Path: evil, Was: evil, Now: evil, Yours: evil}},
	}}}
	d.detail.EventsUnknown, d.detail.PodsUnknown, d.detail.NodesUnknown, d.detail.YAML = evil, evil, evil, []string{evil}
	if rapid.Bool().Draw(t, "a text is left") {
		d.leftText = &actions.Draft{Path: evil, At: now}
	}
	d.may = func(world.Ref, actions.Action) (bool, string) { return true, "" }
	s.root.opt.Events = &fakeEvents{list: actions.EventList{Reach: text.Clean(evil), Cut: true}, err: errors.New(evil)}
	s.root.opt.Journal = &fakeJournal{err: errors.New(evil), bad: []string{evil}}
	s.root.opt.Contexts = hostileNames
}
