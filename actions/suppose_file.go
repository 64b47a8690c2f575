package actions

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/convert"
	"cli.holdfast.dev/holdfast/model/impact/pack"
	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// File supposes that the objects of a file are applied, as PlanFile applies one:
// what stands in the file is set, what it does not name stays as it is. The file
// may hold several documents and lists; objects that are not there yet are made.
// namespace is that of namespaced objects which name none.
func (x *Supposed) File(path, namespace string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return &Problem{What: clean(err), Do: "Name a file that can be read.", Err: err}
	}
	return x.text(raw, namespace)
}

func (x *Supposed) text(raw []byte, namespace string) error {
	n, seen := 0, map[world.Ref]bool{}
	for r := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(raw))); ; {
		doc, err := r.Read()
		if err != nil && !errors.Is(err, io.EOF) {
			return &Problem{What: "the text is not YAML: " + clean(err), Do: "Correct it.", Rejected: true, Err: err}
		}
		if documents(doc) > 0 {
			objects, err := objectsOf(doc)
			if err != nil {
				return err
			}
			for _, o := range objects {
				n++
				if err := x.object(o, namespace, seen); err != nil {
					return inDocument(n, err)
				}
			}
		}
		if err != nil {
			break
		}
	}
	if n == 0 {
		return &Problem{What: "the text holds no object", Do: "Write at least one.", Rejected: true}
	}
	return nil
}

// inDocument says which of several objects the problem is in.
func inDocument(n int, err error) error {
	var p *Problem
	if n == 1 || !errors.As(err, &p) {
		return err
	}
	out := *p
	out.What = fmt.Sprintf("object %d of the file: %s", n, p.What)
	return &out
}

// objectsOf reads one document: an object, or a list of them.
func objectsOf(doc []byte) ([]map[string]any, error) {
	o, err := parseOne(doc)
	if err != nil {
		return nil, err
	}
	u := unstructured.Unstructured{Object: o}
	if !u.IsList() {
		return []map[string]any{o}, nil
	}
	var out []map[string]any
	err = u.EachListItem(func(item runtime.Object) error {
		out = append(out, item.(*unstructured.Unstructured).Object)
		return nil
	})
	if err != nil {
		return nil, &Problem{What: "the list cannot be read: " + clean(err), Do: "Correct it.", Rejected: true, Err: err}
	}
	return out, nil
}

// object supposes one object of a file.
func (x *Supposed) object(o map[string]any, namespace string, seen map[world.Ref]bool) error {
	file := &unstructured.Unstructured{Object: o}
	ref := refOf(file)
	ref.UID = ""
	if blank(file.GetAPIVersion(), ref.Kind) == nil {
		return unknownKind(file)
	}
	if ref.Name == "" {
		return &Problem{What: fmt.Sprintf("a %s without metadata.name", ref.Kind), Do: "Write its name.", Rejected: true}
	}
	if ref.Kind != world.KindLocalQueue {
		file.SetNamespace("")
		ref.Namespace = ""
	} else if ref.Namespace == "" {
		ref.Namespace = namespace
		file.SetNamespace(namespace)
	}
	if seen[ref] {
		return &Problem{What: text.Clean(fmt.Sprintf("%s stands in the file twice", ref)), Do: "Keep one of the two.", Rejected: true}
	}
	seen[ref] = true
	now, err := x.now(ref.Kind, ref.Key)
	if err != nil {
		return err
	}
	want := wish(o)
	base := map[string]any{"apiVersion": file.GetAPIVersion(), "kind": file.GetKind()}
	if now != nil {
		live, err := asVersion(now, file.GetAPIVersion())
		if err != nil {
			return err
		}
		if err := stale(file, live); err != nil {
			return err
		}
		base = live.Object
		delete(base, "status")
	}
	// What the person wrote is held against the fields that there are, not what was
	// there before.
	if err := known(want); err != nil {
		return err
	}
	if _, isMap := want["spec"].(map[string]any); want["spec"] != nil && !isMap {
		return &Problem{What: fmt.Sprintf("the spec of %s is not a map of names and values", ref), Do: "Correct it.", Rejected: true}
	}
	will, err := hubOf(&unstructured.Unstructured{Object: mergeApply(base, want)})
	if err != nil {
		return &Problem{What: fmt.Sprintf("%s cannot be read: %s", ref, clean(err)), Do: "Correct it.", Rejected: true, Err: err}
	}
	if o, ok := will.(ctrlclient.Object); ok {
		(&pack.World{}).Adjust(o) // Kueue's checks would reckon with a quantity of any size
	}
	if err := acceptable(ref, now, will); err != nil {
		return err
	}
	if now != nil && stopOf(now) != stopOf(will) {
		x.note("%s: the file's stopPolicy is taken as it stands; holdfast apply sets it aside, hold and resume change it.", ref)
	}
	x.put(ref.Kind, ref.Key, will)
	return nil
}

// stopOf is the policy of a queue, None for everything else.
func stopOf(o runtime.Object) world.StopPolicy {
	var p *kueue.StopPolicy
	switch o := o.(type) {
	case *kueue.ClusterQueue:
		p = o.Spec.StopPolicy
	case *kueue.LocalQueue:
		p = o.Spec.StopPolicy
	}
	if p == nil {
		return world.StopNone
	}
	return world.StopPolicy(*p)
}

// asVersion returns the object in the version that a file speaks.
func asVersion(o runtime.Object, apiVersion string) (*unstructured.Unstructured, error) {
	if apiVersion != kueue.SchemeGroupVersion.String() {
		old, err := convert.FromHub(o)
		if err != nil {
			return nil, err
		}
		o = old
	}
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{Object: m}
	out.SetAPIVersion(apiVersion)
	return out, nil
}

// unknownKind says what a file may hold.
func unknownKind(o *unstructured.Unstructured) error {
	do := "Give it ClusterQueues, LocalQueues, Cohorts, ResourceFlavors, AdmissionChecks or WorkloadPriorityClasses of " + kube.Group + "/v1beta2 or v1beta1."
	return &Problem{What: text.Clean(fmt.Sprintf("what a change of %s %q does is not computed", strings.TrimSpace(o.GetAPIVersion()+" "+o.GetKind()), o.GetName())), Do: do, Rejected: true}
}

// known refuses fields that the version of the text does not have, as the API
// server does when it is strict.
func known(want map[string]any) error {
	u := unstructured.Unstructured{Object: want}
	into := blank(u.GetAPIVersion(), world.Kind(u.GetKind()))
	err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(want, into, true)
	if err == nil {
		return nil
	}
	ref := refOf(&u)
	what := fmt.Sprintf("%s: %s", world.Ref{Kind: ref.Kind, Key: ref.Key}, clean(err))
	do := "Correct it."
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		for _, e := range strict.Errors() {
			if hint := renamed(u.GroupVersionKind().Version, e.Error()); hint != "" {
				do = hint
				break
			}
		}
	}
	return &Problem{What: text.Clean(what), Do: do, Rejected: true, Err: err}
}

// fieldNames are the fields that the versions call by other names (Kueue's conversion
// of ClusterQueue and Cohort).
func fieldNames() []struct{ field, is, in string } {
	return []struct{ field, is, in string }{
		{"spec.cohort", "spec.cohortName", "v1beta2"}, {"spec.cohortName", "spec.cohort", "v1beta1"},
		{"spec.parent", "spec.parentName", "v1beta2"}, {"spec.parent", "spec.parentName", "v1beta1"},
		{"spec.admissionChecks", "spec.admissionChecksStrategy.admissionChecks, a list with a name each", "v1beta2"},
	}
}

// renamed says what the version calls a field that the problem says is not known.
func renamed(version, problem string) string {
	for _, n := range fieldNames() {
		unknown := strings.Contains(problem, fmt.Sprintf("unknown field %q", n.field)) || strings.Contains(problem, "."+n.field+": field not declared")
		if n.in == version && unknown {
			return fmt.Sprintf("In %s it is called %s.", n.in, n.is)
		}
	}
	return ""
}

// renames are the fields that the version calls by another name.
func renames(version string) []string {
	var out []string
	for _, n := range fieldNames() {
		if n.in == version {
			out = append(out, fmt.Sprintf("%s is called %s", n.field, n.is))
		}
	}
	return out
}
