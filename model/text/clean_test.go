package text

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestClean(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"plain":              {"insufficient unused quota, 4 more needed", "insufficient unused quota, 4 more needed"},
		"any script":         {"größe 日本 שלום кот", "größe 日本 שלום кот"},
		"colour sequence":    {"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		"operating system":   {"a\x1b]52;c;AAAA\x07b", `a\x1b]52;c;AAAA\x07b`},
		"C1 control":         {"a\u009b31mb", `a\x9b31mb`},
		"carriage return":    {"ok\rbad", `ok\rbad`},
		"newline and tab":    {"a\n\tb", `a\n\tb`},
		"override":           {"a\u202eb", `a\u202eb`},
		"isolate":            {"\u2066a\u2069", `\u2066a\u2069`},
		"zero width":         {"te\u200bam", `te\u200bam`},
		"byte order mark":    {"\ufeffa", `\ufeffa`},
		"line separator":     {"a\u2028b", `a\u2028b`},
		"soft hyphen":        {"a\u00adb", `a\xadb`},
		"tag characters":     {"a\U000e0041b", `a\U000e0041b`},
		"variation selector": {"☺\ufe0f", `☺\ufe0f`},
		"invalid UTF-8":      {"a\xffb\xc3", `a\xffb\xc3`},
		"delete":             {"a\x7fb", `a\x7fb`},
		"empty":              {"", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, Clean(tc.in)); d != "" {
				t.Errorf("Clean(%q) (-want +got):\n%s", tc.in, d)
			}
		})
	}
}

func TestLines(t *testing.T) {
	want := []string{"a: 1", "    b\\x1b", "", "c"}
	if d := cmp.Diff(want, Lines("a: 1\r\n\tb\x1b\n\nc\n")); d != "" {
		t.Errorf("Lines (-want +got):\n%s", d)
	}
}

func TestCleanOfSafeTextDoesNotAllocate(t *testing.T) {
	s := "couldn't assign flavors to pod set main: größe"
	if n := testing.AllocsPerRun(100, func() { Clean(s) }); n != 0 {
		t.Errorf("%v allocations for text that stays as it is, want 0", n)
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "plain", "\x1b[2J", "a\u202eb\u2066", "\xff\xfe", "\u009b", "日本\u200d", "\\x1b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c := Clean(s)
		if again := Clean(c); again != c {
			t.Errorf("not idempotent: %q then %q", c, again)
		}
		if !utf8.ValidString(c) {
			t.Errorf("%q is not valid UTF-8", c)
		}
		for _, r := range c {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
				t.Errorf("Clean(%q) = %q still has %U", s, c, r)
			}
		}
	})
}
