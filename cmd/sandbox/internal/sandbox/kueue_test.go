package sandbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
)

// The manager itself reads its configuration as strictly.
func TestManagerConfiguration(t *testing.T) {
	both := &configapi.FairSharing{PreemptionStrategies: []configapi.PreemptionStrategy{configapi.LessThanOrEqualToFinalShare, configapi.LessThanInitialShare}}
	for name, c := range map[string]struct {
		m     Manager
		fair  *configapi.FairSharing
		gates map[string]bool
	}{
		"as Kueue ships it": {Manager{}, nil, nil},
		"fair sharing":      {Manager{FairSharing: true}, both, nil},
		"feature gates":     {Manager{FeatureGates: map[string]bool{"B": false, "A": true}}, nil, map[string]bool{"A": true, "B": false}},
		"all":               {Manager{true, map[string]bool{"A": true}}, both, map[string]bool{"A": true}},
		"a hostile name":    {Manager{FeatureGates: map[string]bool{"A: true\nnamespace": true}}, nil, map[string]bool{"A: true\nnamespace": true}},
	} {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := configapi.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			var got configapi.Configuration
			text := c.m.configuration(newPorts([]int{1, 2, 3, 4, 5, 6, 7, 8}), `/certs "of" it`)
			if err := runtime.DecodeInto(serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDecoder(), []byte(text), &got); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if d := cmp.Diff(c.fair, got.FairSharing); d != "" {
				t.Errorf("fair sharing (-want +got):\n%s", d)
			}
			if d := cmp.Diff(c.gates, got.FeatureGates); d != "" {
				t.Errorf("feature gates (-want +got):\n%s", d)
			}
			if got.Webhook.CertDir != `/certs "of" it` || *got.Namespace != "kueue-system" {
				t.Errorf("certificates in %s, namespace %s", got.Webhook.CertDir, *got.Namespace)
			}
		})
	}
}
