package live

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// sink is what a reflector writes into: it projects each object to its row and
// keeps nothing else. It implements cache.ReflectorStore, ReflectorBookmarkStore
// and TransformingStore.
type sink struct {
	kind  world.Kind
	store *store.Store
	feed  *feed
	clock clock.PassiveClock
	log   func(string)
	have  map[world.Key]bool // keys in the store; only the reflector's goroutine uses it
}

// projected is a row on its way through the reflector's temporary store, which
// wants to read the name of what it holds.
type projected struct {
	*metav1.ObjectMeta
	row any
}

// Transformer projects the objects of a streamed list as they arrive, so that a
// list of any size never exists in full. It may see its own result again.
func (s *sink) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) {
		if p, ok := obj.(*projected); ok {
			return p, nil
		}
		s.feed.streaming(s.clock.Now())
		return s.project(obj)
	}
}

func (s *sink) project(obj any) (*projected, error) {
	if p, ok := obj.(*projected); ok {
		return p, nil
	}
	o, ok := obj.(runtime.Object)
	if !ok {
		return nil, fmt.Errorf("the watch of %s brought a %T", s.kind, obj)
	}
	m, err := meta.Accessor(o)
	if err != nil {
		return nil, fmt.Errorf("the watch of %s brought an object without metadata: %w", s.kind, err)
	}
	r, err := row(o)
	if err != nil {
		s.log(fmt.Sprintf("%s %s/%s cannot be shown: %v", s.kind, m.GetNamespace(), m.GetName(), err))
		return nil, err
	}
	return &projected{&metav1.ObjectMeta{Namespace: m.GetNamespace(), Name: m.GetName()}, r}, nil
}

func keyOf(row any) world.Key { return row.(interface{ GetKey() world.Key }).GetKey() }

// Add stores an object that came.
func (s *sink) Add(obj any) error { return s.upsert(obj) }

// Update stores an object that changed.
func (s *sink) Update(obj any) error { return s.upsert(obj) }

func (s *sink) upsert(obj any) error {
	p, err := s.project(obj)
	if err != nil {
		return err
	}
	delta := 0
	if k := keyOf(p.row); !s.have[k] {
		s.have[k] = true
		delta = 1
	}
	s.store.Put(p.row)
	s.feed.changed(s.clock.Now(), delta)
	return nil
}

// Delete removes an object that went.
func (s *sink) Delete(obj any) error {
	// By its name alone: one that cannot be projected must go, too.
	m, err := meta.Accessor(obj)
	if err != nil {
		return fmt.Errorf("the watch of %s brought the end of an object without metadata: %w", s.kind, err)
	}
	k := world.Key{Namespace: text.Clean(m.GetNamespace()), Name: text.Clean(m.GetName())}
	delta := 0
	if s.have[k] {
		delete(s.have, k)
		delta = -1
	}
	s.store.Delete(s.kind, k)
	s.feed.changed(s.clock.Now(), delta)
	return nil
}

// Replace stores a complete list.
func (s *sink) Replace(list []any, _ string) error {
	rows := make([]any, 0, len(list))
	clear(s.have)
	for _, obj := range list {
		p, err := s.project(obj)
		if err != nil {
			continue // logged; one broken object must not hide the others
		}
		s.have[keyOf(p.row)] = true
		rows = append(rows, p.row)
	}
	s.store.Replace(s.kind, rows)
	s.feed.listed(s.clock.Now(), len(rows))
	return nil
}

// Bookmark notes that the watch is alive.
func (s *sink) Bookmark(string) error {
	s.feed.answered(s.clock.Now())
	return nil
}

// Resync has nothing to do: there is no queue behind this store.
func (s *sink) Resync() error { return nil }
