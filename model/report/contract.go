package report

import (
	"cli.holdfast.dev/holdfast/model/world"
)

func contract(c *world.Contract) Contract {
	out := Contract{
		Served: list(c.Served), Used: c.Used, KueueVersion: given(c.KueueVersion), KueueVersionSource: given(c.KueueVersionSource),
		Controller:        readiness(c.Controller, c.ControllerDetail),
		ValidatingWebhook: readiness(c.ValidatingWebhook, c.ValidatingWebhookDetail),
		ConversionWebhook: readiness(c.ConversionWebhook, c.ConversionWebhookDetail),
		Visibility:        readiness(c.Visibility, c.VisibilityDetail),

		WebhookCAValidUntil: moment(c.WebhookCAValidUntil), Unreadable: make([]Unreadable, 0, len(c.Unreadable)),
	}
	for _, u := range c.Unreadable {
		out.Unreadable = append(out.Unreadable, Unreadable(u))
	}
	var version, ca string
	if out.KueueVersion == nil {
		version = "kueueVersion: " + reasonGiven(c.KueueVersionDetail)
	}
	if out.WebhookCAValidUntil == nil {
		ca = "webhookCAValidUntil: " + reasonGiven(c.WebhookCADetail)
	}
	out.Unknown = because(version, ca)
	return out
}

// reasonGiven is why something is not known; nobody asked where nothing stands.
func reasonGiven(detail string) string {
	if detail == "" {
		return "it was not asked for"
	}
	return detail
}

func readiness(r world.Readiness, detail string) Readiness {
	out := Readiness{State: "unknown", Detail: detail}
	switch r {
	case world.Ready:
		out.State = "ready"
	case world.NotReady:
		out.State = "notReady"
	}
	return out
}
