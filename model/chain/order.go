package chain

import (
	"sort"

	"cli.holdfast.dev/holdfast/model/world"
)

// newest returns the Workload that was made last, except the given one; nil for
// none.
func newest(ws []*world.Workload, except *world.Workload) *world.Workload {
	var best *world.Workload
	for _, w := range ws {
		switch {
		case w == except:
		case best == nil, w.Created.After(best.Created), w.Created.Equal(best.Created) && w.Key.Less(best.Key):
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
