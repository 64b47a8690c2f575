// Package pki makes the certificates, keys and kubeconfigs of one sandbox.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

const validity = 365 * 24 * time.Hour

// Pair is a certificate with its private key, both also as PEM.
type Pair struct {
	CertPEM, KeyPEM []byte

	cert *x509.Certificate
	key  crypto.Signer
}

// NewCA returns a self-signed certificate authority that also carries its common name as a DNS name: Kueue's
// certificate controller asks its own for that. The key is RSA in PKCS#1 if useRSA (the same controller takes nothing
// else from its Secret), else an elliptic-curve one.
func NewCA(commonName string, useRSA bool) (*Pair, error) {
	return sign(&x509.Certificate{
		Subject:               pkix.Name{CommonName: commonName},
		DNSNames:              []string{commonName},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}, nil, useRSA)
}

// IssueServer returns a certificate for a server (which etcd and kube-apiserver also show as clients) on 127.0.0.1
// and under the DNS names.
func (ca *Pair) IssueServer(commonName string, dnsNames ...string) (*Pair, error) {
	return sign(&x509.Certificate{
		Subject:     pkix.Name{CommonName: commonName},
		DNSNames:    dnsNames,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, ca, false)
}

// IssueClient returns a client certificate; kube-apiserver takes the common name as the user and the organizations as
// the groups.
func (ca *Pair) IssueClient(user string, groups ...string) (*Pair, error) {
	return sign(&x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, ca, false)
}

// sign makes a key and the template's certificate, signed by ca or, without one, by itself.
func sign(template *x509.Certificate, ca *Pair, useRSA bool) (*Pair, error) {
	key, keyPEM, err := newKey(useRSA)
	if err != nil {
		return nil, fmt.Errorf("key of %s: %w", template.Subject.CommonName, err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-time.Hour) // a clock set back a little must not break a sandbox
	template.NotAfter = time.Now().Add(validity)
	parent, signer := template, key
	if ca != nil {
		parent, signer = ca.cert, ca.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, fmt.Errorf("certificate of %s: %w", template.Subject.CommonName, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &Pair{CertPEM: encode("CERTIFICATE", der), KeyPEM: keyPEM, cert: cert, key: key}, nil
}

func newKey(useRSA bool) (crypto.Signer, []byte, error) {
	if useRSA {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			return nil, nil, err
		}
		return key, encode("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key)), nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	return key, encode("EC PRIVATE KEY", der), nil
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
