package kube

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"cli.holdfast.dev/holdfast/model/text"
)

// The texts are the API server's (apiserver pkg/util/webhook and
// pkg/admission/plugin/webhook, apiextensions-apiserver pkg/apiserver/conversion).
func TestWebhookErrors(t *testing.T) {
	const call = `failed calling webhook "vclusterqueue.kb.io": failed to call webhook: Post "https://kueue-webhook-service.kueue-system.svc:443/validate-kueue-x-k8s-io-v1beta2-clusterqueue?timeout=10s": `
	const conversion = `conversion webhook for kueue.x-k8s.io/v1beta2, Kind=ClusterQueue failed: Post "https://kueue-webhook-service.kueue-system.svc:443/convert?timeout=30s": `
	internal := func(s string) error { return apierrors.NewInternalError(errors.New(s)) }
	coded := func(code int32, s string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Message: s}}
	}
	const stored = "conversion of kueue.x-k8s.io/v1beta2, Kind=ClusterQueue"
	tests := map[string]struct {
		err  error
		want string // empty: none
	}{
		"no endpoints":                 {internal(call + `no endpoints available for service "kueue-webhook-service"`), "vclusterqueue.kb.io"},
		"refused":                      {internal(call + "dial tcp 10.96.4.7:443: connect: connection refused"), "vclusterqueue.kb.io"},
		"hanging":                      {internal(call + "context deadline exceeded"), "vclusterqueue.kb.io"},
		"unknown authority":            {internal(call + "tls: failed to verify certificate: x509: certificate signed by unknown authority"), "vclusterqueue.kb.io"},
		"no service":                   {internal(call + `service "kueue-webhook-service" not found`), "vclusterqueue.kb.io"},
		"bad gateway":                  {internal(call + "502 Bad Gateway"), "vclusterqueue.kb.io"},
		"no details":                   {internal(`failed calling webhook "mjob.kb.io"; no further details available`), "mjob.kb.io"},
		"not from a server":            {errors.New("Internal error occurred: " + call + "EOF"), "vclusterqueue.kb.io"},
		"wrapped":                      {fmt.Errorf("the dry-run failed: %w", internal(call+"EOF")), "vclusterqueue.kb.io"},
		"conversion refused":           {coded(500, conversion+"dial tcp 127.0.0.1:13153: connect: connection refused"), stored},
		"conversion without code":      {coded(0, conversion+"EOF"), stored},
		"conversion of one too few":    {internal("conversion webhook for kueue.x-k8s.io/v1beta2, Kind=ClusterQueue returned 0 objects, expected 1"), stored},
		"conversion to something odd":  {internal("conversion webhook for kueue.x-k8s.io/v1beta2, Kind=ClusterQueue returned invalid converted object at index 0: invalid type"), stored},
		"conversion of nothing":        {internal("conversion webhook for kueue.x-k8s.io/v1beta2, Kind=ClusterQueue failed, no objects returned"), stored},
		"hostile name":                 {internal("failed calling webhook \"a\x1b[2J\u202eb\": EOF"), `a\x1b[2J\u202eb`},
		"nothing":                      {nil, ""},
		"a webhook that refuses":       {coded(403, `admission webhook "vclusterqueue.kb.io" denied the request: spec.cohortName: Invalid value`), ""},
		"one that quotes a failure":    {coded(403, `admission webhook "vclusterqueue.kb.io" denied the request: `+call+"EOF"), ""},
		"the same without a code":      {errors.New(`admission webhook "vclusterqueue.kb.io" denied the request: ` + call + "EOF"), ""},
		"a validation that quotes one": {apierrors.NewInvalid(schema.GroupKind{Kind: "ClusterQueue"}, call, nil), ""},
		"another internal error":       {internal("etcdserver: request timed out"), ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := WebhookError(tc.err)
			if got != tc.want || ok != (tc.want != "") {
				t.Errorf("%q, %v; want %q", got, ok, tc.want)
			}
			if got := ConversionError(tc.err); got != strings.HasPrefix(tc.want, "conversion of ") {
				t.Errorf("a conversion: %v", got)
			}
		})
	}
}

// Whatever the server says, the name is safe to draw, and a webhook that answered
// with a refusal is not taken for one that failed.
func FuzzWebhookError(f *testing.F) {
	f.Add(`failed calling webhook "v\"x.kb.io": EOF`)
	f.Add(`conversion webhook for kueue.x-k8s.io/v1beta2, Kind=ClusterQueue failed: EOF`)
	f.Add("failed calling webhook \"\x1b[2J\u202e\": EOF")
	f.Fuzz(func(t *testing.T, said string) {
		name, ok := WebhookError(errors.New(said))
		if text.Clean(name) != name || !ok && name != "" {
			t.Errorf("name %q, %v", name, ok)
		}
		if name, ok := WebhookError(errors.New(`admission webhook "v.kb.io" denied the request: ` + said)); ok {
			t.Errorf("a refusal is taken for a failure of %q", name)
		}
	})
}
