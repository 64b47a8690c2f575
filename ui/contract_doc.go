package ui

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"cli.holdfast.dev/holdfast/model/manager"
	"cli.holdfast.dev/holdfast/model/world"
	"cli.holdfast.dev/holdfast/ui/table"
	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// connectionDoc says where this is, who asks and which versions speak.
func connectionDoc(p *paper) {
	e, c := p.e, p.e.Snap.Contract
	known := func(head, s, why string) {
		if s == "" {
			p.text(head, "? "+why, theme.Warn)
			return
		}
		p.text(head, s, theme.Plain)
	}
	if e.file != "" {
		p.text("FILE", tail(e.file, p.w-margin, e.Theme.Glyph.Ellipsis), theme.Strong)
		p.text("", "A file tells neither of a cluster nor of a user, and nothing in it changes.", theme.Dim)
	} else {
		known("CONTEXT", c.Context, "the kubeconfig names none")
		server := c.Server
		if server != "" {
			server += "   Kubernetes " + or(c.ServerVersion, "? (it has not said)")
		}
		known("SERVER", server, unasked(e))
		switch {
		case c.User == "":
			p.text("USER", "? "+unasked(e), theme.Warn)
		case c.UserFrom == "kubeconfig":
			p.text("USER", c.User+", by the kubeconfig's word alone: the server has not said", theme.Warn)
		default:
			p.text("USER", c.User+", as the server says", theme.Plain)
		}
		if c.Impersonates != "" {
			p.text("", "acts as "+c.Impersonates+" (--as)", theme.Alarm)
		}
	}
	if limit := c.Limit(); limit != "" {
		p.text("READS", "only "+limit+": of other Workloads nothing is known, and numbers of ClusterQueues are those of their status", theme.Warn)
	} else {
		p.text("READS", "all namespaces", theme.Plain)
	}
	switch {
	case e.file != "":
	case e.ReadOnly:
		p.text("WRITES", "none: started with --read-only", theme.Good)
	case e.Production:
		p.text("WRITES", "as far as the server lets this user, on a context that is marked as production", theme.Warn)
	default:
		p.text("WRITES", "as far as the server lets this user", theme.Plain)
	}
	p.gap()
	served := "kueue.x-k8s.io served as " + strings.Join(c.Served, ", ") + "; used " + or(c.Used, "?")
	if len(c.Served) == 0 {
		p.text("API", "kueue.x-k8s.io: used "+or(c.Used, "?")+"; which versions are served is not known: "+unasked(e), theme.Warn)
	} else {
		p.text("API", served+"; stored "+or(c.Stored, "? ("+storedUnknown(e)+")"), theme.Plain)
	}
	if c.KueueVersion == "" {
		p.text("KUEUE", "? "+or(c.KueueVersionDetail, unasked(e)), theme.Warn)
	} else {
		p.text("KUEUE", c.KueueVersion+from(c.KueueVersionSource)+"; previews run the code of "+manager.Linked, theme.Plain)
	}
}

func from(source string) string {
	if source == "" {
		return ""
	}
	return ", by the " + source
}

// storedUnknown says why the stored version is not known.
func storedUnknown(e Env) string {
	const crds = "customresourcedefinitions.apiextensions.k8s.io"
	for _, u := range e.Snap.Contract.Unreadable {
		if u.Resource == crds {
			return "no access: cannot " + u.Verb + " " + crds
		}
	}
	return unasked(e)
}

// partsDoc says of each part of Kueue whether it works and what follows where not.
func partsDoc(p *paper) {
	head := "PARTS"
	for _, x := range contractParts(p.e) {
		said := x.sign(p.e.Theme) + " " + x.name + " " + x.word
		if x.detail != "" {
			said += ": " + x.detail
		}
		p.text(head, said, x.role)
		head = ""
		if x.means != "" {
			p.text("", p.e.Theme.Glyph.Arrow+" "+x.means, x.role)
		}
	}
}

// managerDoc says how Kueue's manager is configured, as far as that was read.
func (s contract) managerDoc(p *paper) {
	e := p.e
	switch {
	case e.settings == nil:
		p.text("MANAGER", "its configuration is not read here", theme.Warn)
		return
	case !s.manager.done:
		p.text("MANAGER", "reading its configuration"+e.Theme.Glyph.Ellipsis, theme.Dim)
		return
	}
	x := s.manager.settings
	role := theme.Plain
	if !x.Told {
		role = theme.Warn
	}
	p.text("MANAGER", x.Source+"; read "+age(e.Now, s.manager.at)+" ago", role)
	c := x.Config
	fair := "off"
	if c.FairSharing != nil {
		var by []string
		for _, y := range c.FairSharing.PreemptionStrategies {
			by = append(by, string(y))
		}
		fair = "on, preemption by " + or(strings.Join(by, ", "), "Kueue's own strategies")
	}
	p.text("", "fair sharing "+fair, theme.Plain)
	if c.AdmissionFairSharing != nil {
		p.text("", "admission fair sharing is configured", theme.Plain)
	}
	if w := c.WaitForPodsReady; w != nil {
		blocks := "admits others meanwhile"
		if w.BlockAdmission != nil && *w.BlockAdmission {
			blocks = "admits nobody meanwhile"
		}
		p.text("", "waits "+span(w.Timeout.Duration)+" for pods to be ready, "+blocks, theme.Plain)
	}
	if r := c.Resources; r != nil && len(r.ExcludeResourcePrefixes)+len(r.Transformations) > 0 {
		p.text("", "resources: "+plural(len(r.Transformations), "transformation")+", excluded prefixes "+or(strings.Join(r.ExcludeResourcePrefixes, ", "), "none"), theme.Plain)
	}
	var gates []string
	for _, name := range slices.Sorted(maps.Keys(c.FeatureGates)) {
		gates = append(gates, name+"="+strconv.FormatBool(c.FeatureGates[name]))
	}
	p.text("", "feature gates set: "+or(strings.Join(gates, ", "), "none"), theme.Plain)
	for _, a := range x.Assumed {
		p.text("", "assumed: "+a, theme.Warn)
	}
	for _, u := range x.Unknown {
		p.text("", "not known: "+u, theme.Warn)
	}
	for _, l := range s.manager.limits {
		p.text("", "previews: "+l, theme.Dim)
	}
}

// feedKinds are all kinds that are watched.
func feedKinds() []world.Kind { return slices.Concat(world.WatchedKinds(), world.SideKinds()) }

// feedMeans says what follows for rows of a kind.
func feedMeans(f world.Feed) string {
	return [...]string{
		world.Live: "", world.Syncing: "numbers are lower bounds until the first list is whole.",
		world.Delayed:      "rows are how they were when it was heard from last; it may be a moment.",
		world.Absent:       "the cluster does not serve the kind; nothing of it can be shown.",
		world.Denied:       "the server refuses the rows; what rests on them says so. holdfast rbac prints the rights.",
		world.Failing:      "the server answers with an error; rows are how they were before.",
		world.Disconnected: "the server is out of reach; rows are how they were, and it is tried again.",
	}[f]
}

// feedsDoc is a line for each kind: how far its rows can be trusted.
func feedsDoc(p *paper) {
	e := p.e
	cols := []table.Column{
		{Title: "KIND", Min: 21, Max: 21}, {Title: "STATE", Min: 12, Max: 12}, {Title: "ROWS", Right: true, Min: 7, Max: 9},
		{Title: "HEARD", Right: true, Min: 7, Max: 7}, {Title: "DETAIL", Min: 16, Max: 16, Grow: 1},
	}
	var rows []table.Row
	var states []world.Feed
	long := map[int]string{} // details that do not fit into their lines and stand below
	for i, k := range feedKinds() {
		f := e.Snap.Fresh(k)
		if f.Feed != world.Live && !slices.Contains(states, f.Feed) {
			states = append(states, f.Feed)
		}
		cells, detail := feedCells(e, k, f), feedDetail(e, k, f)
		if term.Width(detail) > p.w-51 {
			long[i], detail = detail, ""
		}
		rows = append(rows, table.Row{Cells: append(cells, table.Cell{Text: detail, Role: theme.Dim})})
	}
	for i, l := range table.DrawPlain(e.Theme, cols, rows, p.w) {
		p.raw(l)
		if d := long[i-1]; d != "" {
			p.text("", d, theme.Dim)
		}
	}
	slices.Sort(states)
	for _, f := range states {
		p.text("", f.String()+": "+feedMeans(f), theme.Dim)
	}
}

func feedCells(e Env, k world.Kind, f world.Freshness) []table.Cell {
	role := theme.Warn
	switch f.Feed {
	case world.Live:
		role = theme.Good
	case world.Denied, world.Failing, world.Disconnected:
		role = theme.Alarm
	}
	rows := count(f.Count)
	switch {
	case f.Feed == world.Denied && !f.Synced, f.Feed == world.Absent, !f.Synced && f.Count == 0:
		rows = "?"
	case !f.Synced:
		rows += "+"
	}
	heard := "never"
	switch {
	case !f.Heard.IsZero():
		heard = age(e.Now, f.Heard)
	case e.file != "":
		heard = e.Theme.Glyph.Dash
	case f.Feed == world.Live:
		heard = "lately"
	}
	return []table.Cell{{Text: string(k)}, {Text: f.Feed.String(), Role: role}, {Text: rows}, {Text: heard}}
}

// feedDetail says why a kind is not live, and when it is tried again.
func feedDetail(e Env, k world.Kind, f world.Freshness) string {
	var parts []string
	if verbs := refusedVerbs(e, k); f.Feed == world.Denied && verbs != "" {
		parts = append(parts, "may not "+verbs)
	}
	if f.Detail != "" {
		parts = append(parts, f.Detail)
	}
	if wait := f.Retry.Sub(e.Now); !f.Retry.IsZero() && f.Feed != world.Live {
		parts = append(parts, "next try in "+span(max(0, wait)))
	}
	if f.Synced && (f.Feed == world.Denied || f.Feed == world.Absent) {
		parts = append(parts, "rows are from before")
	}
	return strings.Join(parts, "; ")
}

// refusedVerbs are the verbs that the server refuses for the kind: "list, watch".
func refusedVerbs(e Env, k world.Kind) string {
	var out []string
	for _, u := range e.Snap.Contract.Unreadable {
		if name, _, _ := strings.Cut(u.Resource, "."); name == resourceOf(k) && !slices.Contains(out, u.Verb) {
			out = append(out, u.Verb)
		}
	}
	return strings.Join(out, ", ")
}

// resourceOf is the kind in its plural, as the API server spells it.
func resourceOf(k world.Kind) string { return strings.ToLower(kindNames(k)) }

// refusedDoc lists what the server refuses to this user, with the verb.
func refusedDoc(p *paper) {
	all := p.e.Snap.Contract.Unreadable
	if len(all) == 0 {
		if p.e.file == "" && p.e.Snap.Contract.Asked {
			p.text("REFUSED", "nothing that was asked for", theme.Good)
		}
		return
	}
	head := "REFUSED"
	for _, u := range all {
		where := ""
		if u.Namespace != "" {
			where = " in namespace " + u.Namespace
		}
		p.text(head, u.Verb+" "+u.Resource+where, theme.Warn)
		head = ""
	}
	p.text("", "holdfast rbac prints the rights that it can use.", theme.Dim)
}
