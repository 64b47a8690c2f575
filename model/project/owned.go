package project

import (
	"encoding/json"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// Marks that deployment tools leave on what they own.
const (
	argoTracking  = "argocd.argoproj.io/tracking-id" // APPLICATION:GROUP/KIND:NAMESPACE/NAME
	argoInstance  = "argocd.argoproj.io/instance"
	fluxKustomize = "kustomize.toolkit.fluxcd.io/"
	fluxHelm      = "helm.toolkit.fluxcd.io/"
	helmRelease   = "meta.helm.sh/release-"
	managedLabel  = "app.kubernetes.io/managed-by"
	instanceLabel = "app.kubernetes.io/instance"
)

// Owned names the deployment tool that owns an object and may undo a change of it
// (Argo CD, Flux, Flux (Helm), Helm), and as what the tool knows it: the application,
// Kustomization or release. Both are empty where there is no sign of one, the second
// where the sign does not say.
func Owned(m metav1.Object) (tool, as string) {
	labels, notes := m.GetLabels(), m.GetAnnotations()
	named := func(what string, from map[string]string, prefix string) string {
		if from[prefix+"name"] == "" {
			return ""
		}
		key := world.Key{Namespace: from[prefix+"namespace"], Name: from[prefix+"name"]}
		return text.Clean(what + " " + key.String())
	}
	switch {
	case notes[argoTracking] != "":
		app, _, _ := strings.Cut(notes[argoTracking], ":")
		return "Argo CD", text.Clean("application " + app + ", tracking id " + notes[argoTracking])
	case labels[argoInstance] != "":
		return "Argo CD", text.Clean("application " + labels[argoInstance])
	case labels[fluxKustomize+"name"] != "":
		return "Flux", named("Kustomization", labels, fluxKustomize)
	case labels[fluxHelm+"name"] != "":
		return "Flux (Helm)", named("HelmRelease", labels, fluxHelm)
	case labels[managedLabel] == "Helm", notes[helmRelease+"name"] != "":
		return "Helm", named("release", notes, helmRelease)
	}
	for _, f := range m.GetManagedFields() {
		switch {
		case strings.HasPrefix(f.Manager, "argocd"):
			if app := labels[instanceLabel]; app != "" {
				return "Argo CD", text.Clean("perhaps application " + app)
			}
			return "Argo CD", ""
		case f.Manager == "kustomize-controller":
			return "Flux", ""
		case f.Manager == "helm-controller":
			return "Flux (Helm)", ""
		case f.Manager == "helm":
			return "Helm", ""
		}
	}
	return "", ""
}

// Setter is the field manager that owns a field, the last one to have set it where
// there are several, and when it last changed what it owns. path are the names on the
// way ("spec", "stopPolicy"). It is empty where managedFields does not tell: nobody is
// recorded for a field that was taken away.
func Setter(m metav1.Object, path ...string) (manager string, at time.Time) {
	for _, f := range m.GetManagedFields() {
		if f.FieldsV1 == nil || f.Subresource != "" || !owns(f.FieldsV1.GetRawString(), path) {
			continue
		}
		var t time.Time
		if f.Time != nil {
			t = f.Time.Time
		}
		if manager == "" || t.After(at) {
			manager, at = text.Clean(f.Manager), t
		}
	}
	return manager, at
}

// owns reports whether a set of fields (FieldsV1) has the path.
func owns(fields string, path []string) bool {
	raw := json.RawMessage(fields)
	for _, p := range path {
		var in map[string]json.RawMessage
		if json.Unmarshal(raw, &in) != nil {
			return false
		}
		next, ok := in["f:"+p]
		if !ok {
			return false
		}
		raw = next
	}
	return true
}

// hold reads the record of a hold. Where the queue flows although the record stands,
// it says who lifted the hold.
func hold(m *metav1.ObjectMeta, p world.StopPolicy) *world.HoldRecord {
	raw, ok := m.Annotations[world.HoldAnnotation]
	if !ok {
		return nil
	}
	r := ParseHold(raw)
	if !p.Stopped() {
		r.UndoneBy, r.UndoneAt = Setter(m, "spec", "stopPolicy")
	}
	return r
}
