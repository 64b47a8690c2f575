package scenario

import (
	"bytes"
	"context"
	"embed"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/cluster"
)

//go:embed requests/*.yaml
var requestsFiles embed.FS

// countedJob is a Job, of the manifest of its name, and what Kueue counts for all pods of it.
type countedJob struct {
	job
	requests map[corev1.ResourceName]string
}

// requestsJobs are the Jobs of the scenario. What is counted is reckoned by hand from their manifests.
func requestsJobs() []countedJob {
	const plain, limited = "requests", "requests-limited"
	return []countedJob{
		// The LimitRange's defaultRequest.
		{job{namespace: limited, name: "limitrange"}, map[corev1.ResourceName]string{"cpu": "500m", "memory": "256Mi"}},
		// 1 + 250m; 1Gi + 160Mi.
		{job{namespace: plain, name: "overhead"}, map[corev1.ResourceName]string{"cpu": "1250m", "memory": "1184Mi"}},
		// fetch alone: 3; unpack beside proxy: 2Gi + 128Mi.
		{job{namespace: plain, name: "init-containers"}, map[corev1.ResourceName]string{"cpu": "3", "memory": "2176Mi"}},
		// Its limits.
		{job{namespace: plain, name: "limits-only"}, map[corev1.ResourceName]string{"cpu": "2", "memory": "3Gi"}},
		// Twice: 3 of fetch + 250m; 256Mi of main beside 256Mi of proxy, as much as fetch, + 160Mi; the limit of main.
		{job{namespace: limited, name: "all"}, map[corev1.ResourceName]string{"cpu": "6500m", "memory": "1344Mi", "ephemeral-storage": "20Gi"}},
	}
}

// counted: the Job waits for more than there can ever be, and Kueue publishes that it counts so much for it.
func counted(j countedJob) goal {
	return all(waits(j.job, "maximum capacity"), onWorkload(j.job, func(_ world, wl kueue.Workload) error {
		if len(wl.Status.ResourceRequests) != 1 {
			return fmt.Errorf("it has %d counted requests, want those of one pod set", len(wl.Status.ResourceRequests))
		}
		got := wl.Status.ResourceRequests[0].Resources
		if len(got) != len(j.requests) {
			return fmt.Errorf("counted are %v, want %v", got, j.requests)
		}
		for name, want := range j.requests {
			if q := got[name]; q.Cmp(resource.MustParse(want)) != 0 {
				return fmt.Errorf("counted are %s of %s, want %s", q.String(), name, want)
			}
		}
		return nil
	}))
}

func requestsEnd() goal {
	var goals []goal
	for _, j := range requestsJobs() {
		goals = append(goals, counted(j))
	}
	return all(goals...)
}

func playRequests(ctx context.Context, c *cluster.Client, say Say) error {
	p, err := newPlayer(c, say)
	if err != nil {
		return err
	}
	if p.isAlready(ctx, requestsEnd()) {
		say("the Jobs are there already; nothing to do")
		return nil
	}
	if err := p.clear(ctx, []string{"requests", "requests-limited"}); err != nil {
		return err
	}
	// The world first: without its LimitRange the first Job asks for nothing, and starts.
	files := []string{"world"}
	for _, j := range requestsJobs() {
		files = append(files, j.name)
	}
	for _, f := range files {
		yaml, err := requestsFiles.ReadFile("requests/" + f + ".yaml")
		if err != nil {
			return err
		}
		if err := p.apply(ctx, platformAdmin, bytes.NewReader(yaml)); err != nil {
			return err
		}
	}
	return p.reach(ctx, "five Jobs wait, and Kueue says how much it counts for each (status.resourceRequests)", requestsEnd())
}
