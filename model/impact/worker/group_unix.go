//go:build unix

package worker

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup puts the process to be started into a group of its own: Ctrl-C on the
// terminal is not for it.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends the process, which must not have been waited for, and all that it
// started. One that has ended already is fine.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

func killed(s *os.ProcessState) bool {
	w, ok := s.Sys().(syscall.WaitStatus)
	return ok && w.Signaled() && w.Signal() == syscall.SIGKILL
}
