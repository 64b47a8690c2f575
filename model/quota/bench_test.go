package quota

import (
	"fmt"
	"testing"

	"cli.holdfast.dev/holdfast/model/world"
)

// large is a cluster of the size that Kueue's own large-scale test has, with the
// cells of four flavors and four resources: 1,000 ClusterQueues below 100
// Cohorts in three levels, every queue in use and every other one borrowing.
func large() ([]*world.ClusterQueue, []*world.Cohort, func(string) []Usage) {
	var quotas []world.Quota
	for f := range 4 {
		for _, r := range []string{"cpu", "memory", "nvidia.com/gpu", "ephemeral-storage"} {
			lend := world.Amount(60)
			quotas = append(quotas, world.Quota{FlavorResource: world.FlavorResource{Flavor: fmt.Sprint("flavor-", f), Resource: r}, Nominal: 100, LendingLimit: &lend})
		}
	}
	var cohorts []*world.Cohort
	for i := range 100 {
		parent := ""
		switch {
		case i >= 10:
			parent = fmt.Sprint("cohort-", i%10)
		case i > 0:
			parent = "cohort-0"
		}
		cohorts = append(cohorts, group(fmt.Sprint("cohort-", i), parent, quotas))
	}
	var queues []*world.ClusterQueue
	use := map[string][]Usage{}
	for i := range 1000 {
		q := queue(fmt.Sprint("queue-", i), fmt.Sprint("cohort-", i%100), quotas)
		queues = append(queues, q)
		for _, x := range quotas {
			u := Usage{FlavorResource: x.FlavorResource, Reserved: 90, Admitted: 90}
			if i%2 == 0 {
				u.Reserved = 110
			}
			use[q.Name] = append(use[q.Name], u)
		}
	}
	return queues, cohorts, func(q string) []Usage { return use[q] }
}

func BenchmarkBuild(b *testing.B) {
	queues, cohorts, use := large()
	b.ReportAllocs()
	for b.Loop() {
		Build(queues, cohorts, use)
	}
}

// BenchmarkLenders asks for the lenders of every cell that is borrowed.
func BenchmarkLenders(b *testing.B) {
	queues, cohorts, use := large()
	one := make([]*world.ClusterQueue, 0, len(queues))
	for _, q := range queues {
		one = append(one, queue(q.Name, "cohort-0", q.Quotas))
	}
	for name, in := range map[string][]*world.ClusterQueue{"100 cohorts": queues, "one cohort": one} {
		tree := Build(in, cohorts, use)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, q := range in {
					n := tree.ClusterQueue(q.Name)
					for i := range n.Cells {
						n.Lenders(n.Cells[i].FlavorResource)
					}
				}
			}
		})
	}
}
