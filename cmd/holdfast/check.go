package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cli.holdfast.dev/holdfast/model/chain"
	"cli.holdfast.dev/holdfast/model/check"
	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/report"
	"cli.holdfast.dev/holdfast/model/text"
)

// checkFlags are those of the check command.
type checkFlags struct {
	output   string
	require  []string
	subjects []string
	classes  []string
}

func (a *app) checkCommand() *cobra.Command {
	var f checkFlags
	c := &cobra.Command{
		Use:   "check",
		Short: "Hold the cluster against the rules of its quota: pass, fail, not exercised or unknown, with evidence",
		Long: "The rules: " + strings.Join(ruleNames(), ", ") + ".\n" +
			"Exit code 0: no rule failed and every required one passed; 1: otherwise. A required rule that nothing\n" +
			"puts to the test, or of which not everything could be read, does not pass.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.check(c.Context(), f) },
	}
	c.Flags().StringVarP(&f.output, "output", "o", "text", "text, json, yaml or junit")
	c.Flags().StringSliceVar(&f.require, "require", nil, "rules that must pass")
	c.Flags().StringSliceVar(&f.subjects, "subject", nil, "tenants whose rights are looked at: user:NAME, group:NAME, sa:NAMESPACE/NAME (default: whoever a RoleBinding names in a namespace with a LocalQueue)")
	c.Flags().StringArrayVar(&f.classes, "allow-classes", nil, "priority classes that a namespace may use: NAMESPACE=CLASS,CLASS (may be repeated)")
	return c
}

func ruleNames() []string {
	var out []string
	for _, n := range check.Names() {
		out = append(out, string(n))
	}
	return out
}

// parse reads the flags and says what is wrong with them.
func (f checkFlags) parse() (required []check.Name, subjects []kube.Subject, allowed map[string][]string, err error) {
	if !slices.Contains([]string{"text", "json", "yaml", "junit"}, f.output) {
		return nil, nil, nil, fmt.Errorf("-o %s is not known; choose text, json, yaml or junit", f.output)
	}
	for _, r := range f.require {
		if !slices.Contains(ruleNames(), r) {
			return nil, nil, nil, fmt.Errorf("--require %s is no rule; choose of %s", r, strings.Join(ruleNames(), ", "))
		}
		required = append(required, check.Name(r))
	}
	for _, s := range f.subjects {
		x, err := kube.ParseSubject(s)
		if err != nil {
			return nil, nil, nil, err
		}
		subjects = append(subjects, x)
	}
	allowed = map[string][]string{}
	for _, s := range f.classes {
		ns, list, ok := strings.Cut(s, "=")
		if !ok || ns == "" {
			return nil, nil, nil, fmt.Errorf("--allow-classes %q is not NAMESPACE=CLASS,CLASS", s)
		}
		allowed[ns] = strings.Split(list, ",")
	}
	return required, subjects, allowed, nil
}

// checkDocument is the CheckResult of the machine-readable contract.
type checkDocument struct {
	APIVersion string        `json:"apiVersion"`
	Kind       string        `json:"kind"`
	Source     report.Source `json:"source"`
	Check      struct {
		Rules []check.Rule `json:"rules"`
	} `json:"check"`
}

func (a *app) check(ctx context.Context, f checkFlags) error {
	required, subjects, allowed, err := f.parse()
	if err != nil {
		return err
	}
	r, err := a.read(ctx, a.from, wants{pods: true})
	if err != nil {
		return err
	}
	defer r.close()
	access, err := a.access(ctx, r, subjects)
	if err != nil {
		return err
	}
	rules := check.Run(check.Input{
		Snapshot: r.Snapshot, Now: r.Now, Chains: chain.All(r.Snapshot, chain.Options{Events: r.Events}),
		Pods: r.Pods, HasPods: r.HasPods, Access: access, Allowed: allowed,
	})
	if f.output == "junit" {
		err = check.WriteJUnit(a.out, rules, required)
	} else {
		doc := checkDocument{APIVersion: report.APIVersion, Kind: "CheckResult", Source: r.Source}
		doc.Source.Now = r.Now.UTC()
		doc.Check.Rules = rules
		if doc.Source.Notes == nil {
			doc.Source.Notes = []string{}
		}
		err = a.printDocument(&doc, f.output, func(w io.Writer) error { return check.WriteText(w, rules) })
	}
	if err == nil && check.Failed(rules, required) {
		err = coded(exitPerson, errPerson)
	}
	return err
}

// mostSubjects bounds how many subjects are asked about; each takes some twenty
// questions.
const mostSubjects = 20

// access asks the server what the tenants may change. What cannot be asked is
// unknown, which is no "no".
func (a *app) access(ctx context.Context, r *reading, subjects []kube.Subject) ([]check.Access, error) {
	if r.session == nil {
		return []check.Access{{Subject: "tenants", Right: "change the rules", Why: "a file does not tell what anybody may do"}}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	namespaces := tenantNamespaces(r)
	var out []check.Access
	if len(subjects) == 0 {
		for _, ns := range namespaces {
			bound, err := r.session.client.Bound(ctx, ns)
			if err != nil {
				out = append(out, check.Access{Subject: "Namespace/" + ns, Right: "change the rules", Why: text.Clean(err.Error())})
				continue
			}
			for _, s := range bound {
				if !slices.ContainsFunc(subjects, func(x kube.Subject) bool { return x.Name == s.Name }) {
					subjects = append(subjects, s)
				}
			}
		}
	}
	for i, s := range subjects {
		if i == mostSubjects {
			out = append(out, check.Access{Subject: fmt.Sprintf("%d more subjects", len(subjects)-i), Right: "change the rules", Why: "too many to ask about; name them with --subject"})
			break
		}
		for _, right := range rights(namespaces) {
			x := check.Access{Subject: s.Name, Right: strings.TrimSpace(right.Verb + " " + right.Resource + " " + right.Name)}
			if may, err := r.session.client.May(ctx, s, right); err != nil {
				x.Why = text.Clean(err.Error())
			} else {
				x.Allowed = &may
			}
			out = append(out, x)
		}
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, coded(exitInterrupted, errors.New("interrupted"))
	}
	return out, nil
}

// tenantNamespaces are those with a LocalQueue.
func tenantNamespaces(r *reading) []string {
	var out []string
	for _, q := range r.Snapshot.LocalQueues {
		if !slices.Contains(out, q.Namespace) {
			out = append(out, q.Namespace)
		}
	}
	return out
}

// rights are what no tenant should have: to change quota, flavors, cohorts or
// priorities, or the labels by which their namespace is selected.
func rights(namespaces []string) []kube.Right {
	var out []kube.Right
	for _, resource := range []string{"clusterqueues", "resourceflavors", "cohorts", "workloadpriorityclasses"} {
		for _, verb := range []string{"create", "update", "patch", "delete"} {
			out = append(out, kube.Right{Verb: verb, Group: kube.Group, Resource: resource})
		}
	}
	for _, ns := range namespaces {
		for _, verb := range []string{"update", "patch"} {
			out = append(out, kube.Right{Verb: verb, Resource: "namespaces", Name: ns})
		}
	}
	return out
}
