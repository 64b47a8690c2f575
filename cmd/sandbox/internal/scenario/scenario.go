// Package scenario brings a running sandbox into prepared states, step by step, and makes sure that each is reached.
package scenario

import (
	"context"
	"fmt"
	"strings"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/cluster"
)

// Say tells one line of progress.
type Say func(format string, a ...any)

// Scenario is a state a sandbox can be brought into.
type Scenario struct {
	Name  string
	Short string // one line
	// Play brings the cluster into the state and blocks until it is reached. It may be played again: a cluster that
	// is in the state stays as it is, one that is not is reset first. The error names what was not reached.
	Play func(ctx context.Context, c *cluster.Client, say Say) error
}

// List returns all scenarios.
func List() []Scenario {
	return []Scenario{
		{"incident", "three teams share GPUs; a mistaken edit of team-b-cq sets off a burst of preemptions", playIncident},
		{"eve", "the same teams before that edit: everything runs, and nobody has lost anything to team-b yet", playEve},
		{"requests", "Jobs whose requests Kueue counts from more than what their containers request", playRequests},
	}
}

// Find returns the scenario of that name.
func Find(name string) (Scenario, error) {
	var names []string
	for _, s := range List() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Scenario{}, fmt.Errorf("no scenario %q; there is: %s", name, strings.Join(names, ", "))
}
