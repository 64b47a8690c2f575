package ui

import (
	"context"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cli.holdfast.dev/holdfast/model/manager"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/doc"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// contract says what the console is connected to, which versions speak, and how far
// each part works.
type contract struct {
	view doc.View
	// manager is how Kueue's manager is configured, as it was read last.
	manager managerRead
	asked   uint64
	seen    time.Time
}

// managerRead is what was read of the manager's configuration; done is set once it was.
type managerRead struct {
	settings manager.Settings
	// limits are sentences on what a preview with it cannot see.
	limits []string
	at     time.Time
	done   bool
}

type managerMsg struct {
	ticket uint64
	managerRead
}

func newContract() contract { return contract{} }

// Title is Screen's.
func (s contract) Title(e Env) (string, string) {
	bad, unknown := 0, 0
	for _, p := range contractParts(e) {
		switch p.state {
		case world.NotReady:
			bad++
		case world.Unknown:
			unknown++
		}
	}
	shut := 0
	for _, k := range feedKinds() {
		if e.Snap.Fresh(k).Feed != world.Live {
			shut++
		}
	}
	var said []string
	if bad > 0 {
		said = append(said, count(bad)+" not ready")
	}
	if shut > 0 {
		said = append(said, plural(shut, "kind")+" not live")
	}
	if unknown > 0 {
		said = append(said, count(unknown)+" unknown")
	}
	return "Contract", or(strings.Join(said, ", "), "ready")
}

// Keys is Screen's.
func (s contract) Keys() []Binding {
	out := []Binding{{Keys: keys("r"), Name: "read", Help: "read the configuration of Kueue's manager again; all else is kept up to date", Enabled: func(e Env) (bool, string) {
		if e.settings == nil {
			return false, "there is nothing to read it from"
		}
		return s.asked == 0, "it is being read"
	}, Run: s.read}}
	return append(out, moving(func(e Env, m table.Motion) Screen {
		s.view = s.view.Move(m, s.doc(e), e.H)
		return s
	})...)
}

// read begins to read the manager's configuration.
func (s contract) read(e Env) (Screen, Intent) {
	if e.settings == nil {
		return s, nil
	}
	s.asked = e.Ticket
	ask, ticket, snap, now := e.settings, e.Ticket, e.Snap, e.Now
	return s, run{e.ask(func(ctx context.Context) tea.Msg {
		// What the objects show of it counts more than what a file says.
		x := ask(ctx).Seen(snap)
		return managerMsg{ticket, managerRead{x, x.Limits(snap), now, true}}
	})}
}

// Update is Screen's.
func (s contract) Update(e Env, m tea.Msg) (Screen, Intent) {
	switch m := m.(type) {
	case managerMsg:
		if m.ticket == s.asked {
			s.asked, s.manager = 0, m.managerRead
		}
	case shownMsg, beatMsg:
		away := e.Now.Sub(s.seen) > awayFor
		s.seen = e.Now
		if away && s.asked == 0 {
			return s.read(e)
		}
	}
	return s, nil
}

// View is Screen's.
func (s contract) View(e Env) []string { return pageOf(e.Theme, s.view, s.doc(e), e.W, e.H) }

func (s contract) doc(e Env) []doc.Line {
	p := newPaper(e)
	connectionDoc(p)
	p.gap()
	partsDoc(p)
	p.gap()
	s.managerDoc(p)
	p.gap()
	feedsDoc(p)
	p.gap()
	refusedDoc(p)
	return p.lines
}

// contractPart is a part of Kueue and whether it works; word and role say it.
type contractPart struct {
	// short is the name for lines without room.
	name, short string
	state       world.Readiness
	word        string
	role        theme.Role
	detail      string
	// means says what follows from its state; empty: nothing that the detail does not
	// say.
	means string
	// left says how long it is good for, where it ends at all.
	left string
}

func (p contractPart) sign(th *theme.Theme) string {
	return [...]string{world.Unknown: th.Glyph.Unknown, world.Ready: th.Glyph.Tick, world.NotReady: th.Glyph.Cross}[p.state]
}

// contractParts are the parts of Kueue that others rest on.
func contractParts(e Env) []contractPart {
	c := &e.Snap.Contract
	one := func(name, short string, r world.Readiness, detail, bad, unknown string) contractPart {
		word, role := r.String(), [...]theme.Role{world.Unknown: theme.Warn, world.Ready: theme.Good, world.NotReady: theme.Alarm}[r]
		if r == world.NotReady {
			word = strings.ToUpper(word)
		}
		if r == world.Unknown {
			detail = or(detail, unasked(e))
		}
		means := [...]string{world.Unknown: unknown, world.NotReady: bad, world.Ready: ""}[r]
		return contractPart{name: name, short: short, state: r, word: word, role: role, detail: detail, means: means}
	}
	return []contractPart{
		one("controller", "control", c.Controller, c.ControllerDetail,
			"Kueue starts and evicts nobody until it runs again; what is shown of queues is how it left them.", ""),
		one("validation", "validate", c.ValidatingWebhook, c.ValidatingWebhookDetail,
			"The server refuses writes of Kueue's objects until its webhook answers, holds and edits included, unless it was told to do without.",
			"The dry-run in a plan tells whether Kueue's validating webhook answers."),
		one("conversion", "convert", c.ConversionWebhook, c.ConversionWebhookDetail,
			"Kueue's objects cannot be read in another version than the stored one: whoever asks for that, perhaps this console too, gets errors.", ""),
		one("visibility", "visibility", c.Visibility, c.VisibilityDetail,
			"Kueue does not tell the order of its queues: places in them are estimated.", "Where Kueue does not tell the order of a queue, places in it are estimated."),
		contractCertificate(e),
	}
}

// unasked says why nothing is known of a part.
func unasked(e Env) string {
	switch c := e.Snap.Contract; {
	case e.file != "":
		return "a file does not tell"
	case !c.Asked:
		return "the server was not asked yet, or has not answered"
	case !c.Probed:
		return "it was not tried yet"
	}
	return "it was not asked for"
}

// certificateSoon is how long before its end a certificate is worth a colour.
const certificateSoon = 30 * 24 * time.Hour

// contractCertificate is the CA with which the server checks Kueue's webhooks.
func contractCertificate(e Env) contractPart {
	c := &e.Snap.Contract
	out := contractPart{name: "webhook CA", short: "CA"}
	if c.WebhookCAValidUntil.IsZero() {
		out.state, out.word, out.role, out.detail = world.Unknown, "unknown", theme.Warn, or(c.WebhookCADetail, unasked(e))
		return out
	}
	left := c.WebhookCAValidUntil.Sub(e.Now)
	at := c.WebhookCAValidUntil.In(e.Now.Location()).Format("2006-01-02 15:04")
	out.detail, out.left = plural(int(left/(24*time.Hour)), "day")+" left, until "+at, span(left)+" left"
	switch {
	case left <= 0:
		out.state, out.word, out.role = world.NotReady, "RAN OUT", theme.Alarm
		out.detail, out.left = span(-left)+" ago, at "+at, "RAN OUT "+span(-left)+" ago"
		out.means = "The server trusts Kueue's webhooks no more: it refuses writes of Kueue's objects."
	case left < certificateSoon:
		out.state, out.word, out.role = world.Ready, "RUNS OUT SOON", theme.Warn
		out.means = "It must be renewed before: after that the server refuses writes of Kueue's objects."
	default:
		out.state, out.word, out.role = world.Ready, "valid", theme.Good
	}
	return out
}
