package pki

import (
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Names of the files Write makes, relative to its folder.
const (
	CACert           = "ca.crt"
	APIServerCert    = "apiserver.crt"
	APIServerKey     = "apiserver.key"
	EtcdCert         = "etcd.crt"
	EtcdKey          = "etcd.key"
	EtcdClientCert   = "etcd-client.crt"
	EtcdClientKey    = "etcd-client.key"
	FrontProxyCert   = "front-proxy.crt"
	FrontProxyKey    = "front-proxy.key"
	ServiceAcctKey   = "sa.key"
	ServiceAcctPub   = "sa.pub"
	WebhookDir       = "webhook" // holds the three file names Kueue looks for: ca.crt, tls.crt, tls.key
	FrontProxyUser   = "front-proxy"
	OncallUser       = "oncall"
	OncallGroup      = "holdfast-oncall"
	TenantUser       = "tenant"
	ViewerUser       = "viewer"
	kueueUser        = "system:serviceaccount:kueue-system:kueue-controller-manager"
	webhookHost      = "kueue-webhook-service.kueue-system.svc"
	kubeconfigServer = "sandbox"
)

// Authority holds what is signed while a sandbox starts.
type Authority struct {
	ca      *Pair
	Webhook WebhookCerts
}

// WebhookCerts is what Kueue's certificate controller would have made; it is both in its Secret and in its files.
type WebhookCerts struct{ CA, Leaf *Pair }

// Write makes every certificate and key of a sandbox and writes them (mode 0600) into dir, which it makes.
func Write(dir string) (*Authority, error) {
	ca, err := NewCA("sandbox-ca", false)
	if err != nil {
		return nil, err
	}
	apiserver, err1 := ca.IssueServer("kube-apiserver", "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
	etcd, err2 := ca.IssueServer("etcd", "localhost")
	etcdClient, err3 := ca.IssueClient("etcd-client")
	frontProxy, err4 := ca.IssueClient(FrontProxyUser)
	webhookCA, err5 := NewCA("kueue-ca", true)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return nil, err
	}
	webhook, err := webhookCA.IssueServer("kueue", webhookHost, "localhost")
	if err != nil {
		return nil, err
	}
	signer, signerPEM, err := newKey(false)
	if err != nil {
		return nil, err
	}
	verifier, err := x509.MarshalPKIXPublicKey(signer.Public())
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, WebhookDir), 0o700); err != nil {
		return nil, err
	}
	for name, content := range map[string][]byte{
		CACert:         ca.CertPEM,
		APIServerCert:  apiserver.CertPEM,
		APIServerKey:   apiserver.KeyPEM,
		EtcdCert:       etcd.CertPEM,
		EtcdKey:        etcd.KeyPEM,
		EtcdClientCert: etcdClient.CertPEM,
		EtcdClientKey:  etcdClient.KeyPEM,
		FrontProxyCert: frontProxy.CertPEM,
		FrontProxyKey:  frontProxy.KeyPEM,
		ServiceAcctKey: signerPEM,
		ServiceAcctPub: encode("PUBLIC KEY", verifier),

		filepath.Join(WebhookDir, "ca.crt"):  webhookCA.CertPEM,
		filepath.Join(WebhookDir, "tls.crt"): webhook.CertPEM,
		filepath.Join(WebhookDir, "tls.key"): webhook.KeyPEM,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return nil, err
		}
	}
	return &Authority{ca: ca, Webhook: WebhookCerts{CA: webhookCA, Leaf: webhook}}, nil
}

// User is somebody a kubeconfig is written for.
type User struct {
	Name, Context string
	Groups        []string
}

// Admin may do everything.
func Admin() User {
	return User{Name: "sandbox-admin", Context: "sandbox-admin", Groups: []string{"system:masters"}}
}

// Oncall is the person on call, whose rights come from the role file given to `up`.
func Oncall() User {
	return User{Name: OncallUser, Context: "sandbox-oncall", Groups: []string{OncallGroup}}
}

// Tenant is somebody who submits work in one namespace.
func Tenant() User { return User{Name: TenantUser, Context: "sandbox-tenant"} }

// Viewer is somebody who only looks.
func Viewer() User { return User{Name: ViewerUser, Context: "sandbox-viewer"} }

// Kueue is Kueue's manager under the identity of its own service account, so that its own role bindings apply.
func Kueue() User {
	return User{Name: kueueUser, Context: "sandbox-kueue", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:kueue-system"}}
}

// WriteKubeconfig issues a client certificate for the user and writes a self-contained kubeconfig (mode 0600) for the
// API server at the URL.
func (a *Authority) WriteKubeconfig(path, server string, u User) error {
	client, err := a.ca.IssueClient(u.Name, u.Groups...)
	if err != nil {
		return err
	}
	cfg := clientcmdapi.NewConfig()
	cfg.Clusters[kubeconfigServer] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: a.ca.CertPEM}
	cfg.AuthInfos[u.Name] = &clientcmdapi.AuthInfo{ClientCertificateData: client.CertPEM, ClientKeyData: client.KeyPEM}
	cfg.Contexts[u.Context] = &clientcmdapi.Context{Cluster: kubeconfigServer, AuthInfo: u.Name}
	cfg.CurrentContext = u.Context
	return clientcmd.WriteToFile(*cfg, path)
}
