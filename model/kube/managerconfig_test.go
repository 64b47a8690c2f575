package kube

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"cli.holdfast.dev/holdfast/model/manager"
)

// deployment is one as Kueue's manifests make it, with another container and pod.
func deployment(container, volumes string) string {
	return `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"kueue-controller-manager"},"spec":{"template":{"spec":{
		"containers":[{"name":"proxy","args":["--config=/no"]},{"name":"manager",` + container + `}],"volumes":[` + volumes + `]}}}}`
}

const (
	mounted = `"command":["/manager"],"args":["--config=/controller_manager_config.yaml","--zap-log-level=2"],
		"volumeMounts":[{"name":"cert","mountPath":"/tmp"},{"name":"manager-config","mountPath":"/controller_manager_config.yaml","subPath":"controller_manager_config.yaml"}]`
	volume = `{"name":"cert","secret":{"secretName":"s"}},{"name":"manager-config","configMap":{"name":"renamed-config"}}`
	config = "apiVersion: config.kueue.x-k8s.io/v1beta2\n"
)

func TestManagerConfig(t *testing.T) {
	const (
		one    = "/apis/apps/v1/namespaces/ks/deployments/kueue-controller-manager"
		all    = "/apis/apps/v1/namespaces/ks/deployments"
		maps   = "/api/v1/namespaces/ks/configmaps/"
		lease  = "/apis/coordination.k8s.io/v1/namespaces/ks/leases/c1f6bfd2.kueue.x-k8s.io"
		source = "ConfigMap ks/renamed-config"
		usual  = "ConfigMap ks/kueue-manager-config"
	)
	written, led := time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC), time.Date(2026, 12, 2, 11, 0, 0, 0, time.UTC)
	cm := func(data string) http.HandlerFunc {
		return says(200, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"managedFields":[{"time":"2026-12-01T12:00:00Z"},{"time":"2026-12-02T12:00:00Z","fieldsV1":{"f:data":{"f:x":{}}}},
			{"time":"2026-12-09T12:00:00Z","fieldsV1":{"f:metadata":{"f:annotations":{}}}},{}]},`+data+`}`)
	}
	text, _ := json.Marshal(config) // of a string it cannot fail
	whole := cm(`"data":{"controller_manager_config.yaml":` + string(text) + `}`)
	leads := says(200, `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"c1f6bfd2.kueue.x-k8s.io"},"spec":{"holderIdentity":"m","acquireTime":"2026-12-02T11:00:00.000000Z","renewTime":"2026-12-02T12:00:05.000000Z"}}`)
	missing, forbidden := failure(404, "NotFound", "gone"), failure(403, "Forbidden", "no\x1b")
	const noGates = "the manager's command line is not known: it may set feature gates"
	tests := map[string]struct {
		routes map[string]http.HandlerFunc
		want   manager.Found
	}{
		"as the command line leads": {map[string]http.HandlerFunc{one: says(200, deployment(mounted, volume)), maps + "renamed-config": whole, lease: leads},
			manager.Found{Raw: []byte(config), Source: source, Changed: written, Led: led}},
		"a chart's name": {map[string]http.HandlerFunc{one: missing, all: func(w http.ResponseWriter, r *http.Request) {
			if got := r.URL.Query().Get("labelSelector"); got != component {
				t.Errorf("asked for %q", got)
			}
			says(200, `{"kind":"DeploymentList","apiVersion":"apps/v1","items":[`+deployment(mounted, volume)+`]}`)(w, r)
		}, maps + "renamed-config": whole}, manager.Found{Raw: []byte(config), Source: source, Changed: written}},
		"two of the component": {map[string]http.HandlerFunc{one: missing, all: says(200, `{"items":[`+deployment(mounted, volume)+`,`+deployment(mounted, volume)+`]}`), maps + "kueue-manager-config": whole},
			manager.Found{Raw: []byte(config), Source: usual, Changed: written, Unknown: []string{noGates},
				Assumed: []string{"Deployment ks/kueue-controller-manager does not exist: the manager is taken to run with " + usual}}},
		"only the ConfigMap may be read": {map[string]http.HandlerFunc{one: forbidden, maps + "kueue-manager-config": whole, lease: leads},
			manager.Found{Raw: []byte(config), Source: usual, Changed: written, Led: led, Unknown: []string{noGates},
				Assumed: []string{"Deployment ks/kueue-controller-manager may not be read: the manager is taken to run with " + usual}}},
		"only the Deployment may be read": {map[string]http.HandlerFunc{one: says(200, deployment(mounted, volume)), maps + "renamed-config": forbidden},
			manager.Found{Source: source, Problem: source + " may not be read"}},
		"nothing may be read": {map[string]http.HandlerFunc{one: forbidden, maps + "kueue-manager-config": forbidden},
			manager.Found{Source: usual, Problem: "Deployment ks/kueue-controller-manager may not be read, and " + usual + " may not be read"}},
		"nothing is there": {map[string]http.HandlerFunc{}, manager.Found{Source: usual, Problem: "Deployment ks/kueue-controller-manager does not exist, and " + usual + " does not exist"}},
		"trouble": {map[string]http.HandlerFunc{one: failure(500, "InternalError", "etcd\x1b"), maps + "kueue-manager-config": forbidden},
			manager.Found{Source: usual, Problem: `Deployment ks/kueue-controller-manager could not be read: etcd\x1b, and ` + usual + " may not be read"}},
		"no configuration": {map[string]http.HandlerFunc{one: says(200, deployment(`"args":["--feature-gates=A=true"]`, ""))}, manager.Found{Gates: "A=true"}},
		"gates": {map[string]http.HandlerFunc{one: says(200, deployment(strings.Replace(mounted, `"--zap`, `"-feature-gates","A=true,B=false","--zap`, 1), volume)), maps + "renamed-config": whole},
			manager.Found{Raw: []byte(config), Source: source, Gates: "A=true,B=false", Changed: written}},
		"a Secret": {map[string]http.HandlerFunc{one: says(200, deployment(`"args":["--config=/tmp/c.yaml"],"volumeMounts":[{"name":"cert","mountPath":"/tmp"}]`, volume))},
			manager.Found{Problem: "the manager reads its configuration from /tmp/c.yaml: the volume cert is no ConfigMap"}},
		"another key":     {map[string]http.HandlerFunc{one: says(200, deployment(mounted, volume)), maps + "renamed-config": cm(`"data":{"x":"y"}`)}, manager.Found{Source: source, Problem: source + " has no key controller_manager_config.yaml"}},
		"an empty key":    {map[string]http.HandlerFunc{one: says(200, deployment(mounted, volume)), maps + "renamed-config": cm(`"data":{"controller_manager_config.yaml":""}`)}, manager.Found{Source: source, Raw: []byte{}, Changed: written}},
		"binary data":     {map[string]http.HandlerFunc{one: says(200, deployment(mounted, volume)), maps + "renamed-config": cm(`"binaryData":{"controller_manager_config.yaml":"aGk="}`)}, manager.Found{Source: source, Raw: []byte("hi"), Changed: written}},
		"which container": {map[string]http.HandlerFunc{one: says(200, strings.Replace(deployment(mounted, volume), `"manager"`, `"other"`, 1))}, manager.Found{Problem: "Deployment ks/kueue-controller-manager does not tell which of its containers is the manager"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := serving(t, tc.routes).ManagerConfig(t.Context(), "ks", "kueue-controller-manager")
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("found (-want +got):\n%s", d)
			}
		})
	}
}

func TestPlaceOf(t *testing.T) {
	source := func(name string, items ...corev1.KeyToPath) corev1.VolumeProjection {
		p := corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{Items: items}}
		p.ConfigMap.Name = name
		return p
	}
	volume := func(name string, items ...corev1.KeyToPath) corev1.Volume {
		v := corev1.Volume{Name: "v"}
		v.ConfigMap = &corev1.ConfigMapVolumeSource{Items: items}
		v.ConfigMap.Name = name
		return v
	}
	projected := func(sources ...corev1.VolumeProjection) corev1.Volume {
		v := corev1.Volume{Name: "v"}
		v.Projected = &corev1.ProjectedVolumeSource{Sources: sources}
		return v
	}
	mount := func(path, sub string) corev1.VolumeMount {
		return corev1.VolumeMount{Name: "v", MountPath: path, SubPath: sub}
	}
	item := corev1.KeyToPath{Key: "k", Path: "d/c.yaml"}
	tests := map[string]struct {
		file   string
		mounts []corev1.VolumeMount
		volume corev1.Volume
		want   place
		why    string
	}{
		"a folder":                    {"/etc/kueue/c.yaml", []corev1.VolumeMount{mount("/etc/kueue/", "")}, volume("m"), place{"m", "c.yaml"}, ""},
		"a file":                      {"/c.yaml", []corev1.VolumeMount{mount("/c.yaml", "k")}, volume("m"), place{"m", "k"}, ""},
		"a key under another path":    {"/etc/d/c.yaml", []corev1.VolumeMount{mount("/etc", "")}, volume("m", item), place{"m", "k"}, ""},
		"a folder of the volume":      {"/etc/c.yaml", []corev1.VolumeMount{mount("/etc", "d")}, volume("m", item), place{"m", "k"}, ""},
		"not of the volume":           {"/etc/x.yaml", []corev1.VolumeMount{mount("/etc", "")}, volume("m", item), place{}, "the volume v does not hold it"},
		"the nearest mount":           {"/etc/kueue/c.yaml", []corev1.VolumeMount{mount("/etc/kueue", ""), {Name: "w", MountPath: "/etc"}}, volume("m"), place{"m", "c.yaml"}, ""},
		"a name that only begins so":  {"/etc/kueue.yaml", []corev1.VolumeMount{mount("/etc/kueue", "")}, volume("m"), place{}, "no volume is mounted there"},
		"projected":                   {"/etc/c.yaml", []corev1.VolumeMount{mount("/etc", "")}, projected(corev1.VolumeProjection{}, source("a"), source("b", item)), place{"a", "c.yaml"}, ""},
		"projected twice, last first": {"/etc/c.yaml", []corev1.VolumeMount{mount("/etc", "")}, projected(source("a"), source("b")), place{"b", "c.yaml"}, ""},
		"the volume itself":           {"/etc", []corev1.VolumeMount{mount("/etc", "")}, volume("m"), place{}, "the volume v does not hold it"},
		"no such volume":              {"/etc/c.yaml", []corev1.VolumeMount{{Name: "w", MountPath: "/etc"}}, volume("m"), place{}, "there is no volume w"},
		"another kind of volume":      {"/etc/c.yaml", []corev1.VolumeMount{mount("/etc", "")}, corev1.Volume{Name: "v"}, place{}, "the volume v is no ConfigMap"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, why := placeOf(&corev1.PodSpec{Volumes: []corev1.Volume{tc.volume}}, &corev1.Container{VolumeMounts: tc.mounts}, tc.file)
			if got != tc.want || why != tc.why {
				t.Errorf("%+v, %q; want %+v, %q", got, why, tc.want, tc.why)
			}
		})
	}
}

func TestFlagOf(t *testing.T) {
	for line, want := range map[string]string{
		"/manager --config=a": "a", "/manager -config=a": "a", "/manager --config a": "a", "/manager -config a --other=b": "a",
		"/manager --config=a --config=b": "b", "/manager": "", "/manager --config": "", "/manager config=a": "", "/manager --configs=a": "", "/manager --config=a=b": "a=b",
	} {
		got, ok := flagOf(strings.Fields(line), "config")
		if got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v; want %q", line, got, ok, want)
		}
	}
}
