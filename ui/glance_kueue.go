package ui

import (
	"strings"

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
	f.lines[0].cells = []table.Cell{{Text: or(strings.TrimPrefix(c.KueueVersion, "v"), "version ?")}}
	parts := contractParts(e)
	for _, p := range parts {
		f.lines[0].cells = append(f.lines[0].cells, partCell(e, p))
	}
	for _, p := range parts {
		if p.state != world.Ready && p.detail != "" {
			f.lines = append(f.lines, figureLine{cells: []table.Cell{{Text: p.name + ": " + p.detail, Role: theme.Dim}}})
		}
	}
	return f
}

// partCell is a part of Kueue in a word or two.
func partCell(e Env, p contractPart) table.Cell {
	name := p.name
	if e.W < 100 {
		name = or(p.short, name)
	}
	said := or(p.left, p.sign(e.Theme))
	if e.W < 100 && p.role == theme.Good {
		said = strings.TrimSuffix(said, " left")
	}
	return table.Cell{Text: name + " " + said, Role: p.role}
}
