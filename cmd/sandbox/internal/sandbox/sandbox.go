// Package sandbox starts, watches and stops one control plane with Kueue on 127.0.0.1.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/cluster"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/control"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/datadir"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/door"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/pki"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/ports"
	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/supervise"
)

// Names of files below a sandbox's folder.
const (
	AdminKubeconfig = "admin" + kubeconfigSuffix // the first of People's

	kueueKubeconfig = "kueue.kubeconfig"
	kueueConfig     = "kueue.yaml"
	kwokConfig      = "kwok.yaml"
)

// What a person may do to a component.
const (
	ActionStop     = "stop"     // SIGSTOP
	ActionContinue = "continue" // SIGCONT, and wait until it is ready
	ActionKill     = "kill"     // SIGKILL; it stays dead
	ActionRestart  = "restart"  // end it, start it anew, and wait until it is ready
)

const apiServerReadyFor = 2 * time.Minute

// Programs are the absolute paths of what a build makes.
type Programs struct{ Self, Kueue, Manifests string }

// FindPrograms returns the programs of the build this process was started from.
func FindPrograms() (Programs, error) {
	self, err := os.Executable()
	if err != nil {
		return Programs{}, err
	}
	dir := filepath.Dir(self)
	p := Programs{Self: self, Kueue: filepath.Join(dir, "kueue"), Manifests: filepath.Join(dir, "kueue-manifests.yaml")}
	for _, f := range []string{p.Kueue, p.Manifests} {
		if _, err := os.Stat(f); err != nil {
			return Programs{}, fmt.Errorf("%w; build the sandbox again: in cmd/sandbox, go run ./build -out %s", err, dir)
		}
	}
	return p, nil
}

// Options says how to start a sandbox.
type Options struct {
	Dir        string // absolute
	Programs   Programs
	OncallRole string // file, or "" for no rights
	Manager    Manager
	Say        func(f string, a ...any) // progress, one line each
}

// Sandbox is one running control plane. It is made by Start.
type Sandbox struct {
	opts   Options
	began  time.Time
	folder *datadir.Folder
	ports  portSet
	config string // Kueue's
	group  *supervise.Group
	client *cluster.Client
	server *control.Server
	door   *door.Door // to Kueue's webhooks
	faults *faultBook
	ready  atomic.Bool

	ctx      context.Context // ends with the sandbox; its cause says why
	cancel   context.CancelCauseFunc
	watchers sync.WaitGroup
	stopOnce sync.Once
	stopErr  error
}

// errAsked is the cause of an end somebody asked for.
var errAsked = errors.New("asked to stop")

// Start runs a sandbox and blocks until it is ready. If the context ends before, or anything fails, everything that
// was started is stopped again. After Start the context has no meaning; call Stop.
func Start(ctx context.Context, opts Options) (*Sandbox, error) {
	began := time.Now()
	var role []*unstructured.Unstructured
	if opts.OncallRole != "" {
		var err error
		if role, err = ReadOncallRole(opts.OncallRole); err != nil {
			return nil, err
		}
	}
	folder, replaced, err := datadir.Claim(opts.Dir)
	if err != nil {
		return nil, err
	}
	s := &Sandbox{opts: opts, began: began, folder: folder, group: supervise.NewGroup(), faults: newFaultBook()}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	if replaced {
		opts.Say("replaced the data of a sandbox that had died in %s", opts.Dir)
	}
	asked := context.AfterFunc(ctx, func() { s.cancel(context.Cause(ctx)) })
	err = s.start(role)
	if !asked() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		if cause := context.Cause(s.ctx); cause != nil {
			err = cause // such as a component's death, which is why a step failed
		}
		return nil, errors.Join(err, s.Stop())
	}
	s.ready.Store(true)
	return s, nil
}

func (s *Sandbox) start(role []*unstructured.Unstructured) error {
	certs, err := s.prepare()
	if err != nil {
		return err
	}
	if s.door, err = door.New(s.ports.webhookDoor, s.ports.webhook); err != nil {
		return err
	}
	s.watchers.Go(s.watch)
	components := s.table()
	for _, c := range components[:2] { // the store and the API server; the API server waits for the store itself
		if err := s.group.Start(s.spec(c)); err != nil {
			return err
		}
	}
	if s.server, err = control.Serve(s.folder.Path(), s); err != nil {
		return err
	}
	objs, err := kueueObjects(s.opts.Programs.Manifests, s.ports, certs, s.config)
	if err != nil {
		return err
	}
	rights, err := peopleObjects()
	if err != nil {
		return err
	}
	if err := cluster.Poll(s.ctx, apiServerReadyFor, func(ctx context.Context) error { return s.client.Answers(ctx, "/readyz") }); err != nil {
		return fmt.Errorf("kube-apiserver is not ready: %w (see %s)", err, s.folder.Log(apiServer))
	}
	s.opts.Say("%5.1f s  kube-apiserver is ready", s.Age().Seconds())
	for _, c := range components[2:] {
		if c.name == kueue { // it needs its own CRDs first
			if err := s.client.Apply(s.ctx, fieldManager, slices.Concat(objs, rights, role)); err != nil {
				return err
			}
			s.opts.Say("%5.1f s  Kueue's manifests are applied", s.Age().Seconds())
		}
		if err := s.group.Start(s.spec(c)); err != nil {
			return err
		}
	}
	s.watchers.Go(func() { s.followKueue(s.ctx) })
	if err := s.waitKueue(s.ctx, s.began); err != nil {
		return err
	}
	if err := s.waitTenant(s.ctx); err != nil {
		return err
	}
	if role == nil {
		s.opts.Say("user %s has no rights (give them with --oncall-role FILE)", pki.OncallUser)
	}
	return nil
}

// prepare writes everything the components read and opens the client.
func (s *Sandbox) prepare() (pki.WebhookCerts, error) {
	none := pki.WebhookCerts{}
	picked, err := ports.Pick(portCount, ports.Listening())
	if err != nil {
		return none, err
	}
	s.ports = newPorts(picked)
	authority, err := pki.Write(s.folder.Path("pki"))
	if err != nil {
		return none, err
	}
	users := map[string]pki.User{kueueKubeconfig: pki.Kueue()}
	for _, p := range People() {
		users[p.Kubeconfig()] = p.user
	}
	for file, user := range users {
		if err := authority.WriteKubeconfig(s.folder.Path(file), s.ports.server(), user); err != nil {
			return none, err
		}
	}
	kwokStages, err := stages()
	if err != nil {
		return none, err
	}
	s.config = s.opts.Manager.configuration(s.ports, s.pki(pki.WebhookDir))
	for file, content := range map[string]string{
		kwokConfig:  kwokStages,
		kueueConfig: s.config,
	} {
		if err := os.WriteFile(s.folder.Path(file), []byte(content), 0o600); err != nil {
			return none, err
		}
	}
	s.client, err = cluster.Open(s.folder.Path(AdminKubeconfig))
	return authority.Webhook, err
}

// Age is the time since Start was called.
func (s *Sandbox) Age() time.Duration { return time.Since(s.began) }

// Client returns a client with the administrator's rights.
func (s *Sandbox) Client() *cluster.Client { return s.client }

// Kubeconfig returns the path of a kubeconfig, named by AdminKubeconfig or a Person.
func (s *Sandbox) Kubeconfig(name string) string { return s.folder.Path(name) }

// Done is closed when the sandbox has to end: a component died or somebody asked for it. Err then says why.
func (s *Sandbox) Done() <-chan struct{} { return s.ctx.Done() }

// Err is why the sandbox has to end: a *DiedError, or nil if somebody asked for it or it need not.
func (s *Sandbox) Err() error {
	if err := context.Cause(s.ctx); !errors.Is(err, errAsked) {
		return err
	}
	return nil
}

// Stop ends every component and removes the data; the logs stay. It blocks until no process is left, and may be
// called more than once.
func (s *Sandbox) Stop() error {
	s.stopOnce.Do(func() {
		s.cancel(errAsked) // keeps an earlier cause
		s.group.StopAll()
		s.watchers.Wait()
		if s.door != nil {
			s.door.Close()
		}
		if s.server != nil {
			s.stopErr = s.server.Close()
		}
		s.stopErr = errors.Join(s.stopErr, s.folder.Release())
	})
	return s.stopErr
}
