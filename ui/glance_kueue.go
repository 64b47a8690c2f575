package ui

import (
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// kueueFigure is what is known of Kueue itself now: unlike the other figures it costs
// nothing.
func kueueFigure(e Env) figure {
	c := &e.Snap.Contract
	f := oneLine("KUEUE", 4)
	switch {
	case !c.Asked:
		f.lines[0].cells = []table.Cell{unknownCell("it was not asked yet")}
		return f
	case c.Server == "":
		f.lines[0].cells = []table.Cell{unknownCell("a file has no server to ask")}
		return f
	}
	cells := []table.Cell{{Text: or(strings.TrimPrefix(c.KueueVersion, "v"), "version ?")}}
	for _, p := range parts(c) {
		sign, role := e.Theme.Glyph.Unknown, theme.Warn
		switch p.state {
		case world.Ready:
			sign, role = e.Theme.Glyph.Tick, theme.Good
		case world.NotReady:
			sign, role = e.Theme.Glyph.Cross, theme.Alarm
		}
		name := p.name
		if e.W < 100 {
			name = or(p.short, name)
		}
		cells = append(cells, table.Cell{Text: name + " " + sign, Role: role})
	}
	ca, role := certificate(e, c)
	f.lines[0].cells = append(cells, table.Cell{Text: ca, Role: role})
	for _, p := range parts(c) {
		if p.state != world.Ready && p.detail != "" {
			f.lines = append(f.lines, figureLine{cells: []table.Cell{{Text: p.name + ": " + p.detail, Role: theme.Dim}}})
		}
	}
	return f
}

// part is a part of Kueue that can be asked about. Its short name, where it has one, is
// for lines without room.
type part struct {
	name, short, detail string
	state               world.Readiness
}

func parts(c *world.Contract) []part {
	return []part{
		{"controller", "", c.ControllerDetail, c.Controller}, {"webhook", "", c.ValidatingWebhookDetail, c.ValidatingWebhook},
		{"conversion", "convert", c.ConversionWebhookDetail, c.ConversionWebhook}, {"visibility", "", c.VisibilityDetail, c.Visibility},
	}
}

// certificateSoon is how long before its end a certificate is worth a colour.
const certificateSoon = 30 * 24 * time.Hour

// certificate says how long the CA of Kueue's webhooks is good for.
func certificate(e Env, c *world.Contract) (string, theme.Role) {
	left := c.WebhookCAValidUntil.Sub(e.Now)
	name, rest := "webhook CA ", " left"
	if e.W < 100 {
		name, rest = "CA ", ""
	}
	switch {
	case c.WebhookCAValidUntil.IsZero():
		return name + "?", theme.Warn
	case left <= 0:
		return name + "ran out " + span(-left) + " ago", theme.Alarm
	case left < certificateSoon:
		return name + span(left) + " left", theme.Warn
	}
	return name + span(left) + rest, theme.Plain
}
