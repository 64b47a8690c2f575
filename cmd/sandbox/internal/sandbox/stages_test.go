package sandbox

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestStages(t *testing.T) {
	text, err := stages()
	if err != nil {
		t.Fatal(err)
	}
	delays := map[string]string{}
	for _, doc := range strings.Split(text, "\n---\n") {
		var s struct {
			Kind     string
			Metadata struct{ Name string }
			Spec     struct {
				Delay struct {
					DurationFrom struct{ ExpressionFrom string }
				}
			}
		}
		if err := yaml.Unmarshal([]byte(doc), &s); err != nil || s.Kind != "Stage" {
			t.Fatalf("%v, a %q in:\n%s", err, s.Kind, doc)
		}
		delays[s.Metadata.Name] = s.Spec.Delay.DurationFrom.ExpressionFrom
	}
	for _, name := range []string{"node-initialize", "node-heartbeat-with-lease", "pod-ready", "pod-delete"} {
		if d, ok := delays[name]; !ok || d != "" {
			t.Errorf("stage %s: there %v, delay from %q", name, ok, d)
		}
	}
	if got, want := delays["pod-complete"], `.metadata.annotations["pod-complete.stage.kwok.x-k8s.io/delay"]`; got != want {
		t.Errorf("a Job's pod ends after %q, want %q", got, want)
	}
}
