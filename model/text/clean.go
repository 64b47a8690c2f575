// Package text makes strings that came from outside safe to draw.
//
// Every string that enters the model from a cluster, a file or an error passes
// through Clean once, where it enters. Whatever is drawn later needs no second
// look. A terminal executes what it is sent (CVE-2021-25743), so nothing that a
// terminal could act on survives.
package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean returns s with every control, bidirectional, zero-width, separator and
// otherwise invisible character replaced by its visible Go-style escape
// ("\x1b", "\u202e"), and with invalid UTF-8 bytes as "\xNN". Printable
// characters of any script stay as they are. Clean is idempotent and returns s
// itself, without allocating, when nothing has to change. Safe for concurrent
// use.
func Clean(s string) string {
	for i := 0; i < len(s); {
		if c := s[i]; c >= 0x20 && c < 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if unsafeRune(r, n) {
			return clean(s, i)
		}
		i += n
	}
	return s
}

func clean(s string, from int) string {
	var b strings.Builder
	b.Grow(len(s) + 16)
	b.WriteString(s[:from])
	for i := from; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case !unsafeRune(r, n):
			b.WriteString(s[i : i+n])
		case r == utf8.RuneError && n <= 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += n
	}
	return b.String()
}

// unsafeRune reports whether a terminal could act on r or would draw nothing
// for it. n is the length of the encoding that r was decoded from.
func unsafeRune(r rune, n int) bool {
	switch {
	case r == utf8.RuneError && n <= 1:
		return true
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r == 0x2028, r == 0x2029: // line and paragraph separator
		return true
	case unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs):
		// Format characters: bidirectional controls, zero-width ones, the soft
		// hyphen, tags. The zero-width joiner is one of them: a joined emoji falls
		// apart into its parts, which is safe and of the width that is computed.
		return true
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef:
		return true // variation selectors change a glyph's width after the fact
	case r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0:
		return true // Hangul fillers are letters that draw nothing
	case r == 0x034f, r == 0x17b4, r == 0x17b5, r == 0x2800:
		return true // other letters and marks that draw nothing
	}
	return false
}

// Lines returns s split at its newlines, each line cleaned. A trailing newline
// adds no empty line. Use it for text whose line breaks mean something (YAML,
// an answer of the API server).
func Lines(s string) []string {
	s = strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = Clean(strings.ReplaceAll(l, "\t", "    "))
	}
	return lines
}
