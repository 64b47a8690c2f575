package pki

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
)

func write(t *testing.T) (string, *Authority) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "pki")
	a, err := Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir, a
}

// TestServersAreVerifiedByTheirCA makes the check each client of these servers makes.
func TestServersAreVerifiedByTheirCA(t *testing.T) {
	dir, _ := write(t)
	for _, c := range []struct{ ca, cert, key, host string }{
		{CACert, APIServerCert, APIServerKey, "127.0.0.1"},
		{CACert, EtcdCert, EtcdKey, "127.0.0.1"},
		{"webhook/ca.crt", "webhook/tls.crt", "webhook/tls.key", "kueue-webhook-service.kueue-system.svc"},
	} {
		pair, err := tls.LoadX509KeyPair(filepath.Join(dir, c.cert), filepath.Join(dir, c.key))
		if err != nil {
			t.Errorf("%s: %v", c.cert, err)
			continue
		}
		opts := x509.VerifyOptions{Roots: pool(t, filepath.Join(dir, c.ca)), DNSName: c.host}
		if _, err := pair.Leaf.Verify(opts); err != nil {
			t.Errorf("%s for %s: %v", c.cert, c.host, err)
		}
	}
}

func TestNoOtherCAVerifiesAServer(t *testing.T) {
	dir, _ := write(t)
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, APIServerCert), filepath.Join(dir, APIServerKey))
	if err != nil {
		t.Fatal(err)
	}
	opts := x509.VerifyOptions{Roots: pool(t, filepath.Join(dir, "webhook/ca.crt")), DNSName: "127.0.0.1"}
	if _, err := pair.Leaf.Verify(opts); err == nil {
		t.Error("the webhook CA verifies the API server")
	}
}

func TestWebhookCAIsWhatKueueAccepts(t *testing.T) {
	_, a := write(t)
	block, _ := pem.Decode(a.Webhook.CA.KeyPEM)
	if _, err := x509.ParsePKCS1PrivateKey(block.Bytes); err != nil {
		t.Errorf("CA key is not PKCS#1 RSA: %v", err)
	}
	if err := a.Webhook.CA.cert.VerifyHostname("kueue-ca"); err != nil {
		t.Error(err)
	}
}

func TestEveryFileIsPrivate(t *testing.T) {
	dir, a := write(t)
	if err := a.WriteKubeconfig(filepath.Join(dir, "kubeconfig"), "https://127.0.0.1:6443", Admin()); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if perm := info.Mode().Perm(); perm&0o077 != 0 {
			t.Errorf("%s has mode %o", path, perm)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestKubeconfigNamesUserAndGroups(t *testing.T) {
	dir, a := write(t)
	path := filepath.Join(dir, "oncall.kubeconfig")
	if err := a.WriteKubeconfig(path, "https://127.0.0.1:6443", Oncall()); err != nil {
		t.Fatal(err)
	}
	raw, err := clientcmd.LoadFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if raw.CurrentContext != "sandbox-oncall" || raw.Contexts["sandbox-oncall"].Cluster != "sandbox" {
		t.Errorf("context %q of clusters %v", raw.CurrentContext, raw.Clusters)
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(cfg.CertData, cfg.KeyData)
	if err != nil {
		t.Fatal(err)
	}
	opts := x509.VerifyOptions{Roots: pool(t, filepath.Join(dir, CACert)), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	if _, err := pair.Leaf.Verify(opts); err != nil {
		t.Errorf("client certificate: %v", err)
	}
	if got := pair.Leaf.Subject.CommonName; got != "oncall" {
		t.Errorf("user %q, want oncall", got)
	}
	if diff := cmp.Diff([]string{"holdfast-oncall"}, pair.Leaf.Subject.Organization); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}

func pool(t *testing.T, path string) *x509.CertPool {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p := x509.NewCertPool()
	if !p.AppendCertsFromPEM(raw) {
		t.Fatalf("no certificate in %s", path)
	}
	return p
}
