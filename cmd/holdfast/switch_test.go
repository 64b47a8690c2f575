package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"cli.holdfast.dev/holdfast/cmd/holdfast/internal/seat"
)

// Going from one context to another again and again, on a real terminal, leaves no files
// and connections open: an incident has many clusters, and a console stays open for days.
func TestContextsAgainAndAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	var clusters, contexts string
	for _, name := range []string{"east", "west"} {
		c := newCluster(t)
		c.put(kueueAPI+"clusterqueues/queue-of-"+name, "ClusterQueue", map[string]any{"spec": map[string]any{}})
		clusters += fmt.Sprintf("- {name: %s, cluster: {server: %q}}\n", name, c.URL)
		contexts += fmt.Sprintf("- {name: %s, context: {cluster: %s, user: u}}\n", name, name)
	}
	config := "apiVersion: v1\nkind: Config\ncurrent-context: east\nclusters:\n" + clusters + "users: [{name: u, user: {token: t}}]\ncontexts:\n" + contexts
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s := seat.Sit(t, 120, 40, nil, holdfast(t), "--kubeconfig", path).Sees("help")
	files := func() int {
		all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.Cmd.Process.Pid))
		if err != nil {
			t.Skip(err)
		}
		return len(all)
	}
	rounds := func(n int) int {
		for range n {
			for _, name := range []string{"west", "east"} {
				s.Press(":").Sees("Go to").Press("context " + name).Sees("leave this cluster").Press("\r").Sees("holdfast " + name)
			}
		}
		return files()
	}
	// What a cluster is still asked for when it is left comes to its end by itself.
	first := rounds(4)
	rounds(8)
	s.Until("no more open files than before", func() bool { return files() <= first+4 })
	s.Press("3").Sees("queue-of-east").Press("q")
	if code := s.Ends(); code != 0 {
		t.Errorf("ended with %d", code)
	}
	s.Restored()
}
