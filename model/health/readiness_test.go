package health

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/model/world"
)

func TestReadiness(t *testing.T) {
	down := func(class, severity, part string) []said {
		return []said{{class, severity, "Kueue/" + part, 0, "escalate", admin}}
	}
	works := world.Contract{Server: "https://k8s.example.com", Asked: true, Probed: true, Controller: world.Ready, ConversionWebhook: world.Ready, Visibility: world.Ready}
	tests := map[string]struct {
		contract func(*world.Contract)
		want     []said
	}{
		"nobody was asked yet":               {func(c *world.Contract) { c.Asked, c.Controller = false, world.Unknown }, []said{}},
		"a file: nobody can be asked":        {func(c *world.Contract) { c.Server, c.Controller = "", world.Unknown }, []said{}},
		"all works":                          {func(*world.Contract) {}, []said{}},
		"the webhooks are not known to work": {func(c *world.Contract) { c.ConversionWebhook, c.Visibility = world.Unknown, world.Unknown }, []said{}},
		"nobody may look at the controller":  {func(c *world.Contract) { c.Controller = world.Unknown }, []said{{"readiness", "warning", "Kueue/controller", 0, "none", ""}}},
		"the controller does not work":       {func(c *world.Contract) { c.Controller = world.NotReady }, down("controller", "critical", "controller")},
		"nor the validating webhook":         {func(c *world.Contract) { c.ValidatingWebhook = world.NotReady }, down("webhook", "critical", "validatingWebhook")},
		"nor the conversion webhook":         {func(c *world.Contract) { c.ConversionWebhook = world.NotReady }, down("webhook", "critical", "conversionWebhook")},
		"nor the Visibility API":             {func(c *world.Contract) { c.Visibility = world.NotReady }, down("controller", "info", "visibility")},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sc := newScene().settle()
			sc.contract = works
			tc.contract(&sc.contract)
			if d := cmp.Diff(tc.want, sayings(Alerts(sc.input()))); d != "" {
				t.Errorf("alerts (-want +got):\n%s", d)
			}
		})
	}
}

func TestReadinessSaysWhatWasSeen(t *testing.T) {
	sc := newScene().settle()
	sc.contract = world.Contract{Server: "https://k8s.example.com", Asked: true, Controller: world.NotReady, ControllerDetail: "0 of 2 replicas are available"}
	if a := find(t, Alerts(sc.input()), Controller, "Kueue/controller"); !strings.HasSuffix(a.Explanation, " 0 of 2 replicas are available.") {
		t.Errorf("%q", a.Explanation)
	}
}

// A webhook that is down and the Workloads that met it are one alert.
func TestAWebhookAndThoseItStops(t *testing.T) {
	text := `Failed to admit workload: Internal error occurred: failed calling webhook "vworkload.kb.io": no endpoints available`
	sc := with(waits("a", 1, text), waits("b", 1, text)).settle()
	sc.contract = world.Contract{Server: "https://k8s.example.com", Asked: true, Controller: world.Ready, ValidatingWebhook: world.NotReady}
	want := []said{{"webhook", "critical", "Kueue/validatingWebhook", 2, "escalate", admin}}
	if d := cmp.Diff(want, sayings(Alerts(sc.input()))); d != "" {
		t.Errorf("alerts (-want +got):\n%s", d)
	}
}
