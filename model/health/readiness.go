package health

import (
	"strings"

	"cli.holdfast.dev/holdfast/model/reason"
	"cli.holdfast.dev/holdfast/model/world"
)

// readiness adds the parts of Kueue that do not work, and says when it is not
// known whether its controller does. Where nobody was asked there is nothing to
// say; a file has no server. That a webhook answers can hardly ever be known; that is no
// alert. Without the Visibility API nobody is stuck: places in the queues are
// estimated.
func (c *collector) readiness() {
	k := &c.s.Contract
	if !k.Asked || k.Server == "" {
		return
	}
	webhook := Class(reason.Webhook)
	for _, p := range []struct {
		name     string
		class    Class
		severity Severity
		state    world.Readiness
		detail   string
		sentence string
	}{
		{"controller", Controller, Critical, k.Controller, k.ControllerDetail, "Kueue's controller is not ready: nothing is admitted, evicted or counted."},
		{"validatingWebhook", webhook, Critical, k.ValidatingWebhook, k.ValidatingWebhookDetail, "Kueue's validating webhook does not answer: queues cannot be changed, and Kueue cannot write what it decides."},
		{"conversionWebhook", webhook, Critical, k.ConversionWebhook, k.ConversionWebhookDetail, "Kueue's conversion webhook does not answer: objects cannot be read or written in a version other than the stored one."},
		{"visibility", Controller, Info, k.Visibility, k.VisibilityDetail, "Kueue's Visibility API does not answer: places in the queues are estimated."},
	} {
		if p.state == world.NotReady {
			c.about(Alert{
				Class: p.class, Severity: p.severity, Object: part(p.name), Explanation: withDetail(p.sentence, p.detail),
				Advice: reason.AdviceEscalate, Actor: platformAdmin,
			})
		}
	}
	if k.Controller == world.Unknown {
		c.add(Alert{
			Class: Readiness, Severity: Warning, Object: part("controller"), Advice: reason.AdviceNone,
			Explanation: withDetail("Whether Kueue's controller works is not known.", k.ControllerDetail),
		})
	}
}

func withDetail(sentence, detail string) string {
	if detail == "" {
		return sentence
	}
	return sentence + " " + strings.TrimSuffix(detail, ".") + "."
}
