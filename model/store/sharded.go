package store

import (
	"hash/maphash"
	"maps"

	"k8s.io/apimachinery/pkg/types"
)

// shards bounds the copying after a change: a map of n entries is split into so
// many parts, and only the parts that changed are copied for the next snapshot.
const shards = 512

// sharded is a map by UID that a snapshot can keep while its successor changes:
// a part is copied before the first write after it was published.
type sharded[V any] struct {
	part [shards]map[types.UID]V
}

var shardSeed = maphash.MakeSeed()

func shardOf(uid types.UID) int {
	return int(maphash.String(shardSeed, string(uid)) % shards)
}

func (m *sharded[V]) get(uid types.UID) V { return m.part[shardOf(uid)][uid] }

// sharedMap is the writer's side of a sharded map.
type sharedMap[V any] struct {
	now   sharded[V]
	owned [shards]bool // the part was copied since the last publish
}

func (m *sharedMap[V]) own(i int) {
	if !m.owned[i] {
		m.now.part[i] = maps.Clone(m.now.part[i])
		if m.now.part[i] == nil {
			m.now.part[i] = map[types.UID]V{}
		}
		m.owned[i] = true
	}
}

func (m *sharedMap[V]) get(uid types.UID) V { return m.now.get(uid) }

func (m *sharedMap[V]) set(uid types.UID, v V) {
	i := shardOf(uid)
	m.own(i)
	m.now.part[i][uid] = v
}

func (m *sharedMap[V]) remove(uid types.UID) {
	i := shardOf(uid)
	m.own(i)
	delete(m.now.part[i], uid)
}

// publish returns the map as it is now; later writes do not change it.
func (m *sharedMap[V]) publish() sharded[V] {
	m.owned = [shards]bool{}
	return m.now
}
