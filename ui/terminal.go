package ui

import (
	"io"
	"os"
	"os/exec"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/ui/term"
)

// without is what is done while the terminal is not the console's. It implements
// tea.ExecCommand.
type without struct{ do func() error }

// Run does it.
func (w without) Run() error { return w.do() }

// SetStdin is not needed.
func (without) SetStdin(io.Reader) {}

// SetStdout is not needed.
func (without) SetStdout(io.Writer) {}

// SetStderr is not needed.
func (without) SetStderr(io.Writer) {}

// editorOn gives an editor the terminal itself: through the output's guard it
// would get a pipe.
func editorOn(in io.Reader, out *term.Output, jobs *term.Jobs) runner {
	return func(c *exec.Cmd, done func(error) tea.Msg) tea.Cmd {
		if f, ok := in.(*os.File); ok && c.Stdin == nil {
			c.Stdin = f
		}
		if f := out.File(); f != nil {
			if c.Stdout == nil {
				c.Stdout = f
			}
			if c.Stderr == nil {
				c.Stderr = f
			}
		}
		return tea.Exec(without{func() error { return jobs.Lend(c.Run) }}, func(err error) tea.Msg { return regainedMsg{done(err)} })
	}
}
