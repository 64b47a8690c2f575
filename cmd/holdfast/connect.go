package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/live"
	"cli.holdfast.dev/holdfast/model/manager"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// session is a connection with all that reads and writes through it.
type session struct {
	contract world.Contract
	watcher  *live.Watcher
	reader   *live.Reader
	client   *kube.Client
	desk     *actions.Desk
	journal  *actions.Journal
	// settings reads how Kueue's manager is configured.
	settings func(context.Context) manager.Settings
	clock    clock.WithTicker
	// giveBack returns the streams that the console took from credential plugins, for
	// the next one that may have to ask.
	giveBack func()
}

// connect reads the kubeconfig and builds the clients. With screen set the
// credential plugin may talk to the person once, now, and never again.
func (a *app) connect(ctx context.Context, screen bool) (_ *session, err error) {
	base, contract, err := a.target()
	if err != nil {
		return nil, coded(exitUnreadable, err)
	}
	if screen {
		if err := greet(ctx, base); err != nil {
			return nil, coded(exitUnreadable, err)
		}
	}
	s := &session{contract: contract, clock: clock.RealClock{}, giveBack: func() {}}
	if screen {
		if s.giveBack, err = takeStreams(a.log); err != nil {
			return nil, err
		}
		defer func() {
			if err != nil {
				s.giveBack()
			}
		}()
	}
	agent := "holdfast/" + version()
	contract.Namespace = *a.kube.Namespace
	s.contract = contract
	s.watcher = live.New(live.Options{
		Config: kube.Reader(base, agent), Namespace: contract.Namespace, Contract: contract,
		ManagerNamespace: a.kueueNS, ManagerName: a.kueueName, Clock: s.clock, Log: a.log.add,
	})
	if s.client, err = kube.NewClient(kube.Reader(base, agent)); err != nil {
		return nil, coded(exitUnreadable, err)
	}
	if s.reader, err = live.NewReader(kube.Reader(base, agent)); err != nil {
		return nil, coded(exitUnreadable, err)
	}
	journal, err := a.journalPath()
	if err != nil {
		return nil, err
	}
	s.journal = actions.NewJournal(journal)
	foresight, err := a.previewer(s, s.watcher.Snapshot, s.clock)
	if err != nil {
		return nil, err
	}
	s.settings = foresight.settings
	var progress func(string)
	if !screen {
		progress = a.progress()
	}
	s.desk, err = actions.NewDesk(actions.Options{
		Config: kube.Writer(base, agent, a.readOnly), World: s.watcher.Snapshot, Context: contract.Context, ReadOnly: a.readOnly, Production: slices.Contains(a.production, contract.Context),
		Journal: s.journal, Clock: s.clock, ExportDir: a.exportDir, DraftDir: filepath.Join(filepath.Dir(journal), "drafts"),
		Editor: editor(), Version: version(), Checkpoint: a.checkpoint, Progress: progress, PodsOf: s.reader.PodsOf, NodesWith: s.reader.NodesWith, Impact: foresight.preview, Tried: s.watcher.WebhookTried, VerifyFor: 20 * time.Second, LastsFor: 3 * time.Second,
	})
	if err != nil {
		return nil, coded(exitUnreadable, err)
	}
	return s, nil
}

// target returns the client configuration and what the kubeconfig says about it.
func (a *app) target() (*rest.Config, world.Contract, error) {
	loader := a.kube.ToRawKubeConfigLoader()
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, world.Contract{}, fmt.Errorf("the kubeconfig cannot be read: %s", text.Clean(err.Error()))
	}
	base, err := a.kube.ToRESTConfig()
	at := a.at(raw)
	// Without a server client-go goes to port 8080 of this machine, where whatever
	// listens would be taken for the person's cluster.
	guessed := err == nil && *a.kube.APIServer == "" && base.Host == "http://localhost:8080"
	if k := raw.Contexts[at]; guessed && k != nil {
		if c := raw.Clusters[k.Cluster]; c == nil || c.Server == "" {
			return nil, world.Contract{}, fmt.Errorf("context %s names the cluster %q, which the kubeconfig has no server for", text.Clean(at), text.Clean(k.Cluster))
		}
	}
	guessed = guessed && len(raw.Clusters) == 0
	if clientcmd.IsEmptyConfig(err) || guessed {
		return nil, world.Contract{}, fmt.Errorf("no cluster is configured: set KUBECONFIG or --kubeconfig, as for kubectl")
	}
	if err != nil {
		return nil, world.Contract{}, fmt.Errorf("the kubeconfig does not lead to a cluster: %s", text.Clean(err.Error()))
	}
	c := world.Contract{Context: at, Server: text.Clean(base.Host), UserFrom: "kubeconfig", Impersonates: text.Clean(base.Impersonate.UserName)}
	if k := raw.Contexts[c.Context]; k != nil {
		c.User = text.Clean(k.AuthInfo)
	}
	c.Context = text.Clean(c.Context)
	return base, c, nil
}

// greet makes one authenticated call while the terminal is still an ordinary
// one, so that a credential plugin can show a prompt or a device code. Only
// refused credentials end the program: a cluster that does not answer is shown
// as such by the console.
func greet(ctx context.Context, base *rest.Config) error {
	ask, cancel := context.WithTimeout(ctx, kube.Patience)
	if base.ExecProvider != nil {
		cancel() // a person may need minutes to log in; Ctrl-C ends it
		ask, cancel = context.WithCancel(ctx)
	}
	defer cancel()
	c, err := kube.NewClient(kube.Reader(base, "holdfast/"+version()))
	if err != nil {
		return fmt.Errorf("no client can be made for this kubeconfig: %s", text.Clean(err.Error()))
	}
	done := make(chan error, 1)
	go func() {
		_, err := c.ServerVersion(ask)
		done <- err
	}()
	select {
	case err = <-done:
	case <-ctx.Done(): // a plugin that hangs does not know of it
	}
	if ctx.Err() != nil {
		return errEnded
	}
	if apierrors.IsUnauthorized(err) {
		return fmt.Errorf("the server does not accept the credentials: %s. Log in again, as for kubectl", text.Clean(err.Error()))
	}
	if base.ExecProvider != nil && err != nil && strings.Contains(err.Error(), "getting credentials") {
		return fmt.Errorf("%s. Log in again, as for kubectl", text.Clean(err.Error()))
	}
	return nil
}

// editor is the person's editor, as kubectl finds it.
func editor() string {
	for _, v := range []string{"KUBE_EDITOR", "VISUAL", "EDITOR"} {
		if e := os.Getenv(v); e != "" {
			return e
		}
	}
	return "vi"
}

// journalPath is where the journal lives: the flag, or the XDG state folder.
func (a *app) journalPath() (string, error) {
	if a.journal != "" {
		return filepath.Abs(a.journal)
	}
	state := os.Getenv("XDG_STATE_HOME")
	if state == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("there is no home folder for the journal (%w): name a file with --journal", err)
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "holdfast", "journal.jsonl"), nil
}
