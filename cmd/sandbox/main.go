// Command holdfast-sandbox runs a real Kubernetes control plane with a real Kueue on 127.0.0.1, without containers.
//
// It is one program for several: called as "holdfast-sandbox component NAME ..." it is that component (etcd,
// kube-apiserver, ...), and so the sandbox starts its components as child processes of its own program. Kueue's manager
// is a second program beside it. Called in any other way it is the tool that starts and handles sandboxes.
package main

import (
	"os"

	"github.com/spf13/pflag"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/cli"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/components"
)

func main() {
	switch {
	case len(os.Args) > 2 && os.Args[1] == "component":
		os.Exit(components.Run(os.Args[2], os.Args[3:]))
	case len(os.Args) > 1 && os.Args[1] == "render-manifests":
		os.Exit(components.RenderManifests(os.Args[2:], os.Stderr))
	}
	// The components register flags of their own (such as --version) for the whole process; they are none of the tool's.
	pflag.CommandLine = pflag.NewFlagSet(os.Args[0], pflag.ContinueOnError)
	os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr))
}
