package chain

import (
	"sort"

	"cli.holdfast.dev/holdfast/model/world"
)

func newest(ws []*world.Workload) *world.Workload {
	best := ws[0]
	for _, w := range ws[1:] {
		if w.Created.After(best.Created) {
			best = w
		}
	}
	return best
}

func sortLatest(ls []Link) {
	sort.SliceStable(ls, func(i, j int) bool {
		if !ls[i].At.Equal(ls[j].At) {
			return ls[i].At.After(ls[j].At)
		}
		return ls[i].Victim.Key.Less(ls[j].Victim.Key)
	})
}
