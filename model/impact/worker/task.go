// Package worker runs previews: in this process, or in a child process that
// contains whatever Kueue's code may do (hang, panic, overflow its stack, run out
// of memory) and that can have feature gates of its own.
package worker

import (
	"encoding/json"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/impact/engine"
	"cli.holdfast.dev/holdfast/model/impact/pack"
	"cli.holdfast.dev/holdfast/model/world"
)

// Task is what one preview computes: the same edits in each of the modes.
type Task struct {
	World *pack.World
	Edits []Edit
	// Config is the manager's (package manager).
	Config configapi.Configuration
	// At is when the state was read.
	At    time.Time
	Modes []engine.Mode
	// MostCycles is as in engine.Options.
	MostCycles int
}

// Edit is one change of an object of the kind: Old is nil where it is made, New
// where it is deleted. Its JSON has both objects, of version v1beta2.
type Edit struct {
	Kind     world.Kind
	Old, New client.Object
}

// blank returns a new object of the kind, of those that can be edited in a preview
// (engine.Change), and nil for others.
func blank(k world.Kind) client.Object {
	switch k {
	case world.KindClusterQueue:
		return &kueue.ClusterQueue{}
	case world.KindLocalQueue:
		return &kueue.LocalQueue{}
	case world.KindCohort:
		return &kueue.Cohort{}
	case world.KindResourceFlavor:
		return &kueue.ResourceFlavor{}
	case world.KindAdmissionCheck:
		return &kueue.AdmissionCheck{}
	case world.KindWorkload:
		return &kueue.Workload{}
	}
	return nil
}

// UnmarshalJSON reads both objects as the kind says.
func (e *Edit) UnmarshalJSON(raw []byte) error {
	var in struct {
		Kind     world.Kind
		Old, New json.RawMessage
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return err
	}
	if blank(in.Kind) == nil {
		return fmt.Errorf("a preview cannot change a %s", in.Kind)
	}
	*e = Edit{Kind: in.Kind}
	for _, side := range []struct {
		raw json.RawMessage
		to  *client.Object
	}{{in.Old, &e.Old}, {in.New, &e.New}} {
		if side.raw == nil || string(side.raw) == "null" {
			continue
		}
		o := blank(in.Kind)
		if err := json.Unmarshal(side.raw, o); err != nil {
			return fmt.Errorf("an edited %s is not readable: %w", in.Kind, err)
		}
		*side.to = o
	}
	return nil
}

func (t Task) changes() []engine.Change {
	out := make([]engine.Change, len(t.Edits))
	for i, e := range t.Edits {
		out[i] = engine.Change{Old: e.Old, New: e.New}
	}
	return out
}
