package kube

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// authority returns a self-signed CA in PEM.
func authority(t *testing.T, from, until time.Time) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kueue-ca"}, NotBefore: from, NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func TestWebhookCA(t *testing.T) {
	now := time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)
	year := func(from, until int) []byte { return authority(t, now.AddDate(from, 0, 0), now.AddDate(until, 0, 0)) }
	good, long, old, older, next := year(-1, 1), year(-1, 9), year(-3, -1), year(-3, -2), year(1, 2)
	service := &admissionv1.ServiceReference{Namespace: "ks", Name: "kueue-webhook-service"}
	in := Webhooks{Namespace: "ks", Service: "kueue-webhook-service"}
	with := func(until time.Time, problem string) Webhooks {
		w := in
		w.ValidUntil, w.Problem = until, problem
		return w
	}
	tests := map[string]struct {
		bundles [][]byte // of one webhook each
		url     bool
		want    Webhooks
	}{
		"no webhook":           {nil, false, Webhooks{}},
		"valid":                {[][]byte{good}, false, with(now.AddDate(1, 0, 0), "")},
		"the first to run out": {[][]byte{long, good, long}, false, with(now.AddDate(1, 0, 0), "")},
		"being replaced":       {[][]byte{slices.Concat(old, long, next)}, false, with(now.AddDate(9, 0, 0), "")},
		"run out":              {[][]byte{slices.Concat(older, old)}, false, with(now.AddDate(-1, 0, 0), "the CA bundle of webhook w0 ran out at 2025-12-02T12:00:00Z")},
		"one of two run out":   {[][]byte{long, old}, false, with(now.AddDate(-1, 0, 0), "the CA bundle of webhook w1 ran out at 2025-12-02T12:00:00Z")},
		"not valid yet":        {[][]byte{slices.Concat(old, next)}, false, with(now.AddDate(2, 0, 0), "the CA bundle of webhook w0 is not valid before 2027-12-02T12:00:00Z")},
		"empty":                {[][]byte{nil}, false, with(time.Time{}, "the CA bundle of webhook w0 is empty: Kueue's certificates were not put into it yet")},
		"empty at a URL":       {[][]byte{nil}, true, Webhooks{}},
		"no PEM":               {[][]byte{[]byte("Cg==")}, false, with(time.Time{}, "the CA bundle of webhook w0 holds no certificate")},
		"a key":                {[][]byte{pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")})}, false, with(time.Time{}, "the CA bundle of webhook w0 holds no certificate")},
		"broken":               {[][]byte{pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})}, false, with(time.Time{}, "the CA bundle of webhook w0 cannot be read: x509: malformed certificate")},
		"broken beside a good": {[][]byte{slices.Concat(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")}), good)}, false, with(now.AddDate(1, 0, 0), "")},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cfg := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "c"}}
			for i, b := range tc.bundles {
				h := admissionv1.ValidatingWebhook{Name: "w" + string(rune('0'+i)), ClientConfig: admissionv1.WebhookClientConfig{CABundle: b}}
				if !tc.url {
					h.ClientConfig.Service = service
				}
				cfg.Webhooks = append(cfg.Webhooks, h)
			}
			if d := cmp.Diff(tc.want, webhooksOf(cfg, now)); d != "" {
				t.Errorf("webhooks (-want +got):\n%s", d)
			}
		})
	}
}

// x509's own verification is the judge of what a valid bundle is.
func TestBundlesAreJudgedAsTheAPIServerDoes(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	for name, at := range map[string]time.Time{"valid": now, "run out": now.AddDate(2, 0, 0), "not valid yet": now.AddDate(-2, 0, 0)} {
		bundle := authority(t, now.AddDate(-1, 0, 0), now.AddDate(1, 0, 0))
		certs, err := certificates(bundle)
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(bundle)
		_, refusal := certs[0].Verify(x509.VerifyOptions{Roots: roots, CurrentTime: at})
		if _, problem := judgeCA(bundle, at); (problem != "") != (refusal != nil) {
			t.Errorf("%s: problem %q, x509 says %v", name, problem, refusal)
		}
	}
}
