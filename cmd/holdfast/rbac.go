package main

import (
	_ "embed"
	"fmt"

	"github.com/spf13/cobra"
)

//go:embed rbac.yaml
var rbacYAML string

func (a *app) rbacCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rbac", Short: "Print the ClusterRole and Role that an account needs to use holdfast in full", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(a.out, rbacYAML)
			return err
		},
	}
}
