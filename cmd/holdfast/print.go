package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/report"
	"cli.holdfast.dev/holdfast/model/world"
)

// printPlan writes the plan. In JSON, a plan is printed only when it is all that
// was asked for; otherwise it stands inside the result.
func (a *app) printPlan(p actions.Plan, f actFlags) error {
	if f.output == "json" {
		if f.dryRun != "server" {
			return nil
		}
		return a.printJSON("Plan", "plan", planDoc(p))
	}
	_, err := fmt.Fprint(a.out, planText(p))
	return err
}

// planText is the plan as a person reads it.
func planText(p actions.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on context %s (%s) as %s\n", p.Action, p.Context, p.Server, p.User)
	for _, t := range p.Targets {
		fmt.Fprintf(&b, "  %s: %s\n", t.Ref, t.Change)
	}
	if p.Export != nil {
		fmt.Fprintf(&b, "  %d Workloads of %s to %s\n", p.Export.Count, p.Export.Scope, p.Export.Path)
	}
	for _, l := range []struct {
		words string
		list  []actions.Affected
	}{{"run on", p.RunsOn}, {"lose their reservation at once", p.LosesReservation}, {"stay pending", p.StaysPending}, {"ARE EVICTED", p.Evicts}} {
		if len(l.list) > 0 {
			fmt.Fprintf(&b, "  %d %s: %s\n", len(l.list), l.words, names(l.list))
		}
	}
	for _, a := range p.Evicts {
		if a.Note != "" {
			fmt.Fprintf(&b, "    %s/%s: %s\n", a.Ref.Namespace, a.Job, a.Note)
		}
	}
	if p.Impact != nil {
		x := report.ImpactOf(p.Impact, nil)
		var page strings.Builder
		_ = x.Text(&page) // a builder does not fail
		for l := range strings.Lines(page.String()) {
			b.WriteString(strings.TrimRight("  "+l, " \n") + "\n")
		}
	}
	for _, l := range [][]string{{p.Incomplete}, p.Notes, p.Warnings, prefixed("unknown: ", p.Unknown)} {
		for _, s := range l {
			if s != "" {
				fmt.Fprintf(&b, "  %s\n", s)
			}
		}
	}
	for _, l := range p.Diff {
		fmt.Fprintf(&b, "    %s\n", l)
	}
	return b.String()
}

func prefixed(p string, in []string) []string {
	out := make([]string, 0, len(in))
	for _, s := range in {
		out = append(out, p+s)
	}
	return out
}

func names(as []actions.Affected) string {
	const most = 8
	var out []string
	for i, x := range as {
		if i == most {
			out = append(out, fmt.Sprintf("and %d more", len(as)-most))
			break
		}
		out = append(out, x.Ref.Namespace+"/"+x.Job)
	}
	return strings.Join(out, ", ")
}

// finish prints what was done and turns it into the exit code.
func (a *app) finish(p actions.Plan, r actions.Result, f actFlags) error {
	if err := a.finishPrint(p, r, f); err != nil {
		return err
	}
	return verdict(r)
}

func (a *app) finishPrint(p actions.Plan, r actions.Result, f actFlags) error {
	if f.output == "json" {
		if err := a.printJSON("ActionResult", "action", resultDoc(p, r)); err != nil {
			return err
		}
	} else {
		for _, o := range r.Objects {
			if _, err := fmt.Fprintf(a.out, "%s: %s%s. %s\n", o.Ref, o.Outcome, verified(o), o.Detail); err != nil {
				return err
			}
			for _, m := range o.Meanwhile {
				if _, err := fmt.Fprintf(a.out, "    %s\n", m); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func verified(o actions.ObjectResult) string {
	switch {
	case o.Outcome != actions.Done:
		return ""
	case o.Verified:
		return ", verified"
	case o.Unverifiable:
		return ""
	}
	return ", NOT verified"
}

func verdict(r actions.Result) error {
	done, unverified, unknown := 0, false, false
	for _, o := range r.Objects {
		unknown = unknown || o.Outcome == actions.OutcomeUnknown
		if o.Outcome == actions.Done {
			done++
			unverified = unverified || !o.Verified && !o.Unverifiable
		}
	}
	switch {
	case unknown && done == 0:
		return coded(exitUnverified, errors.New("the request went out and no answer came back: whether it was written is not known; look at the object"))
	case done == len(r.Objects) && unverified:
		return coded(exitUnverified, errors.New("written, but Kueue was not seen to have taken it up"))
	case done == len(r.Objects):
		return nil
	case done > 0:
		return coded(exitPartly, fmt.Errorf("%d of %d objects are done", done, len(r.Objects)))
	}
	return coded(exitRefused, errors.New("nothing was done"))
}

func (a *app) printJSON(kind, field string, v any) error {
	e := json.NewEncoder(a.out)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"apiVersion": "holdfast.dev/v1alpha1", "kind": kind, field: v})
}

func planDoc(p actions.Plan) map[string]any {
	objects := []map[string]any{}
	for _, t := range p.Targets {
		objects = append(objects, map[string]any{
			"kind": t.Ref.Kind, "namespace": t.Ref.Namespace, "name": t.Ref.Name, "uid": t.Ref.UID, "generation": t.Generation,
			"patch": json.RawMessage(t.Patch), "diff": strings.Join(p.Diff, "\n"), "change": t.Change,
		})
	}
	doc := map[string]any{
		"action": p.Action, "context": p.Context, "objects": objects, "impact": nil,
		"runsOn": refs(p.RunsOn), "losesReservation": refs(p.LosesReservation), "staysPending": refs(p.StaysPending), "evicts": refs(p.Evicts),
		"warnings": append(append([]string{}, p.Warnings...), p.Notes...), "unknown": append([]string{}, p.Unknown...), "incomplete": p.Incomplete,
		"confirm": map[string]any{"level": p.Confirm.Level, "expects": p.Confirm.Expects},
	}
	if p.Impact != nil {
		doc["impact"] = report.ImpactOf(p.Impact, p.Edits)
	}
	if p.Export != nil {
		doc["export"] = map[string]any{"scope": p.Export.Scope.String(), "path": p.Export.Path, "count": p.Export.Count}
	}
	return doc
}

// fieldDocs are the fields that somebody changed meanwhile, or that the plan changes;
// null is one that is not there.
func fieldDocs(fs []actions.Field) []map[string]any {
	out := []map[string]any{}
	for _, f := range fs {
		doc := map[string]any{"path": f.Path, "both": f.Clash()}
		for k, v := range map[string]string{"was": f.Was, "now": f.Now, "yours": f.Yours} {
			doc[k] = nil
			if v != "" {
				doc[k] = v
			}
		}
		out = append(out, doc)
	}
	return out
}

func refs(as []actions.Affected) []string {
	out := []string{}
	for _, x := range as {
		out = append(out, world.Key{Namespace: x.Ref.Namespace, Name: x.Ref.Name}.String())
	}
	return out
}

func resultDoc(p actions.Plan, r actions.Result) map[string]any {
	objects := []map[string]any{}
	for _, o := range r.Objects {
		objects = append(objects, map[string]any{"object": o.Ref.String(), "outcome": o.Outcome, "detail": o.Detail, "verified": o.Verified, "meanwhile": fieldDocs(o.Meanwhile)})
	}
	return map[string]any{"plan": planDoc(p), "objects": objects, "journalId": r.JournalID}
}
