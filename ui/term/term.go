// Package term measures, cuts and pads text in terminal cells, and guards the
// terminal's output.
package term

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Width is the number of cells that s takes; escape sequences take none.
func Width(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// Clip cuts s to at most w cells; tail marks a cut and counts.
func Clip(s string, w int, tail string) string {
	if w <= 0 {
		return ""
	}
	if Width(s) <= w {
		return s
	}
	return ansi.Truncate(s, w, tail)
}

// Fit makes s exactly w cells wide, cut or padded on the right.
func Fit(s string, w int, tail string) string {
	s = Clip(s, w, tail)
	return s + Spaces(w-Width(s))
}

// Right makes s exactly w cells wide with its end at the right. What does not
// fit becomes the tail alone: half a number is a wrong number.
func Right(s string, w int, tail string) string {
	if Width(s) > w {
		s = Clip(tail, w, "")
	}
	return Spaces(w-Width(s)) + s
}

const blank = "                                                                                                                                "

// Spaces returns n spaces; none when n is negative.
func Spaces(n int) string {
	switch {
	case n <= 0:
		return ""
	case n <= len(blank):
		return blank[:n]
	}
	return strings.Repeat(" ", n)
}

// Wrap breaks s at spaces into lines of at most w cells; a longer word is cut.
// It returns at least one line.
func Wrap(s string, w int) []string {
	if w <= 0 || Width(s) <= w {
		return []string{s}
	}
	var out []string
	line, at := "", 0
	for word := range strings.FieldsSeq(s) {
		n := Width(word)
		if at > 0 && at+1+n <= w {
			line, at = line+" "+word, at+1+n
			continue
		}
		if at > 0 {
			out = append(out, line)
		}
		for n > w {
			head := ansi.Truncate(word, w, "")
			if head == "" {
				break // one character is wider than the line
			}
			out = append(out, head)
			word = word[len(head):]
			n = Width(word)
		}
		line, at = word, n
	}
	return append(out, line)
}

// Window returns the lines of all from offset on that fit into h.
func Window(all []string, offset, h int) []string {
	offset = max(0, min(offset, len(all)))
	return all[offset:min(len(all), offset+max(0, h))]
}
