package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// page writes plain text: lines, and tables whose columns are aligned. Its widths
// do not depend on the terminal. end returns the first error of the writer.
type page struct{ out *bufio.Writer }

func newPage(w io.Writer) *page { return &page{bufio.NewWriter(w)} }

// line writes one line, without blanks at its end.
func (p *page) line(format string, args ...any) {
	fmt.Fprintln(p.out, strings.TrimRight(fmt.Sprintf(format, args...), " "))
}

// head begins a section.
func (p *page) head(format string, args ...any) { p.line("\n"+format, args...) }

// section writes a head and rows below their titles, and how many rows are left
// out; nothing where there are no rows. The last column is not padded, so that a
// sentence may stand there.
func (p *page) section(head string, rows [][]string, left int, titles ...string) {
	if len(rows) == 0 {
		return
	}
	p.head("%s", head)
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{titles}, rows...) {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	_ = t.Flush() // a builder does not fail
	for line := range strings.Lines(text.String()) {
		p.line("  %s", strings.TrimSuffix(line, "\n"))
	}
	if left > 0 {
		p.line("  and %d more; -o json has all", left)
	}
}

func (p *page) end() error { return p.out.Flush() }

// or is the text of a string that may be null.
func or(s *string, none string) string {
	if s == nil || *s == "" {
		return none
	}
	return *s
}

// age is a number of seconds as a person says it: 45s, 25m, 3h10m.
func age(seconds *int64) string {
	if seconds == nil {
		return "?"
	}
	return duration.HumanDuration(time.Duration(*seconds) * time.Second)
}

// many is a number of things in words.
func many(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// first returns at most so many of the entries, and how many are left.
func first[T any](all []T, most int) ([]T, int) {
	n := min(len(all), most)
	return all[:n], len(all) - n
}
