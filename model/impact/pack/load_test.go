package pack

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/kueue/apis/kueue/v1beta1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/convert"
	"cli.holdfast.dev/holdfast/model/impact/engine"
	"cli.holdfast.dev/holdfast/model/project"
	"cli.holdfast.dev/holdfast/model/store"
	"cli.holdfast.dev/holdfast/model/world"
)

// scheme makes the objects that the tests read.
func scheme(t testing.TB) *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1beta1.AddToScheme, kueue.AddToScheme, corev1.AddToScheme, nodev1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// load reads the objects of a file of YAML that a snapshot has rows of, as an API
// server of v1beta2 would give them.
func load(t testing.TB, path string) []runtime.Object {
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := scheme(t)
	var out []runtime.Object
	d := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(raw), 4096)
	for {
		var item json.RawMessage
		if err := d.Decode(&item); err == io.EOF {
			return out
		} else if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		var list struct{ Items []json.RawMessage }
		if json.Unmarshal(item, &list) != nil || list.Items == nil {
			list.Items = []json.RawMessage{item}
		}
		for _, x := range list.Items {
			if o := decode(t, s, x); o != nil {
				out = append(out, o)
			}
		}
	}
}

func decode(t testing.TB, s *runtime.Scheme, raw []byte) runtime.Object {
	var kind runtime.TypeMeta
	if err := json.Unmarshal(raw, &kind); err != nil {
		t.Fatal(err)
	}
	o, err := s.New(kind.GroupVersionKind())
	if err != nil {
		return nil
	}
	if err := json.Unmarshal(raw, o); err != nil {
		t.Fatal(err)
	}
	hub, err := convert.ToHub(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := project.Row(hub); err != nil {
		return nil // pods, events
	}
	return hub
}

// at is when the snapshots of the tests are made.
var at = time.Date(2026, 12, 2, 9, 0, 0, 0, time.UTC)

// snapshot makes one of the objects. Of the blind kinds nothing can be read.
func snapshot(t fataler, objects []runtime.Object, blind ...world.Kind) *store.Snapshot {
	s := store.New(testclock.NewFakePassiveClock(at))
	for _, k := range slices.Concat(world.WatchedKinds(), world.SideKinds()) {
		if !slices.Contains(blind, k) {
			s.SetFreshness(k, world.Freshness{Feed: world.Live, Synced: true})
		}
	}
	for _, o := range objects {
		row, err := project.Row(o)
		if err != nil {
			t.Fatal(err)
		}
		s.Put(row)
	}
	return s.Snapshot()
}

// throughPipe sends a World to another process and unpacks it there.
func throughPipe(t fataler, w *World) engine.Objects {
	raw, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	var back World
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	o, err := back.Objects()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// files are the recorded clusters of this repository.
func files(t testing.TB) []string {
	var out []string
	for _, pattern := range []string{"../../report/testdata/cases/*/input.yaml", "../../project/testdata/*.yaml"} {
		some, err := filepath.Glob(pattern)
		if err != nil || len(some) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(some), err)
		}
		out = append(out, some...)
	}
	return out
}

// of returns the objects of one type.
func of[T runtime.Object](objects []runtime.Object) []T {
	var out []T
	for _, o := range objects {
		if x, ok := o.(T); ok {
			out = append(out, x)
		}
	}
	return out
}
