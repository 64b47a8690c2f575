// Package components holds the programs of a Kubernetes control plane, linked into this one, by name.
package components

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics of the components, as in their own main packages
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kwokconfig "sigs.k8s.io/kwok/pkg/config"
	kwok "sigs.k8s.io/kwok/pkg/kwok/cmd"
	kwoklog "sigs.k8s.io/kwok/pkg/log"
)

// Run becomes the named component with its own command line and blocks until it ends; it returns the exit code. It
// sets the umask and os.Args, which the components read themselves, so a process runs one component and nothing else.
func Run(name string, args []string) int {
	programs := map[string]func() int{
		"etcd":                    func() int { etcdmain.Main(os.Args); return 0 },
		"kube-apiserver":          func() int { return cli.Run(apiserver.NewAPIServerCommand()) },
		"kube-controller-manager": func() int { return cli.Run(controllermanager.NewControllerManagerCommand()) },
		"kube-scheduler":          func() int { return cli.Run(scheduler.NewSchedulerCommand()) },
		"kwok":                    runKwok,
		"kubectl":                 runKubectl,
	}
	if name == kueue {
		return becomeKueue(args)
	}
	run, ok := programs[name]
	if !ok {
		var names []string
		for n := range programs {
			names = append(names, n)
		}
		slices.Sort(names)
		fmt.Fprintf(os.Stderr, "no component %q; there are %s\n", name, strings.Join(names, ", "))
		return 2
	}
	if name != "kubectl" { // which a person runs, under their own rules
		syscall.Umask(privateUmask)
	}
	os.Args = append([]string{name}, args...)
	return run()
}

const (
	kueue        = "kueue"
	privateUmask = 0o077 // whatever a component writes is for its owner only
)

// becomeKueue replaces this process by Kueue's manager, a program of its own whose path is the first argument. It
// returns only if that fails.
func becomeKueue(args []string) int {
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "component kueue needs the path of the program")
		return 2
	}
	syscall.Umask(privateUmask)
	err := syscall.Exec(args[0], args, os.Environ())
	fmt.Fprintf(os.Stderr, "run %s: %v\n", args[0], err)
	return 1
}

func runKubectl() int {
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err) // prints as kubectl does and exits
	}
	return 0
}

// runKwok is kwok's own main function but for one thing: linked beside Kubernetes, the process has a global --version
// flag that is not a bool, which the command library refuses together with the command's own version.
func runKwok() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	flags := pflag.NewFlagSet("global", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Usage = func() {}
	ctx, logger := kwoklog.InitFlags(ctx, flags)
	ctx, err := kwokconfig.InitFlags(ctx, flags)
	if err != nil {
		logger.Error("read the configuration", "err", err)
		return 1
	}
	cmd := kwok.NewCommand(ctx)
	cmd.Version = ""
	cmd.PersistentFlags().AddFlagSet(flags)
	if err := cmd.ExecuteContext(ctx); err != nil && !errors.Is(err, context.Canceled) {
		logger.Error("stopped", "err", err)
		return 1
	}
	return 0
}
