package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	ctrl "sigs.k8s.io/controller-runtime"
	_ "sigs.k8s.io/kueue/pkg/features" // registers Kueue's gates
	"sigs.k8s.io/kueue/pkg/util/routine"

	"cli.holdfast.dev/holdfast/model/manager"
)

// Kueue keeps its feature gates, the logger of its controllers and the way in
// which it starts goroutines in variables of the process. process guards them:
// one run at a time, and one set of gates for good.
var process struct {
	sync.Mutex
	ready bool
	gates string // the set, written out; only valid when ready
}

// ErrGates is returned where this process has run with other feature gates
// before. Another process can do it.
var ErrGates = errors.New("this process has computed previews with other feature gates")

// SetGates sets Kueue's feature gates for this process: the ones given over the
// defaults of the linked version. The first call decides; a call with another
// set later fails with ErrGates. A gate that the linked version does not know,
// or that it has locked, is an error and nothing is set.
func SetGates(gates map[string]bool) error {
	process.Lock()
	defer process.Unlock()
	return setGates(gates)
}

func setGates(gates map[string]bool) error {
	set := make([]string, 0, len(gates))
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		set = append(set, fmt.Sprintf("%s=%t", name, gates[name]))
	}
	text := strings.Join(set, ",")
	if process.ready {
		if process.gates != text {
			return fmt.Errorf("%w: %q, now %q", ErrGates, process.gates, text)
		}
		return nil
	}
	known := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	if err := known.SetFromMap(gates); err != nil {
		return fmt.Errorf("the feature gates cannot be set: %w", err)
	}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(gates); err != nil {
		return fmt.Errorf("the feature gates cannot be set: %w", err)
	}
	process.ready, process.gates = true, text
	ctrl.SetLogger(logr.Discard())           // else controller-runtime complains on standard error
	routine.DefaultWrapper = sameGoroutine{} // admissions are written before the cycle ends
	return nil
}

// sameGoroutine makes Kueue's scheduler write an admission in its own goroutine,
// so that what happens has one order and nothing is left running.
type sameGoroutine struct{}

// Run implements routine.Wrapper.
func (sameGoroutine) Run(f func()) { f() }

// Version is that of the Kueue whose code runs here.
const Version = manager.Linked
