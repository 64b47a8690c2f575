package manager

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	configv1beta1 "sigs.k8s.io/kueue/apis/config/v1beta1"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	"sigs.k8s.io/yaml"

	"cli.holdfast.dev/holdfast/model/text"
)

// ConfigKey is the key of a ConfigMap under which Kueue's own manifests keep the
// configuration.
const ConfigKey = "controller_manager_config.yaml"

// Parse reads a Configuration of config.kueue.x-k8s.io, v1beta2 or v1beta1, as
// YAML or JSON, and fills in defaults as Kueue does. A ConfigMap that holds one
// under ConfigKey does as well. source says where it comes from and begins every
// error. What the linked Kueue does not know, fields and feature gates, is left
// out and named in Unknown: the manager may be of another version. An error means
// that nothing of it can be used.
func Parse(raw []byte, source string) (Settings, error) {
	source = text.Clean(source)
	s := Settings{Source: source, Told: true}
	cfg, unknown, err := decode(unwrap(raw))
	if err == nil {
		err = check(cfg)
	}
	if err != nil {
		return Settings{}, fmt.Errorf("%s: %s", source, text.Clean(err.Error()))
	}
	for _, field := range unknown {
		s = s.doubt("%s: %s: Kueue %s would not start with it, and a preview leaves it out", source, field, Linked)
	}
	if cfg.MultiKueue != nil {
		cfg.MultiKueue.ClusterProfile = nil // commands and their environment
	}
	given := cfg.FeatureGates
	cfg.FeatureGates = nil
	s.Config = *cfg
	return s.withGates(given, source), nil
}

// decode does what Kueue does with its file (pkg/config.Load), but for what
// Kueue does not know, which it returns beside the rest.
func decode(raw []byte) (cfg *configapi.Configuration, unknown []string, err error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(configapi.AddToScheme(scheme), configv1beta1.AddToScheme(scheme)); err != nil {
		return nil, nil, err
	}
	obj, gvk, err := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Yaml: true, Strict: true}).Decode(raw, nil, nil)
	if strict, ok := runtime.AsStrictDecodingError(err); ok && obj != nil {
		for _, e := range strict.Errors() {
			unknown = append(unknown, e.Error())
		}
		if !slices.ContainsFunc(unknown, func(e string) bool { return !strings.HasPrefix(e, "unknown field ") }) {
			err = nil // others are keys that are there twice
		}
	}
	switch {
	case gvk != nil && runtime.IsNotRegisteredError(err):
		return nil, nil, unfit(*gvk)
	case runtime.IsMissingKind(err):
		return nil, nil, errors.New("it names no kind: a Configuration of " + configapi.SchemeGroupVersion.String() + " is expected")
	case runtime.IsMissingVersion(err):
		return nil, nil, errors.New("it names no apiVersion: " + configapi.SchemeGroupVersion.String() + " is expected")
	case err != nil:
		return nil, nil, fmt.Errorf("it is not readable: %w", err)
	}
	cfg = &configapi.Configuration{}
	switch o := obj.(type) {
	case *configapi.Configuration:
		cfg = o
		setNamespace(&cfg.Namespace)
		scheme.Default(cfg)
	case *configv1beta1.Configuration:
		setNamespace(&o.Namespace)
		scheme.Default(o)
		// Not defaulted again: what v1beta1 leaves off stays off.
		if err := scheme.Convert(o, cfg, nil); err != nil {
			return nil, nil, fmt.Errorf("it cannot be converted: %w", err)
		}
		cfg.SetGroupVersionKind(configapi.SchemeGroupVersion.WithKind("Configuration"))
	default:
		return nil, nil, unfit(*gvk)
	}
	return cfg, unknown, nil
}

// unfit says what a document is that is no Configuration.
func unfit(gvk schema.GroupVersionKind) error {
	if gvk.Group == configapi.SchemeGroupVersion.Group && gvk.Kind == "Configuration" {
		return fmt.Errorf("its version %s is not known: Kueue %s, which is linked, knows %s and %s", gvk.Version, Linked, configapi.SchemeGroupVersion.Version, configv1beta1.SchemeGroupVersion.Version)
	}
	return fmt.Errorf("it is a %s of %s: a Configuration of %s is expected", gvk.Kind, gvk.GroupVersion(), configapi.SchemeGroupVersion)
}

// setNamespace sets Kueue's default where none is given: its own defaulting would
// look for the namespace of the pod that this program runs in.
func setNamespace(at **string) {
	if *at == nil {
		*at = new(configapi.DefaultNamespace)
	}
}

// unwrap returns what a ConfigMap holds under ConfigKey, and anything else as it
// is.
func unwrap(raw []byte) []byte {
	var m struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Data       map[string]string `json:"data"`
	}
	if err := yaml.Unmarshal(raw, &m); err == nil && m.APIVersion == "v1" && m.Kind == "ConfigMap" {
		if inner, ok := m.Data[ConfigKey]; ok {
			return []byte(inner)
		}
	}
	return raw
}

// check refuses what Kueue would refuse to start with, of what bears on its
// scheduler (pkg/config/validation.go).
func check(c *configapi.Configuration) error {
	var errs []error
	refuse := func(format string, a ...any) { errs = append(errs, fmt.Errorf(format, a...)) }
	const final, initial = configapi.LessThanOrEqualToFinalShare, configapi.LessThanInitialShare
	if f := c.FairSharing; f != nil {
		fits := func(s ...configapi.PreemptionStrategy) bool { return slices.Equal(f.PreemptionStrategies, s) }
		switch {
		case len(f.PreemptionStrategies) == 0:
			refuse("fairSharing.preemptionStrategies is empty")
		case !fits(final) && !fits(initial) && !fits(final, initial):
			refuse("fairSharing.preemptionStrategies may be %s, %s, or both in this order, not %q", final, initial, f.PreemptionStrategies)
		}
	}
	if a := c.AdmissionFairSharing; a != nil {
		if a.UsageHalfLifeTime.Duration < 0 {
			refuse("admissionFairSharing.usageHalfLifeTime is negative")
		}
		if a.UsageSamplingInterval.Duration <= 0 {
			refuse("admissionFairSharing.usageSamplingInterval is not above zero")
		}
		for name, weight := range a.ResourceWeights {
			if weight < 0 {
				refuse("admissionFairSharing.resourceWeights: %s has a negative weight", name)
			}
		}
	}
	if w := c.WaitForPodsReady; w != nil && w.RequeuingStrategy != nil {
		if t := w.RequeuingStrategy.Timestamp; t != nil && *t != configapi.CreationTimestamp && *t != configapi.EvictionTimestamp {
			refuse("waitForPodsReady.requeuingStrategy.timestamp may be %s or %s, not %q", configapi.CreationTimestamp, configapi.EvictionTimestamp, *t)
		}
	}
	if r := c.Resources; r != nil {
		if q := r.QuotaCheckStrategy; q != nil {
			switch {
			case *q != configapi.QuotaCheckBlockUndeclared && *q != configapi.QuotaCheckIgnoreUndeclared:
				refuse("resources.quotaCheckStrategy may be %s or %s, not %q", configapi.QuotaCheckBlockUndeclared, configapi.QuotaCheckIgnoreUndeclared, *q)
			case *q == configapi.QuotaCheckIgnoreUndeclared && len(r.ExcludeResourcePrefixes) > 0:
				refuse("resources.excludeResourcePrefixes does not go with quotaCheckStrategy %s", *q)
			}
		}
		seen := map[string]bool{}
		for _, t := range r.Transformations {
			if t.Strategy == nil || *t.Strategy != configapi.Retain && *t.Strategy != configapi.Replace {
				refuse("resources.transformations: the strategy for %s may be %s or %s", t.Input, configapi.Retain, configapi.Replace)
			}
			if seen[string(t.Input)] {
				refuse("resources.transformations: %s is transformed twice", t.Input)
			}
			seen[string(t.Input)] = true
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("with it Kueue %s would not start: %w", Linked, errors.Join(errs...))
	}
	return nil
}
