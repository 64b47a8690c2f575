package health

import (
	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/world"
)

// readiness adds the parts of Kueue that do not work, and says when it is not
// known whether its controller does. Where nobody asked, as in a file, there is
// nothing to say.
func (c *collector) readiness() {
	k := &c.s.Contract
	if !k.Asked {
		return
	}
	c.down(Controller, "controller", k.Controller, k.ControllerDetail, "Kueue's controller is not ready: nothing is admitted, evicted or counted.")
	if k.Controller == world.Unknown {
		c.add(Alert{
			Class: Readiness, Severity: Warning, Object: part("controller"), Advice: reason.AdviceNone,
			Explanation: withDetail("Whether Kueue's controller works is not known.", k.ControllerDetail),
		})
	}
}

func (c *collector) down(class Class, name string, r world.Readiness, detail, sentence string) {
	if r == world.NotReady {
		c.about(Alert{Class: class, Severity: Critical, Object: part(name), Explanation: withDetail(sentence, detail), Advice: reason.AdviceEscalate, Actor: platformAdmin})
	}
}

func withDetail(sentence, detail string) string {
	if detail == "" {
		return sentence
	}
	return sentence + " " + detail
}
