package health

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/model/world"
)

func TestReadiness(t *testing.T) {
	tests := map[string]struct {
		contract world.Contract
		want     []said
	}{
		"a file: nobody was asked": {world.Contract{}, []said{}},
		"all works":                {world.Contract{Asked: true, Controller: world.Ready}, []said{}},
		"the controller does not":  {world.Contract{Asked: true, Controller: world.NotReady}, []said{{"controller", "critical", "Kueue/controller", 0, "escalate", admin}}},
		"nobody may look at it":    {world.Contract{Asked: true}, []said{{"readiness", "warning", "Kueue/controller", 0, "none", ""}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sc := newScene().settle()
			sc.contract = tc.contract
			if d := cmp.Diff(tc.want, sayings(Alerts(sc.input()))); d != "" {
				t.Errorf("alerts (-want +got):\n%s", d)
			}
		})
	}
}

func TestReadinessSaysWhatWasSeen(t *testing.T) {
	sc := newScene().settle()
	sc.contract = world.Contract{Asked: true, Controller: world.NotReady, ControllerDetail: "0 of 2 replicas are available"}
	if a := find(t, Alerts(sc.input()), Controller, "Kueue/controller"); !strings.HasSuffix(a.Explanation, " 0 of 2 replicas are available") {
		t.Errorf("%q", a.Explanation)
	}
}
