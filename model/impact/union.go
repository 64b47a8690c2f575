package impact

// union gathers what several timings say: every item once, with the number of
// timings that have it. K is what makes two items the same.
type union[K comparable, V any] struct {
	at    map[K]int
	items []V
	times []int
}

func newUnion[K comparable, V any]() *union[K, V] { return &union[K, V]{at: map[K]int{}} }

// add counts one timing for each of the keys, however often it is among them.
// make gives the item of a key that is new.
func (u *union[K, V]) add(keys []K, item func(K) V) {
	counted := make(map[K]bool, len(keys))
	for _, k := range keys {
		if counted[k] {
			continue
		}
		counted[k] = true
		i, ok := u.at[k]
		if !ok {
			i = len(u.items)
			u.at[k] = i
			u.items = append(u.items, item(k))
			u.times = append(u.times, 0)
		}
		u.times[i]++
	}
}

// of is the item of a key that was added.
func (u *union[K, V]) of(k K) *V { return &u.items[u.at[k]] }

// all returns the items, each after settle was told whether all of n timings have
// it.
func (u *union[K, V]) all(n int, settle func(item *V, inAll bool)) []V {
	for i := range u.items {
		settle(&u.items[i], u.times[i] == n)
	}
	return u.items
}
