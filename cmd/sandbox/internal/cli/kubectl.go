package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/sandbox"
)

func newKubectl(f folderFlag) *cobra.Command {
	return &cobra.Command{
		Use:                "kubectl [--dir DIR] ARGS...",
		Short:              "Run kubectl as the sandbox's administrator",
		Example:            "  holdfast-sandbox kubectl get workloads.kueue.x-k8s.io -A",
		DisableFlagParsing: true, // all flags but a leading --dir are kubectl's
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && (args[0] == "-h" || args[0] == "--help") {
				return cmd.Help()
			}
			given, rest, err := leadingDir(args)
			if err != nil {
				return err
			}
			if given != "" {
				*f.value = given
			}
			dir, _, err := f.running()
			if err != nil {
				return err
			}
			self, err := os.Executable()
			if err != nil {
				return err
			}
			// Ours first: of a variable given twice a Go program sees the first.
			env := append(environment(dir, sandbox.AdminKubeconfig), os.Environ()...)
			return syscall.Exec(self, append([]string{"kubectl", "component", "kubectl"}, rest...), env)
		},
	}
}

// leadingDir takes a --dir off the front of kubectl's arguments.
func leadingDir(args []string) (dir string, rest []string, err error) {
	if len(args) == 0 {
		return "", args, nil
	}
	if value, ok := strings.CutPrefix(args[0], "--dir="); ok {
		return value, args[1:], nil
	}
	if args[0] != "--dir" {
		return "", args, nil
	}
	if len(args) < 2 {
		return "", nil, errors.New("--dir needs a folder")
	}
	return args[1], args[2:], nil
}

// environment is what a program needs to use a sandbox. kubectl's discovery cache goes by address, which a new
// sandbox may share with an old one, so it lives and dies with the sandbox.
func environment(dir, kubeconfig string) []string {
	return []string{"KUBECONFIG=" + filepath.Join(dir, kubeconfig), "KUBECACHEDIR=" + filepath.Join(dir, "kubecache")}
}
