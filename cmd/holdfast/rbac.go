package main

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed rbac.yaml
var rbacYAML string

func (a *app) rbacCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rbac", Short: "Print the ClusterRole and Role that an account needs to use holdfast in full", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			// The file names Kueue's default namespace, and its manager's Deployment and
			// ConfigMap: a chart that renames one renames both.
			config := strings.TrimSuffix(a.kueueName, "-controller-manager") + "-manager-config"
			out := strings.NewReplacer("kueue-system", a.kueueNS, "kueue-controller-manager", a.kueueName, "kueue-manager-config", config).Replace(rbacYAML)
			_, err := fmt.Fprint(a.out, out)
			return err
		},
	}
}
