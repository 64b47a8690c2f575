package proof

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/manager"
)

// record is one trial, as it is written down and read back.
type record struct {
	ID, Kind string
	Seed     uint64 // of the whole proof; ID is the trial's number
	Fair     bool
	At       time.Time // when the world was read
	Settings manager.Settings
	Before   map[string]string
	Truth    facts
	Forecast forecast
	Verdict  verdict
	// Latencies are how long the evictions took.
	Latencies []time.Duration
	// Story is what happened to the Workloads since the edit, in seconds and in order.
	Story []string
	// Unsettled is set where the world did not come to rest after the edit; Truth is
	// then only what was there in the end.
	Unsettled bool

	objects []client.Object
	changes []change
}

// wrong reports whether something that was called certain is not so.
func (r *record) wrong() bool { return !r.Verdict.right() || r.Unsettled && r.Verdict.Sure }

// differs reports whether the trial is one to look at.
func (r *record) differs() bool { return r.wrong() || r.Unsettled || !r.Verdict.Equal }

// kindName is the API's name of the object's kind.
func kindName(o client.Object) string { return gvk(o).Kind }

func gvk(o client.Object) schema.GroupVersionKind {
	switch o.(type) {
	case *kueue.ClusterQueue:
		return kueue.SchemeGroupVersion.WithKind("ClusterQueue")
	case *kueue.LocalQueue:
		return kueue.SchemeGroupVersion.WithKind("LocalQueue")
	case *kueue.Cohort:
		return kueue.SchemeGroupVersion.WithKind("Cohort")
	case *kueue.Workload:
		return kueue.SchemeGroupVersion.WithKind("Workload")
	case *kueue.ResourceFlavor:
		return kueue.SchemeGroupVersion.WithKind("ResourceFlavor")
	case *kueue.WorkloadPriorityClass:
		return kueue.SchemeGroupVersion.WithKind("WorkloadPriorityClass")
	case *batchv1.Job:
		return batchv1.SchemeGroupVersion.WithKind("Job")
	case *corev1.Namespace:
		return corev1.SchemeGroupVersion.WithKind("Namespace")
	}
	panic(fmt.Sprintf("a %T in a world", o))
}

func empty(kind string) client.Object {
	for _, o := range []client.Object{
		&kueue.ClusterQueue{}, &kueue.LocalQueue{}, &kueue.Cohort{}, &kueue.Workload{}, &kueue.ResourceFlavor{},
		&kueue.WorkloadPriorityClass{}, &batchv1.Job{}, &corev1.Namespace{},
	} {
		if kindName(o) == kind {
			return o
		}
	}
	return nil
}

// The files of a trial's folder. world.json is a v1 List, as the commands of the
// console read it.
const (
	worldFile = "world.json"
	editFile  = "edit.json"
	trialFile = "trial.json"
)

type list struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Items      []json.RawMessage `json:"items"`
}

type writtenChange struct {
	Kind    string
	Was, Is json.RawMessage `json:",omitempty"`
}

// write writes the trial into a folder of its own in dir and returns the folder.
func (r *record) write(dir string) (string, error) {
	folder := filepath.Join(dir, r.ID)
	if r.Fair {
		folder += "-fair"
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	l := list{APIVersion: "v1", Kind: "List"}
	for _, o := range r.objects {
		raw, err := encode(o)
		if err != nil {
			return "", err
		}
		l.Items = append(l.Items, raw)
	}
	var edits []writtenChange
	for _, c := range r.changes {
		w := writtenChange{Kind: kindName(c.is)}
		var err, err2 error
		w.Is, err = encode(c.is)
		if c.was != nil {
			w.Was, err2 = encode(c.was)
		}
		if err := errors.Join(err, err2); err != nil {
			return "", err
		}
		edits = append(edits, w)
	}
	return folder, errors.Join(put(folder, worldFile, l), put(folder, editFile, edits), put(folder, trialFile, r))
}

func encode(o client.Object) (json.RawMessage, error) {
	c, ok := o.DeepCopyObject().(client.Object)
	if !ok {
		return nil, fmt.Errorf("a copy of a %T is none", o)
	}
	c.SetManagedFields(nil)
	c.GetObjectKind().SetGroupVersionKind(gvk(o))
	return json.Marshal(c)
}

func put(folder, name string, v any) error {
	raw, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, name), raw, 0o600)
}

// readRecord reads what write wrote.
func readRecord(folder string) (*record, error) {
	r := &record{}
	var l list
	var edits []writtenChange
	if err := errors.Join(get(folder, trialFile, r), get(folder, worldFile, &l), get(folder, editFile, &edits)); err != nil {
		return nil, err
	}
	for _, raw := range l.Items {
		o, err := decode(raw)
		if err != nil {
			return nil, err
		}
		r.objects = append(r.objects, o)
	}
	for _, e := range edits {
		var c change
		var err, err2 error
		c.is, err = decode(e.Is)
		if e.Was != nil {
			c.was, err2 = decode(e.Was)
		}
		if err := errors.Join(err, err2); err != nil {
			return nil, err
		}
		r.changes = append(r.changes, c)
	}
	return r, nil
}

func decode(raw json.RawMessage) (client.Object, error) {
	var head struct{ Kind string }
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, err
	}
	o := empty(head.Kind)
	if o == nil {
		return nil, fmt.Errorf("a %q in a recorded world", head.Kind)
	}
	return o, json.Unmarshal(raw, o)
}

func get(folder, name string, v any) error {
	raw, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, v)
}

// objectsOf are the objects of one type.
func objectsOf[T client.Object](all []client.Object) []T {
	var out []T
	for _, o := range all {
		if x, ok := o.(T); ok {
			out = append(out, x)
		}
	}
	return out
}
