package main

import (
	"strings"
	"testing"
)

// TestTheFrameFollowsTheWindow resizes the window and looks at the screen: the
// frame fills it, header at the top and keys at the foot, and nothing of the one
// before is left.
func TestTheFrameFollowsTheWindow(t *testing.T) {
	s := onFile(t, 80, 24, nil).Press("2")
	for _, size := range [][2]int{{120, 40}, {200, 60}, {40, 12}, {80, 24}, {100, 11}} {
		w, h := size[0], size[1]
		s.Resize(w, h)
		s.Until("a frame that fits", func() bool {
			lines := strings.Split(s.Text(), "\n")
			if len(lines) != h || !strings.Contains(lines[0], "FILE") || !strings.HasSuffix(strings.TrimRight(lines[0], " "), "10:00:00"+zone(w)) {
				return false
			}
			// The clock ends one cell before the right edge, wherever that is.
			return len([]rune(strings.TrimRight(lines[0], " "))) == w-1 &&
				strings.Contains(lines[1], "Cohorts") && strings.Contains(lines[h-1], "Enter fold") && strings.Count(s.Text(), "Enter fold") == 1
		})
	}
	s.Resize(39, 24)
	s.Until("the word that it is too small, alone", func() bool { return strings.TrimSpace(s.Text()) == "too small (needs 40x10)" })
	from := s.Count()
	s.Press("qqq\x0c") // what is not seen is not acted on; ctrl+l says when they were read
	s.Until("the screen drawn anew", func() bool { return strings.Contains(s.Sent(from), "\x1b[2J") })
	s.Resize(80, 24)
	s.Sees("FILE", "help")
	s.Press("q")
	if code := s.Ends(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	s.Restored()
}

// zone is what the header has room for behind the time.
func zone(w int) string {
	if w >= 100 {
		return " +00:00"
	}
	return ""
}
