package table

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cli.holdfast.dev/holdfast/ui/term"
	"cli.holdfast.dev/holdfast/ui/theme"
)

// A number that is drawn is drawn whole, also where not all columns have room that are to
// stay: part of a number is another number.
func TestNoPartOfANumber(t *testing.T) {
	th, err := theme.New(theme.Mono, true, true)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		numbers := []string{"12345", "67890", "24680"}
		cols := []Column{{Title: "NAME", Min: rapid.IntRange(8, 20).Draw(t, "name"), Max: 24}}
		cells := []Cell{{Text: "a-name"}}
		for _, n := range numbers {
			cols = append(cols, Column{Title: "N", Right: true, Min: 5, Max: 9, Drop: rapid.IntRange(0, 2).Draw(t, "drop")})
			cells = append(cells, Cell{Text: n})
		}
		w := rapid.IntRange(10, 60).Draw(t, "width")
		drawn := Draw(th, cols, []Row{{Cells: cells}}, 0, w)
		for _, l := range drawn {
			if term.Width(l) > w {
				t.Fatalf("%q is wider than %d", l, w)
			}
		}
		row := drawn[len(drawn)-1]
		_, after, _ := strings.Cut(row, "a-name ") // the row is marked, and may be painted
		for f := range strings.FieldsSeq(after) {
			if f = strings.TrimSuffix(f, "\x1b[m"); f != "" && f != "~" && !slices.Contains(numbers, f) {
				t.Fatalf("%q has %q, a part of a number", row, f)
			}
		}
	})
}
