package main

import (
	"fmt"
	"slices"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"cli.holdfast.dev/holdfast/model/text"
)

// contexts lists the contexts of the kubeconfig that the console can go to, sorted.
// There are none where a flag says which server or whose credentials to use, or that it is
// not to be verified: it would hold for every context. A name that is not safe to draw cannot be gone to.
func (a *app) contexts() []string {
	for _, f := range []*string{a.kube.APIServer, a.kube.ClusterName, a.kube.AuthInfoName, a.kube.BearerToken, a.kube.TLSServerName, a.kube.CertFile, a.kube.KeyFile, a.kube.CAFile} {
		if f != nil && *f != "" {
			return nil
		}
	}
	if i := a.kube.Insecure; i != nil && *i {
		return nil
	}
	raw, err := a.kube.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil
	}
	var out []string
	for name := range raw.Contexts {
		if text.Clean(name) == name {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// contextNow is the context that the console is in.
func (a *app) contextNow() (string, error) {
	raw, err := a.kube.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return "", fmt.Errorf("the kubeconfig cannot be read: %s", text.Clean(err.Error()))
	}
	return a.at(raw), nil
}

// at is the context that the flag names, or the kubeconfig.
func (a *app) at(raw clientcmdapi.Config) string {
	if c := a.kube.Context; c != nil && *c != "" {
		return *c
	}
	return raw.CurrentContext
}

// inContext is the configuration with another context: the file, the namespace limit
// and the impersonation stay.
func inContext(k *genericclioptions.ConfigFlags, context string) *genericclioptions.ConfigFlags {
	out := genericclioptions.NewConfigFlags(true)
	out.Timeout = nil
	out.KubeConfig, out.Namespace, out.CacheDir = k.KubeConfig, k.Namespace, k.CacheDir
	out.Impersonate, out.ImpersonateUID, out.ImpersonateGroup = k.Impersonate, k.ImpersonateUID, k.ImpersonateGroup
	out.DisableCompression = k.DisableCompression
	out.Context = &context
	return out
}
