package supervise

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// State is what a process does.
type State string

// The states of a component.
const (
	Running State = "running"
	Stopped State = "stopped" // suspended by SIGSTOP
	Dead    State = "dead"
)

// Status is a component's process as the kernel sees it now.
type Status struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	PID   int    `json:"pid"`
	RSS   int64  `json:"rssBytes"`
}

// Status lists the components in the order they were first started.
func (g *Group) Status() []Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]Status, 0, len(g.order))
	for _, name := range g.order {
		p := g.procs[name]
		s := Status{Name: name, State: Dead, PID: p.cmd.Process.Pid}
		if !p.ended() {
			s.State, s.RSS = look(s.PID)
		}
		out = append(out, s)
	}
	return out
}

// look reads a child's state and resident memory from /proc; one that cannot be read is gone.
func look(pid int) (State, int64) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Dead, 0
	}
	return parseStat(string(raw), int64(os.Getpagesize()))
}

// parseStat reads the third field (state) and the 24th (resident pages) of /proc/PID/stat. The second field, the name
// in brackets, may hold spaces and brackets itself, so fields are counted from its last bracket.
func parseStat(stat string, pageSize int64) (State, int64) {
	end := strings.LastIndexByte(stat, ')')
	if end < 0 {
		return Dead, 0
	}
	fields := strings.Fields(stat[end+1:])
	if len(fields) < 22 {
		return Dead, 0
	}
	pages, err := strconv.ParseInt(fields[21], 10, 64)
	if err != nil {
		return Dead, 0
	}
	switch fields[0] {
	case "T", "t":
		return Stopped, pages * pageSize
	case "Z", "X":
		return Dead, 0
	}
	return Running, pages * pageSize
}
