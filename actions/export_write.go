package actions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"cli.holdfast.dev/holdfast/model/bundle"
	"cli.holdfast.dev/holdfast/model/report"
	"cli.holdfast.dev/holdfast/model/world"
)

// ExportKind is the kind under which an export stands in results and in the
// journal.
const ExportKind world.Kind = "Export"

func (d *Desk) executeExport(ctx context.Context, p Plan) (Result, error) {
	c, err := d.client()
	if err != nil {
		return Result{}, err
	}
	id, err := d.opts.Journal.intent(p, d.opts.Clock.Now())
	if err != nil {
		return Result{}, err
	}
	out := ObjectResult{Ref: world.Ref{Kind: ExportKind, Key: world.Key{Name: filepath.Base(p.Export.Path)}}, Outcome: Done}
	m, sum, err := d.export(ctx, c, p)
	d.told("")
	if ctx.Err() != nil && err != nil {
		err = &Problem{What: "interrupted: nothing was written", Do: "Export again.", Err: err}
	}
	if err != nil {
		out.Outcome, out.Detail = NotDone, withAdvice(problem("export", err))
	} else {
		out.Verified, out.SHA256 = true, sum
		out.Detail = fmt.Sprintf("%d Workloads and what explains them in %d files of %s, read back and verified", m.Workloads, len(m.Files), p.Export.Path)
		if len(m.Unread) > 0 {
			out.Detail += fmt.Sprintf("; %d lists could not be read, see its manifest", len(m.Unread))
		}
		for _, l := range m.Lists {
			if l.Cut != "" {
				out.Detail += fmt.Sprintf("; not all %s: %s", l.Resource, l.Cut)
			}
		}
	}
	r := Result{Action: Export, Objects: []ObjectResult{out}, JournalID: id}
	if err := d.opts.Journal.result(id, p, r, d.opts.Clock.Now()); err != nil {
		r.Objects[0].Detail += fmt.Sprintf(" (the journal could not be written: %v)", err)
	}
	return r, nil
}

// export writes the bundle into a file without a name where the system has such,
// reads it back, and gives it its name with a link, which fails where a file exists.
// Whatever goes wrong, no half file is left under the final name. It returns the
// manifest, and the file's SHA-256 as it was read back.
func (d *Desk) export(ctx context.Context, c *client, p Plan) (m bundle.Manifest, sum string, err error) {
	dir := filepath.Dir(p.Export.Path)
	f, err := newUnpublished(dir)
	if err != nil {
		return m, "", onDisk(err)
	}
	defer func() { err = errors.Join(err, f.discard()) }()
	if m, err = d.writeBundle(ctx, c, p, f); err != nil {
		return m, "", onDisk(err)
	}
	if err := f.Sync(); err != nil {
		return m, "", onDisk(err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return m, "", err
	}
	if sum, err = readBack(f, m); err != nil {
		return m, "", err
	}
	if err := ctx.Err(); err != nil {
		return m, "", err
	}
	if err := f.publish(p.Export.Path); err != nil {
		if errors.Is(err, os.ErrExist) {
			return m, "", &Problem{What: p.Export.Path + " exists already and is not replaced", Do: "Export again: the name carries the time.", Err: err}
		}
		return m, "", &Problem{
			What: fmt.Sprintf("the export is whole but cannot get its name: %s", clean(err)), Err: err,
			Do: "Nothing was written. Name a folder on another file system with --export-dir.",
		}
	}
	return m, sum, syncDir(dir)
}

// writeBundle writes list after list, page by page, so that memory is bounded by a
// page, and by the events that are kept.
func (d *Desk) writeBundle(ctx context.Context, c *client, p Plan, f io.Writer) (bundle.Manifest, error) {
	e := &exporter{d: d, c: c, plan: p, w: bundle.NewWriter(f, d.opts.Clock.Now())}
	contract := d.opts.World().Contract
	e.m = bundle.Manifest{
		Context: p.Context, Server: p.Server, User: p.User, ClusterUID: d.clusterUID(ctx, c), KueueVersion: contract.KueueVersion, KueueAPI: c.version,
		Scope: p.Export.Scope, ScopeText: p.Export.Scope.String(), Begun: d.opts.Clock.Now().UTC(), Redacted: !p.Export.IncludePodEnv,
		Consistency: "Each list is one state of the cluster, at its resourceVersion; they were read one after the other.",
		MadeBy:      FieldManager + " " + d.opts.Version,
	}
	for _, l := range exported(c.version, p.Export.Scope) {
		if err := e.list(ctx, l); err != nil {
			return e.m, err
		}
	}
	if err := e.report(filepath.Dir(p.Export.Path)); err != nil {
		return e.m, err
	}
	e.m.Ended = d.opts.Clock.Now().UTC()
	return e.w.Close(e.m)
}

// report writes what the console knows, by way of a file, since it can be large.
func (e *exporter) report(dir string) (err error) {
	f, err := newUnpublished(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.discard()) }()
	s := e.d.opts.World()
	doc := report.Build(report.Input{
		Snapshot: s, Now: e.d.opts.Clock.Now(), Source: report.Source{Type: "cluster", Name: s.Contract.Context, ReadAt: s.At},
	})
	if err := report.WriteJSON(f, doc); err != nil {
		return err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return e.w.File(bundle.ReportName, size, f)
}

// readBack verifies what is on the disk against the manifest that was written, and
// returns the SHA-256 of all of it.
func readBack(r io.Reader, want bundle.Manifest) (string, error) {
	got, sum, err := bundle.VerifySum(r)
	if err == nil && !slices.Equal(got.Files, want.Files) {
		err = errors.New("it is another one")
	}
	if err != nil {
		return "", &Problem{What: fmt.Sprintf("the export was written but cannot be read back: %s", clean(err)), Do: "Nothing is left of it. Look at the disk, or name another folder with --export-dir.", Err: err}
	}
	return sum, nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
