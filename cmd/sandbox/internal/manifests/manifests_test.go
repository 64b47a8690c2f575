package manifests

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func decode(t *testing.T, yaml string) []*unstructured.Unstructured {
	t.Helper()
	objs, err := Decode(strings.NewReader(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return objs
}

// TestAdapt compares whole objects, so that a change to anything that should stay as it is shows.
func TestAdapt(t *testing.T) {
	l := Local{WebhookPort: 21001, VisibilityPort: 21002, Config: "kind: Configuration\n", CACert: []byte("CA"), CAKey: []byte("CAKEY"), Cert: []byte("CERT"), Key: []byte("KEY")}
	for name, c := range map[string]struct{ in, want string }{
		"service": {
			in:   `{kind: Service, metadata: {name: s}, spec: {ports: [{port: 443, targetPort: 9443}], selector: {a: b}}}`,
			want: `{kind: Service, metadata: {name: s}, spec: {type: ExternalName, externalName: 127.0.0.1}}`,
		},
		"secret": {
			in:   `{kind: Secret, metadata: {name: kueue-webhook-server-cert}}`,
			want: `{kind: Secret, metadata: {name: kueue-webhook-server-cert}, data: {ca.crt: Q0E=, ca.key: Q0FLRVk=, tls.crt: Q0VSVA==, tls.key: S0VZ}}`,
		},
		"the manager's configuration": {
			in:   `{kind: ConfigMap, metadata: {name: kueue-manager-config, namespace: kueue-system}, data: {controller_manager_config.yaml: "x"}}`,
			want: `{kind: ConfigMap, metadata: {name: kueue-manager-config, namespace: kueue-system}, data: {controller_manager_config.yaml: "kind: Configuration\n"}}`,
		},
		"another ConfigMap": {
			in:   `{kind: ConfigMap, metadata: {name: other}, data: {a: b}}`,
			want: `{kind: ConfigMap, metadata: {name: other}, data: {a: b}}`,
		},
		"aggregated API": {
			in:   `{kind: APIService, spec: {insecureSkipTLSVerify: true, service: {name: v, namespace: kueue-system}}}`,
			want: `{kind: APIService, spec: {insecureSkipTLSVerify: true, service: {name: v, namespace: kueue-system, port: 21002}}}`,
		},
		"webhooks": {
			in: `{kind: ValidatingWebhookConfiguration, webhooks: [
				{name: a, failurePolicy: Fail, clientConfig: {service: {name: w, path: /a}}},
				{name: b, clientConfig: {service: {name: w, path: /b}}}]}`,
			want: `{kind: ValidatingWebhookConfiguration, webhooks: [
				{name: a, failurePolicy: Fail, clientConfig: {caBundle: Q0E=, service: {name: w, path: /a, port: 21001}}},
				{name: b, clientConfig: {caBundle: Q0E=, service: {name: w, path: /b, port: 21001}}}]}`,
		},
		"CRD with conversion": {
			in:   `{kind: CustomResourceDefinition, spec: {group: g, conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: w, path: /convert}}}}}}`,
			want: `{kind: CustomResourceDefinition, spec: {group: g, conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {caBundle: Q0E=, service: {name: w, path: /convert, port: 21001}}}}}}`,
		},
		"CRD without conversion": {
			in:   `{kind: CustomResourceDefinition, spec: {group: g}}`,
			want: `{kind: CustomResourceDefinition, spec: {group: g}}`,
		},
		"anything else": {
			in:   `{kind: ClusterRole, metadata: {name: r}, rules: [{verbs: [get]}]}`,
			want: `{kind: ClusterRole, metadata: {name: r}, rules: [{verbs: [get]}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := decode(t, c.in)
			if err := Adapt(got, l); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decode(t, c.want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSetImageChangesOnlyTheDeployment(t *testing.T) {
	got := decode(t, `
kind: Deployment
spec: {replicas: 1, template: {spec: {containers: [{name: manager, image: "somewhere:main"}]}}}
---
kind: ConfigMap
data: {image: "somewhere:main"}
`)
	if err := SetImage(got, "v0.19.2"); err != nil {
		t.Fatal(err)
	}
	want := decode(t, `
kind: Deployment
spec: {replicas: 1, template: {spec: {containers: [{name: manager, image: "registry.k8s.io/kueue/kueue:v0.19.2"}]}}}
---
kind: ConfigMap
data: {image: "somewhere:main"}
`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := SetImage(decode(t, `{kind: Deployment, metadata: {name: empty}}`), "v1"); err == nil {
		t.Error("a Deployment without containers was accepted")
	}
}

func TestDecode(t *testing.T) {
	objs := decode(t, "---\n---\nkind: A\n---\n# only a comment\n---\nkind: B\n")
	var kinds []string
	for _, o := range objs {
		kinds = append(kinds, o.GetKind())
	}
	if diff := cmp.Diff([]string{"A", "B"}, kinds); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	if _, err := Decode(strings.NewReader("kind: A\n---\nkind: [")); err == nil {
		t.Error("broken YAML was accepted")
	}
}
