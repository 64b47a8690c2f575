package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"cli.holdfast.dev/holdfast/model/health"
	"cli.holdfast.dev/holdfast/model/report"
	"cli.holdfast.dev/holdfast/model/world"
)

// errPerson ends a command that did what it should and found something that
// needs a person. Nothing more is printed.
var errPerson = errors.New("something needs a person")

// readFlags are common to the commands that only read.
type readFlags struct {
	output    string
	pods      bool
	positions bool
}

func (f *readFlags) add(c *cobra.Command, formats string) {
	c.Flags().StringVarP(&f.output, "output", "o", "text", formats)
}

func (f *readFlags) check(formats ...string) error {
	for _, x := range formats {
		if f.output == x {
			return nil
		}
	}
	return fmt.Errorf("-o %s is not known; choose one of %s", f.output, strings.Join(formats, ", "))
}

func (a *app) reportCommand() *cobra.Command {
	var f readFlags
	var filename string
	c := &cobra.Command{
		Use:   "report",
		Short: "Print everything that is known: quota, reasons, chains, alerts (JSON, YAML or text)",
		Long: "Prints one document about the whole cluster, or about a file of its objects (--world FILE, -f FILE).\n" +
			"Exit code 0: nothing needs a person; 1: something does (a critical or warning alert).",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check("text", "json", "yaml"); err != nil {
				return err
			}
			if filename != "" {
				a.from.world = filename
			}
			r, err := a.read(c.Context(), a.from, wants{pods: f.pods, nodes: true, positions: f.positions})
			if err != nil {
				return err
			}
			defer r.close()
			r.Checkpoint = a.checkpoint
			doc := report.Build(r.Input)
			if err := a.printDocument(doc, f.output, doc.Text); err != nil {
				return err
			}
			return needsPerson(doc.Alerts)
		},
	}
	f.add(c, "text, json or yaml")
	c.Flags().StringVarP(&filename, "filename", "f", "", "the same as --world")
	c.Flags().BoolVar(&f.pods, "pods", false, "read the pods, too: how each Workload's are, and who uses a flavor's nodes without one")
	c.Flags().BoolVar(&f.positions, "positions", false, "ask Kueue's Visibility API for the order of each queue; without, it is estimated")
	return c
}

// printDocument writes the document as JSON, YAML or, by its own method, text.
func (a *app) printDocument(doc any, output string, text func(io.Writer) error) error {
	switch output {
	case "json":
		return report.WriteJSON(a.out, doc)
	case "yaml":
		return report.WriteYAML(a.out, doc)
	}
	return text(a.out)
}

// needsPerson is errPerson when any alert is more than information.
func needsPerson(alerts []report.Alert) error {
	for _, x := range alerts {
		if x.Severity != string(health.Info) {
			return coded(exitPerson, errPerson)
		}
	}
	return nil
}

func (a *app) glanceCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "glance",
		Short: "One screen of text for the morning: what needs a person, and how the queues are",
		Long:  "Exit code 0: nothing needs a person; 1: something does.",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := a.read(c.Context(), a.from, wants{})
			if err != nil {
				return err
			}
			defer r.close()
			doc := report.Build(r.Input)
			if err := doc.Glance(a.out); err != nil {
				return err
			}
			return needsPerson(doc.Alerts)
		},
	}
}

func (a *app) explainCommand() *cobra.Command {
	var f readFlags
	c := &cobra.Command{
		Use:   "explain workload NAMESPACE/NAME | job NAMESPACE/NAME",
		Short: "Say why a Workload stands where it stands, and what would help",
		Args:  cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check("text", "json", "yaml"); err != nil {
				return err
			}
			ns, name, ok := strings.Cut(args[1], "/")
			if !ok || ns == "" || name == "" {
				return fmt.Errorf("%q does not name an object: write NAMESPACE/NAME", args[1])
			}
			r, err := a.read(c.Context(), a.from, wants{})
			if err != nil {
				return err
			}
			defer r.close()
			w, err := r.find(args[0], world.Key{Namespace: ns, Name: name})
			if err != nil {
				return err
			}
			if err := r.about(c.Context(), w); err != nil {
				return err
			}
			r.Checkpoint = a.checkpoint
			doc := report.Explain(r.Input, w)
			return a.printDocument(doc, f.output, doc.Text)
		},
	}
	f.add(c, "text, json or yaml")
	return c
}

// find returns the Workload of the name, or the newest one of the job.
func (r *reading) find(kind string, key world.Key) (*world.Workload, error) {
	switch strings.ToLower(kind) {
	case "workload", "workloads", "wl":
		if w := r.Snapshot.WorkloadByKey(key); w != nil {
			return w, nil
		}
		return nil, coded(exitUnreadable, fmt.Errorf("there is no Workload %s; for the name of a Job write: explain job %s", key, key))
	case "job", "jobs":
		var found *world.Workload
		for _, w := range r.Snapshot.Workloads {
			if w.Namespace == key.Namespace && w.Owner != nil && w.Owner.Name == key.Name && (found == nil || w.Created.After(found.Created)) {
				found = w
			}
		}
		if found != nil {
			return found, nil
		}
		return nil, coded(exitUnreadable, fmt.Errorf("no Workload belongs to a job %s: is it suspended by Kueue at all (label kueue.x-k8s.io/queue-name), and is the namespace right?", key))
	}
	return nil, fmt.Errorf("explain knows workload and job, not %q", kind)
}

// about reads the events and pods of the one Workload, and Kueue's order of its
// queue, where the source is a cluster.
func (r *reading) about(ctx context.Context, w *world.Workload) error {
	if r.session == nil {
		return nil
	}
	ask, done := context.WithTimeout(ctx, planPatience)
	defer done()
	reader := r.session.reader
	l, err := reader.Events(ask, w.Namespace, w.UID)
	if err != nil {
		r.Source.Notes = append(r.Source.Notes, "events unknown: "+err.Error())
	}
	r.Events = append(r.Events, l.Events...)
	pods, err := reader.PodsOf(ask, w)
	r.Pods, r.HasPods = pods, err == nil
	if err != nil {
		r.Source.Notes = append(r.Source.Notes, "pods unknown: "+err.Error())
	}
	if q, ok := r.Snapshot.QueueOf(w); ok && w.State == world.Pending {
		places, why := reader.Positions(ask, q, positionLimit)
		if why != "" {
			r.Source.Notes = append(r.Source.Notes, "Kueue's order of ClusterQueue "+q+" unknown: "+why)
			return nil
		}
		r.Positions = positionsOf(r.Snapshot, places)
	}
	return nil
}
