// Package manifests reads Kubernetes objects from YAML and fits Kueue's own manifests to a control plane without
// containers.
package manifests

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	kyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// Names of Kueue's own objects that a sandbox needs to know.
const (
	KueueNamespace  = "kueue-system"
	KueueDeployment = "kueue-controller-manager"
	kueueConfigMap  = "kueue-manager-config"
	kueueConfigKey  = "controller_manager_config.yaml"
	image           = "registry.k8s.io/kueue/kueue"
)

// Decode reads every object of a YAML or JSON stream; empty documents are skipped.
func Decode(r io.Reader) ([]*unstructured.Unstructured, error) {
	d := kyaml.NewYAMLOrJSONDecoder(r, 1<<16)
	var out []*unstructured.Unstructured
	for {
		var raw runtime.RawExtension
		if err := d.Decode(&raw); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("object %d: %w", len(out)+1, err)
		}
		if len(raw.Raw) == 0 || string(raw.Raw) == "null" {
			continue
		}
		m := map[string]any{}
		if err := json.Unmarshal(raw.Raw, &m); err != nil { // unlike encoding/json it keeps integers as int64
			return nil, fmt.Errorf("object %d: %w", len(out)+1, err)
		}
		if len(m) > 0 {
			out = append(out, &unstructured.Unstructured{Object: m})
		}
	}
}

// SetImage gives the first container of every Deployment Kueue's released image of the version (such as v0.19.2),
// in place: the manifests of a module name a moving tag.
func SetImage(objs []*unstructured.Unstructured, version string) error {
	for _, o := range objs {
		if o.GetKind() != "Deployment" {
			continue
		}
		containers, _, err := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
		if err != nil {
			return fmt.Errorf("deployment %s: %w", o.GetName(), err)
		}
		if len(containers) == 0 {
			return fmt.Errorf("deployment %s has no containers", o.GetName())
		}
		first, ok := containers[0].(map[string]any)
		if !ok {
			return fmt.Errorf("deployment %s: container is a %T", o.GetName(), containers[0])
		}
		first["image"] = image + ":" + version
		if err := unstructured.SetNestedSlice(o.Object, containers, "spec", "template", "spec", "containers"); err != nil {
			return err
		}
	}
	return nil
}

// Local is where Kueue listens on 127.0.0.1, the certificates it does so with, and the configuration it runs with.
type Local struct {
	WebhookPort, VisibilityPort int
	Config                      string
	CACert, CAKey, Cert, Key    []byte // PEM
}

// Adapt fits Kueue's manifests, in place, to a manager that runs as a process on 127.0.0.1. Services become
// ExternalName 127.0.0.1, which kube-apiserver resolves to https://127.0.0.1:<service port of the client config>; so
// the webhooks, the conversion webhooks and the APIServices keep naming the Service (TLS still checks its name) and
// only their ports change. The Secret gets the certificates the manager would make, and the manager's ConfigMap says
// what it runs with. Everything else stays as Kueue ships it.
func Adapt(objs []*unstructured.Unstructured, l Local) error {
	for _, o := range objs {
		if err := adaptOne(o, l); err != nil {
			return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

func adaptOne(o *unstructured.Unstructured, l Local) error {
	b64 := base64.StdEncoding.EncodeToString
	switch o.GetKind() {
	case "Service":
		o.Object["spec"] = map[string]any{"type": "ExternalName", "externalName": "127.0.0.1"}
	case "Secret":
		o.Object["data"] = map[string]any{"ca.crt": b64(l.CACert), "ca.key": b64(l.CAKey), "tls.crt": b64(l.Cert), "tls.key": b64(l.Key)}
	case "ConfigMap":
		if o.GetName() == kueueConfigMap {
			o.Object["data"] = map[string]any{kueueConfigKey: l.Config}
		}
	case "APIService":
		return unstructured.SetNestedField(o.Object, int64(l.VisibilityPort), "spec", "service", "port")
	case "CustomResourceDefinition":
		if _, ok, err := unstructured.NestedMap(o.Object, "spec", "conversion", "webhook", "clientConfig", "service"); err != nil || !ok {
			return err
		}
		conversion, _, err := unstructured.NestedMap(o.Object, "spec", "conversion", "webhook")
		if err != nil {
			return err
		}
		if err := setClient(conversion, l); err != nil {
			return err
		}
		return unstructured.SetNestedMap(o.Object, conversion, "spec", "conversion", "webhook")
	case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
		hooks, _, err := unstructured.NestedSlice(o.Object, "webhooks")
		if err != nil {
			return err
		}
		for i, h := range hooks {
			hook, ok := h.(map[string]any)
			if !ok {
				return fmt.Errorf("webhook %d is a %T", i, h)
			}
			if err := setClient(hook, l); err != nil {
				return err
			}
		}
		return unstructured.SetNestedSlice(o.Object, hooks, "webhooks")
	}
	return nil
}

// setClient sets the port and the CA in a map's clientConfig.
func setClient(m map[string]any, l Local) error {
	return errors.Join(
		unstructured.SetNestedField(m, int64(l.WebhookPort), "clientConfig", "service", "port"),
		unstructured.SetNestedField(m, base64.StdEncoding.EncodeToString(l.CACert), "clientConfig", "caBundle"))
}
