package engine

import (
	"fmt"
	"testing"
)

// BenchmarkLoad is what it takes Kueue's caches and queues to know the objects.
func BenchmarkLoad(b *testing.B) {
	if err := SetGates(nil); err != nil {
		b.Fatal(err)
	}
	for _, size := range []struct{ queues, workloads int }{{100, 5_000}, {1_000, 50_000}} {
		s := bigScene(size.queues, size.workloads)
		b.Run(fmt.Sprintf("%d queues, %d Workloads", size.queues, size.workloads), func(b *testing.B) {
			for b.Loop() {
				p := assemble(newShelf(s.Objects), Options{At: noon}, byCache)
				if err := p.load(s.Objects); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
