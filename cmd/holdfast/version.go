package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is the module's version, or "devel" for a build of a checkout.
func version() string {
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" && b.Main.Version != "(devel)" {
		return b.Main.Version
	}
	return "devel"
}

// builtWith returns the version of a module that the program was built with.
func builtWith(path string) string {
	b, ok := debug.ReadBuildInfo()
	if ok {
		for _, d := range b.Deps {
			if d.Path == path {
				return d.Version
			}
		}
	}
	return "unknown"
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the versions of this program and of Kueue's code in it", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(a.out, "holdfast %s\nKueue API %s\nKubernetes client %s\n%s\n", version(), builtWith("sigs.k8s.io/kueue"), builtWith("k8s.io/client-go"), runtime.Version())
			return err
		},
	}
}
