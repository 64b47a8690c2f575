// Package supervise runs the components of a sandbox as child processes: one process each, so that one can be stopped,
// continued, killed and started anew alone, and none outlives this process.
package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

// grace is how long a process may take to end after SIGTERM before it is killed.
const grace = 5 * time.Second

// Spec says how to run a component.
type Spec struct {
	Name    string
	Program string // absolute path
	Args    []string
	Dir     string   // working directory
	LogFile string   // standard output and error are appended to it
	Env     []string // the whole environment: a person's own variables (ETCD_..., KUBECONFIG) must not reach it
	// Stage orders the end: StopAll ends the highest stage first and waits for it before the next.
	Stage int
}

// Exit is an end that nobody asked for.
type Exit struct {
	Name, LogFile string
	Why           string
	// Suspended is true if the process had been suspended before: one that was away for long may rightly give up.
	Suspended bool
}

// Group is a set of child processes. Its methods may be called from several goroutines.
type Group struct {
	spawn chan func()
	exits chan Exit

	mu     sync.Mutex
	order  []string
	procs  map[string]*process
	ending bool
}

type process struct {
	spec      Spec
	cmd       *exec.Cmd
	done      chan struct{} // closed after the process was waited for
	expected  bool          // its end was asked for
	suspended bool          // it was suspended at some time
}

// NewGroup returns an empty group. Its children get SIGKILL from the kernel when this process ends in any way.
func NewGroup() *Group {
	g := &Group{spawn: make(chan func()), exits: make(chan Exit, 64), procs: map[string]*process{}}
	go spawner(g.spawn)
	return g
}

// Exits delivers the ends nobody asked for.
func (g *Group) Exits() <-chan Exit { return g.exits }

// Start runs a component and returns once its process exists. It fails if one of that name still runs.
func (g *Group) Start(spec Spec) error {
	log, err := os.OpenFile(spec.LogFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the child has its own descriptor

	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ending {
		return fmt.Errorf("%s not started: everything is being stopped", spec.Name)
	}
	if p := g.procs[spec.Name]; p != nil && !p.ended() {
		return fmt.Errorf("%s runs already as pid %d", spec.Name, p.cmd.Process.Pid)
	}
	cmd := exec.Command(spec.Program, spec.Args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = spec.Dir, log, log
	cmd.Env = append([]string{}, spec.Env...)
	// A process group of its own keeps the terminal's Ctrl-C away from it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	started := make(chan error)
	g.spawn <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return fmt.Errorf("start %s: %w", spec.Name, err)
	}
	p := &process{spec: spec, cmd: cmd, done: make(chan struct{})}
	if _, known := g.procs[spec.Name]; !known {
		g.order = append(g.order, spec.Name)
	}
	g.procs[spec.Name] = p
	go g.wait(p)
	return nil
}

func (g *Group) wait(p *process) {
	_ = p.cmd.Wait() // told by ProcessState below
	g.mu.Lock()
	defer g.mu.Unlock()
	close(p.done)
	if p.expected {
		return
	}
	g.exits <- Exit{Name: p.spec.Name, LogFile: p.spec.LogFile, Why: p.cmd.ProcessState.String(), Suspended: p.suspended}
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Suspend stops a component where it is (SIGSTOP): it keeps its memory and connections and answers nothing.
func (g *Group) Suspend(name string) error {
	return g.signal(name, syscall.SIGSTOP, func(p *process) { p.suspended = true })
}

// Resume lets a suspended component go on (SIGCONT).
func (g *Group) Resume(name string) error {
	return g.signal(name, syscall.SIGCONT, func(*process) {})
}

func (g *Group) signal(name string, sig syscall.Signal, note func(*process)) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.procs[name]
	if p == nil || p.ended() {
		return fmt.Errorf("%s does not run", name)
	}
	note(p)
	return p.cmd.Process.Signal(sig)
}

// Kill ends a component at once (SIGKILL), as a crash would, and returns when its process is gone. It stays dead until
// Restart.
func (g *Group) Kill(name string) error {
	g.mu.Lock()
	p := g.procs[name]
	if p == nil || p.ended() {
		g.mu.Unlock()
		return fmt.Errorf("%s does not run", name)
	}
	p.expected = true
	g.mu.Unlock()
	err := p.cmd.Process.Kill()
	<-p.done
	return err
}

// Restart ends a component, running, suspended or dead, and starts it again in the same way. It returns once the new
// process exists; it does not wait until it is ready.
func (g *Group) Restart(name string) error {
	g.mu.Lock()
	p := g.procs[name]
	if p != nil {
		p.expected = true
	}
	g.mu.Unlock()
	if p == nil {
		return fmt.Errorf("%s was never started", name)
	}
	p.end()
	return g.Start(p.spec)
}

// end terminates the process and waits for it; it kills it after the grace. A suspended process cannot act on
// SIGTERM, so it is continued at once.
func (p *process) end() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // an error means that it is gone
	_ = p.cmd.Process.Signal(syscall.SIGCONT)
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	select {
	case <-p.done:
	case <-ctx.Done():
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// StopAll ends every component, stage by stage, and returns when no process is left. Nothing can be started after.
func (g *Group) StopAll() {
	g.mu.Lock()
	first := !g.ending
	g.ending = true
	stages := map[int][]*process{}
	for _, p := range g.procs {
		p.expected = true
		stages[p.spec.Stage] = append(stages[p.spec.Stage], p)
	}
	g.mu.Unlock()

	var numbers []int
	for n := range stages {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	slices.Reverse(numbers)
	for _, n := range numbers {
		var wg sync.WaitGroup
		for _, p := range stages[n] {
			wg.Go(p.end)
		}
		wg.Wait()
	}
	if first {
		close(g.spawn) // nothing starts any more, and no child is left that the thread's end could kill
	}
}

// LogTail returns about the last n bytes of a log, from the start of a line.
func LogTail(path string, n int64) (string, error) {
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	from := max(info.Size()-n, 0)
	buf := make([]byte, info.Size()-from)
	read, err := f.ReadAt(buf, from)
	if read == 0 && err != nil && info.Size() > 0 {
		return "", errors.Join(fmt.Errorf("read the end of %s", path), err)
	}
	buf = buf[:read]
	if from > 0 {
		if i := slices.Index(buf, '\n'); i >= 0 {
			buf = buf[i+1:]
		}
	}
	return string(buf), nil
}
