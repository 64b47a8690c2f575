package manager

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	_ "sigs.k8s.io/kueue/pkg/features" // registers Kueue's gates

	"cli.holdfast.dev/holdfast/model/text"
)

// gates are Kueue's feature gates with those of the settings set, apart from
// those of this process.
func (s Settings) gates() featuregate.FeatureGate {
	g := utilfeature.DefaultMutableFeatureGate.DeepCopyAndReset()
	for name, on := range s.Config.FeatureGates {
		_ = g.SetFromMap(map[string]bool{name: on}) // withGates keeps only what can be set
	}
	return g
}

// withGates sets the gates, instead of those before, as far as the linked Kueue
// knows them and lets them be set; the others are named in Unknown.
func (s Settings) withGates(given map[string]bool, source string) Settings {
	s.Config.FeatureGates = nil
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if err := settable(name, given[name]); err != nil {
			s = s.doubt("%s: %v; what it does in the cluster is not part of a preview", source, err)
			continue
		}
		if s.Config.FeatureGates == nil {
			s.Config.FeatureGates = map[string]bool{}
		}
		s.Config.FeatureGates[name] = given[name]
	}
	return s
}

// settable is nil where the linked Kueue lets the gate be set so.
func settable(name string, on bool) error {
	g := utilfeature.DefaultMutableFeatureGate.DeepCopyAndReset()
	if _, ok := g.GetAll()[featuregate.Feature(name)]; !ok {
		return fmt.Errorf("feature gate %s is not known to Kueue %s", name, Linked)
	}
	if err := g.SetFromMap(map[string]bool{name: on}); err != nil {
		return fmt.Errorf("not so in Kueue %s: %w", Linked, err)
	}
	return nil
}

// WithFeatureGates is the settings with the gates set in addition to theirs: a
// person told so. given is what Kueue's --feature-gates takes, like "A=true,B=false".
// A gate that the linked Kueue does not know, or has locked, is an error.
func (s Settings) WithFeatureGates(given string) (Settings, error) {
	more, err := parseGates(given)
	if err != nil {
		return Settings{}, err
	}
	if len(more) == 0 {
		return s, nil
	}
	all := map[string]bool{}
	maps.Copy(all, s.Config.FeatureGates)
	for _, name := range slices.Sorted(maps.Keys(more)) {
		if err := settable(name, more[name]); err != nil {
			return Settings{}, fmt.Errorf("--feature-gates: %s", text.Clean(err.Error()))
		}
		all[name] = more[name]
	}
	s.Config.FeatureGates = all
	return s.assume("feature gates are set as you told: %s", written(more)), nil
}

// written is what parseGates reads, in order.
func written(gates map[string]bool) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		out = append(out, fmt.Sprintf("%s=%t", name, gates[name]))
	}
	return strings.Join(out, ",")
}

// parseGates reads what Kueue's --feature-gates takes
// (component-base/featuregate, Set).
func parseGates(given string) (map[string]bool, error) {
	out := map[string]bool{}
	for _, s := range strings.Split(given, ",") {
		if s == "" {
			continue
		}
		name, value, ok := strings.Cut(s, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		on, err := strconv.ParseBool(value)
		if !ok || err != nil {
			return nil, fmt.Errorf("feature gates are written NAME=true or NAME=false, joined with commas, not %q", text.Clean(s))
		}
		out[name] = on
	}
	return out, nil
}
