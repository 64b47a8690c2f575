//go:build sandbox

package e2e

import (
	"encoding/xml"
	"fmt"
	"html"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// Sizes of a picture, in pixels: of one cell, of the margin.
const (
	cellWidth, cellHeight = 8, 17
	margin                = 12
	paper, ink            = "#15181d", "#c9d1d9"
)

// picture writes the screen as an SVG file into the folder that
// HOLDFAST_PICTURES names, for the README; without it nothing happens.
func (c *console) picture(name string) {
	c.T.Helper()
	dir := os.Getenv("HOLDFAST_PICTURES")
	if dir == "" {
		return
	}
	svg := ""
	c.Cells(func(w, h int, at func(x, y int) *uv.Cell) { svg = svgOf(w, h, at) })
	if err := os.WriteFile(filepath.Join(dir, name+".svg"), []byte(svg), 0o644); err != nil {
		c.T.Fatal(err)
	}
}

func svgOf(w, h int, at func(x, y int) *uv.Cell) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="13.2">`+"\n", w*cellWidth+2*margin, h*cellHeight+2*margin)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="6" fill="%s"/>`+"\n", paper)
	for y := range h {
		for x := 0; x < w; {
			// A run of cells of one style is one piece of text.
			first := at(x, y)
			if first == nil {
				x++
				continue
			}
			var text strings.Builder
			from, cells := x, 0
			for x < w {
				c := at(x, y)
				if c == nil || !c.Style.Equal(&first.Style) {
					break
				}
				s := c.Content
				if s == "" {
					s = " "
				}
				text.WriteString(s)
				n := max(1, c.Width)
				x, cells = x+n, cells+n
			}
			run(&b, from, y, cells, text.String(), first.Style)
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func run(b *strings.Builder, x, y, cells int, text string, s uv.Style) {
	fg, bg := hex(s.Fg, ink), hex(s.Bg, "")
	if s.Attrs&uv.AttrReverse != 0 {
		if fg, bg = bg, fg; fg == "" {
			fg = paper
		}
	}
	left, top := margin+x*cellWidth, margin+y*cellHeight
	if bg != "" {
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", left, top, cells*cellWidth, cellHeight, bg)
	}
	extra := ""
	if s.Attrs&uv.AttrBold != 0 {
		extra += ` font-weight="bold"`
	}
	if s.Attrs&uv.AttrFaint != 0 {
		extra += ` opacity="0.6"`
	}
	// Renderers treat runs of blanks differently, so each piece between two blanks
	// or more gets a place of its own.
	for at := 0; at < len(text); {
		piece := text[at:]
		piece = piece[len(piece)-len(strings.TrimLeft(piece, " ")):]
		if piece == "" {
			return
		}
		at = len(text) - len(piece)
		if end := strings.Index(piece, "  "); end >= 0 {
			piece = piece[:end]
		}
		piece = strings.TrimRight(piece, " ")
		n := ansi.StringWidth(piece)
		fmt.Fprintf(b, `<text x="%d" y="%d" textLength="%d" fill="%s"%s>%s</text>`+"\n",
			left+ansi.StringWidth(text[:at])*cellWidth, top+cellHeight-4, n*cellWidth, fg, extra, html.EscapeString(piece))
		at += len(piece)
	}
}

// palette has readable values for the 16 colours that a terminal chooses itself.
var palette = [16]string{
	"#21262d", "#f47067", "#57ab5a", "#c69026", "#539bf5", "#b083f0", "#39c5cf", "#c9d1d9",
	"#768390", "#ff938a", "#6bc46d", "#daaa3f", "#6cb6ff", "#dcbdfb", "#56d4dd", "#ffffff",
}

func hex(c color.Color, none string) string {
	if c == nil {
		return none
	}
	if basic, ok := c.(ansi.BasicColor); ok {
		return palette[basic&15]
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// A picture has the text of the screen at its place, safe to read as XML.
func TestPicture(t *testing.T) {
	row := []*uv.Cell{
		{Content: "a", Width: 1}, {Content: "<", Width: 1}, {Content: "世", Width: 2}, nil,
		{Content: "!", Width: 1, Style: uv.Style{Fg: ansi.BasicColor(1), Attrs: uv.AttrBold}},
		{Content: "r", Width: 1, Style: uv.Style{Attrs: uv.AttrReverse}},
	}
	got := svgOf(len(row), 1, func(x, _ int) *uv.Cell { return row[x] })
	for _, want := range []string{
		`<svg xmlns="http://www.w3.org/2000/svg" width="72" height="41"`,                // 6 and 1 cells and the margins
		`<text x="12" y="25" textLength="32" fill="#c9d1d9">a&lt;世</text>`,              // 4 cells wide
		`<text x="44" y="25" textLength="8" fill="#f47067" font-weight="bold">!</text>`, // the fifth cell
		`<rect x="52" y="12" width="8" height="17" fill="#c9d1d9"/>`,                    // turned
		`<text x="52" y="25" textLength="8" fill="#15181d">r</text>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
	if err := xml.Unmarshal([]byte(got), &struct{ XMLName xml.Name }{}); err != nil {
		t.Error(err)
	}
}
