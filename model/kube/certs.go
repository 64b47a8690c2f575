package kube

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"cli.holdfast.dev/holdfast/model/text"
)

// Webhooks is how the API server is told to ask Kueue's validating webhooks.
type Webhooks struct {
	// Namespace and Service are where it asks; Service is empty where it asks a URL.
	Namespace, Service string
	// ValidUntil is when the first of the CA bundles runs out: with each of them it
	// is the last of its certificates that counts. Zero where none could be read.
	ValidUntil time.Time
	// Problem says why no answer of one of the webhooks can be believed: its CA has
	// run out, is not valid yet, is missing or cannot be read. Empty: none seen.
	Problem string
}

// Webhooks reads the ValidatingWebhookConfiguration of the name and judges its CA
// bundles at the time.
func (c *Client) Webhooks(ctx context.Context, name string, now time.Time) (Webhooks, error) {
	cfg, err := c.set.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return Webhooks{}, err
	}
	return webhooksOf(cfg, now), nil
}

func webhooksOf(cfg *admissionv1.ValidatingWebhookConfiguration, now time.Time) Webhooks {
	var w Webhooks
	for i := range cfg.Webhooks {
		h := &cfg.Webhooks[i]
		service := h.ClientConfig.Service
		if service != nil && w.Service == "" {
			w.Namespace, w.Service = text.Clean(service.Namespace), text.Clean(service.Name)
		}
		until, problem := judgeCA(h.ClientConfig.CABundle, now)
		if len(h.ClientConfig.CABundle) == 0 && service == nil {
			problem = "" // a URL may have a certificate that everybody trusts
		}
		if !until.IsZero() && (w.ValidUntil.IsZero() || until.Before(w.ValidUntil)) {
			w.ValidUntil = until
		}
		if problem != "" && w.Problem == "" {
			w.Problem = fmt.Sprintf("the CA bundle of webhook %s %s", text.Clean(h.Name), problem)
		}
	}
	return w
}

// judgeCA returns when the bundle runs out, zero where no certificate can be read,
// and what is wrong with it at the time. One valid certificate is enough: while a
// CA is replaced the old one stays beside the new one.
func judgeCA(bundle []byte, now time.Time) (until time.Time, problem string) {
	if len(bundle) == 0 {
		return time.Time{}, "is empty: Kueue's certificates were not put into it yet"
	}
	certs, unreadable := certificates(bundle)
	if len(certs) == 0 {
		if unreadable != nil {
			return time.Time{}, "cannot be read: " + text.Clean(unreadable.Error())
		}
		return time.Time{}, "holds no certificate"
	}
	var begins time.Time // of the first that is still to come
	var last time.Time   // end of the last one, whether it has begun or not
	for _, c := range certs {
		if c.NotAfter.After(last) {
			last = c.NotAfter
		}
		switch {
		case now.Before(c.NotBefore):
			if begins.IsZero() || c.NotBefore.Before(begins) {
				begins = c.NotBefore
			}
		case !now.After(c.NotAfter) && c.NotAfter.After(until):
			until = c.NotAfter
		}
	}
	switch {
	case !until.IsZero():
		return until, ""
	case !begins.IsZero():
		return last, "is not valid before " + begins.UTC().Format(time.RFC3339)
	}
	return last, "ran out at " + last.UTC().Format(time.RFC3339)
}

// certificates returns what can be read of a PEM bundle and the error of the first
// that cannot.
func certificates(bundle []byte) (out []*x509.Certificate, err error) {
	for {
		var block *pem.Block
		block, bundle = pem.Decode(bundle)
		if block == nil {
			return out, err
		}
		if !strings.HasSuffix(block.Type, "CERTIFICATE") {
			continue
		}
		c, bad := x509.ParseCertificate(block.Bytes)
		switch {
		case bad == nil:
			out = append(out, c)
		case err == nil:
			err = bad
		}
	}
}
