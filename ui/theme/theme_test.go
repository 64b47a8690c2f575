package theme

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"cli.holdfast.dev/holdfast/ui/term"
)

// colours of the first eight that terminals come with, by the terminal: xterm's
// (which many copy) and the one of VGA.
var colours = map[string][8][3]uint8{
	"xterm": {{0, 0, 0}, {205, 0, 0}, {0, 205, 0}, {205, 205, 0}, {0, 0, 238}, {205, 0, 205}, {0, 205, 205}, {229, 229, 229}},
	"VGA":   {{0, 0, 0}, {170, 0, 0}, {0, 170, 0}, {170, 85, 0}, {0, 0, 170}, {170, 0, 170}, {0, 170, 170}, {170, 170, 170}},
}

// luminance is that of sRGB, from 0 to 1.
func luminance(c [3]uint8) float64 {
	part := func(x uint8) float64 {
		v := float64(x) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*part(c[0]) + 0.7152*part(c[1]) + 0.0722*part(c[2])
}

// contrast is WCAG's, from 1 to 21.
func contrast(a, b [3]uint8) float64 {
	x, y := luminance(a)+0.05, luminance(b)+0.05
	return max(x, y) / min(x, y)
}

// foregrounds are the colours, of sixteen, that a sequence writes in.
func foregrounds(t *testing.T, sequence string) []int {
	t.Helper()
	if sequence == "" {
		return nil
	}
	body := strings.TrimSuffix(strings.TrimPrefix(sequence, "\x1b["), "m")
	var out []int
	for p := range strings.SplitSeq(body, ";") {
		n, err := strconv.Atoi(p)
		switch {
		case err != nil:
			t.Errorf("%q is no colour", sequence)
		case n >= 30 && n <= 37:
			out = append(out, n-30)
		case n >= 90 && n <= 97:
			out = append(out, n-90+8)
		case n == 1 || n == 2 || n == 7: // bold, faint, reverse
		default:
			t.Errorf("%q is not of the sixteen colours", sequence)
		}
	}
	return out
}

// TestColoursCanBeRead: 3 is the least contrast that WCAG allows for large or bold
// text, 4 lies between it and that for all text; red, blue and magenta are as dark
// as terminals make them.
func TestColoursCanBeRead(t *testing.T) {
	tests := map[Name]struct {
		paper [3]uint8
		least float64
		but   map[int]bool // colours that are known to be worse
	}{
		Light: {[3]uint8{255, 255, 255}, 4, nil},
		Dark:  {[3]uint8{0, 0, 0}, 4, map[int]bool{1: true}}, // red: only for what is bold, or removed with a "-" before it
	}
	for name, tc := range tests {
		for role, sequence := range palettes[name] {
			for _, n := range foregrounds(t, sequence) {
				for terminal, all := range colours {
					if got := contrast(all[n], tc.paper); got < tc.least && !tc.but[n] {
						t.Errorf("%s: role %d in colour %d has a contrast of %.1f on %s, want %.1f", name, role, n, got, terminal, tc.least)
					}
				}
			}
		}
	}
}

func TestEveryThemeIsOfSixteenColours(t *testing.T) {
	for _, name := range Names() {
		if _, err := New(name, false, false); err != nil {
			t.Error(err)
		}
		for _, sequence := range palettes[name] {
			foregrounds(t, sequence)
		}
	}
	if len(palettes) != len(Names()) {
		t.Errorf("%d themes, %d names", len(palettes), len(Names()))
	}
	if _, err := New("pink", false, false); err == nil || !strings.Contains(err.Error(), "light") {
		t.Errorf("an unknown theme: %v; want the names there are", err)
	}
}

// TestNoColour: whatever the theme, no colour is left; what needs a person still
// stands out.
func TestNoColour(t *testing.T) {
	for _, name := range Names() {
		th, err := New(name, true, false)
		if err != nil {
			t.Fatal(err)
		}
		for role := range roles {
			if n := foregrounds(t, th.pre[role]); len(n) > 0 {
				t.Errorf("%s: role %d is drawn in colours %v", name, role, n)
			}
		}
		for _, role := range []Role{Alarm, Warn, Danger, Selected} {
			if th.Paint(role, "x") == "x" {
				t.Errorf("%s: role %d is plain", name, role)
			}
		}
	}
}

// TestSigns: every sign is there, one cell wide, and has one of ASCII in its place.
func TestSigns(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		th, err := New(Dark, false, ascii)
		if err != nil {
			t.Fatal(err)
		}
		var check func(name string, v reflect.Value)
		check = func(name string, v reflect.Value) {
			if v.Kind() == reflect.Array {
				for i := range v.Len() {
					check(name, v.Index(i))
				}
				return
			}
			sign := v.String()
			if term.Width(sign) != 1 || ascii && (len(sign) != 1 || sign[0] < 0x20 || sign[0] > 0x7e) {
				t.Errorf("ASCII %v: %s is drawn as %q", ascii, name, sign)
			}
		}
		all := reflect.ValueOf(th.Glyph)
		for i := range all.NumField() {
			check(all.Type().Field(i).Name, all.Field(i))
		}
	}
}
