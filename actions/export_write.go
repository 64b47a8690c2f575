package actions

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/world"
)

// ExportKind is the kind of the document that an export writes.
const ExportKind = "WorkloadExport"

// exportHead is what stands in an export before its items.
type exportHead struct {
	APIVersion      string `json:"apiVersion"`
	Kind            string `json:"kind"`
	Context         string `json:"context"`
	Server          string `json:"server"`
	User            string `json:"user"`
	KueueVersion    string `json:"kueueVersion,omitempty"`
	KueueAPI        string `json:"kueueAPI"`
	Scope           string `json:"scope"`
	At              string `json:"at"`
	Redacted        bool   `json:"redacted"`
	ResourceVersion string `json:"resourceVersion"`
}

const pageSize = 500

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
	n, sum, err := d.export(ctx, c, p)
	if err != nil {
		out.Outcome, out.Detail = NotDone, withAdvice(problem("export", err))
	} else {
		out.Verified = true
		out.Detail = fmt.Sprintf("%d Workloads in %s, read back and equal, SHA-256 %s", n, p.Export.Path, sum)
	}
	r := Result{Action: Export, Objects: []ObjectResult{out}, JournalID: id}
	if err := d.opts.Journal.result(id, p, r, d.opts.Clock.Now()); err != nil {
		r.Objects[0].Detail += fmt.Sprintf(" (the journal could not be written: %v)", err)
	}
	return r, nil
}

// export streams the Workloads into a temporary file beside the final one, reads
// it back, and gives it its name with a link, which fails where a file exists.
// Whatever goes wrong, no half file is left under the final name.
func (d *Desk) export(ctx context.Context, c *client, p Plan) (n int, sum string, err error) {
	f, err := os.CreateTemp(filepath.Dir(p.Export.Path), ".holdfast-export-*") // 0600
	if err != nil {
		return 0, "", err
	}
	tmp := f.Name()
	defer func() { _ = os.Remove(tmp) }()
	h := sha256.New()
	n, err = d.writeExport(ctx, c, p, f, h)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, "", err
	}
	sum = hex.EncodeToString(h.Sum(nil))
	if err := readBack(tmp, n, sum); err != nil {
		return 0, "", err
	}
	if err := os.Link(tmp, p.Export.Path); err != nil {
		if errors.Is(err, os.ErrExist) {
			return 0, "", &Problem{What: p.Export.Path + " exists already and is not replaced", Do: "Export again: the name carries the time.", Err: err}
		}
		return 0, "", err
	}
	return n, sum, syncDir(filepath.Dir(p.Export.Path))
}

// writeExport writes the document page by page, so that memory is bounded by a
// page. All pages come from one list (its continue token), or it fails.
func (d *Desk) writeExport(ctx context.Context, c *client, p Plan, f io.Writer, h hash.Hash) (int, error) {
	w := bufio.NewWriterSize(io.MultiWriter(f, h), 1<<16)
	queueOf, err := d.localQueues(ctx, c, p.Export.Scope)
	if err != nil {
		return 0, err
	}
	r := c.dyn.Resource(workloads(c.version)).Namespace(p.Export.Scope.namespace())
	n, opts := 0, metav1.ListOptions{Limit: pageSize}
	for page := 0; ; page++ {
		list, err := r.List(ctx, opts)
		if apierrors.IsResourceExpired(err) {
			return 0, &Problem{What: "the list grew too old while it was read: it would not be one consistent state", Do: "Export again, or a smaller scope.", Err: err}
		}
		if err != nil {
			return 0, err
		}
		if page == 0 {
			if err := d.writeHead(w, p, list.GetResourceVersion()); err != nil {
				return 0, err
			}
		}
		for i := range list.Items {
			if !inScope(queueOf, p.Export.Scope, &list.Items[i]) {
				continue
			}
			if err := writeItem(w, &list.Items[i], n > 0, p.Export.IncludePodEnv); err != nil {
				return 0, err
			}
			n++
		}
		if list.GetContinue() == "" {
			break
		}
		opts.Continue = list.GetContinue()
	}
	if _, err := fmt.Fprintf(w, "\n],\n\"count\": %d}\n", n); err != nil {
		return 0, err
	}
	return n, w.Flush()
}

func (d *Desk) writeHead(w io.Writer, p Plan, resourceVersion string) error {
	c := d.opts.World().Contract
	head, err := json.MarshalIndent(exportHead{
		APIVersion: "holdfast.dev/v1alpha1", Kind: ExportKind, Context: p.Context, Server: p.Server, User: p.User,
		KueueVersion: c.KueueVersion, KueueAPI: c.Used, Scope: p.Export.Scope.String(),
		At: d.opts.Clock.Now().UTC().Format("2006-01-02T15:04:05Z"), Redacted: !p.Export.IncludePodEnv, ResourceVersion: resourceVersion,
	}, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s,\n\"items\": [", head[:len(head)-2])
	return err
}

func writeItem(w io.Writer, o *unstructured.Unstructured, comma, includeEnv bool) error {
	if !includeEnv {
		redact(o.Object)
	}
	raw, err := json.Marshal(o.Object)
	if err != nil {
		return err
	}
	sep := "\n"
	if comma {
		sep = ",\n"
	}
	_, err = fmt.Fprintf(w, "%s%s", sep, raw)
	return err
}

// localQueues returns to which ClusterQueue each LocalQueue points, read from the
// server: without it the pending Workloads of a ClusterQueue would be left out
// unnoticed. Scopes that do not need it get an empty answer.
func (d *Desk) localQueues(ctx context.Context, c *client, s Scope) (func(world.Key) string, error) {
	points := map[world.Key]string{}
	if s.ClusterQueue == "" {
		return func(world.Key) string { return "" }, nil
	}
	list, err := c.dyn.Resource(schema.GroupVersionResource{Group: kube.Group, Version: c.version, Resource: "localqueues"}).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, problem("read the LocalQueues, which say what waits for "+s.String(), err)
	}
	for i := range list.Items {
		o := &list.Items[i]
		cq, _, _ := unstructured.NestedString(o.Object, "spec", "clusterQueue")
		points[world.Key{Namespace: o.GetNamespace(), Name: o.GetName()}] = cq
	}
	return func(k world.Key) string { return points[k] }, nil
}

func inScope(queueOf func(world.Key) string, s Scope, o *unstructured.Unstructured) bool {
	lq, _, _ := unstructured.NestedString(o.Object, "spec", "queueName")
	cq, _, _ := unstructured.NestedString(o.Object, "status", "admission", "clusterQueue")
	return s.has(queueOf, o.GetNamespace(), lq, cq)
}

// readBack reads the file again and compares its sum and count.
func readBack(path string, n int, sum string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	got, err := countItems(io.TeeReader(bufio.NewReaderSize(f, 1<<16), h))
	if err != nil {
		return fmt.Errorf("the export was written but cannot be read back: %w", err)
	}
	if got != n || hex.EncodeToString(h.Sum(nil)) != sum {
		return fmt.Errorf("the export was read back with %d Workloads of %d, or other bytes: the disk or another program changed it", got, n)
	}
	return nil
}

// countItems decodes an export one item at a time and holds its own count
// against the one that it states.
func countItems(r io.Reader) (int, error) {
	dec := json.NewDecoder(r)
	n, stated := 0, -1
	if _, err := dec.Token(); err != nil {
		return 0, err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return 0, err
		}
		switch key {
		case "items":
			if _, err := dec.Token(); err != nil {
				return 0, err
			}
			for dec.More() {
				var item map[string]any
				if err := dec.Decode(&item); err != nil {
					return 0, err
				}
				n++
			}
			if _, err := dec.Token(); err != nil {
				return 0, err
			}
		case "count":
			if err := dec.Decode(&stated); err != nil {
				return 0, err
			}
		default:
			var skip any
			if err := dec.Decode(&skip); err != nil {
				return 0, err
			}
		}
	}
	if stated != n {
		return 0, fmt.Errorf("it states %d items and holds %d", stated, n)
	}
	_, err := io.Copy(io.Discard, io.MultiReader(dec.Buffered(), r))
	return n, err
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
