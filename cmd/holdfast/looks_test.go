package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/cmd/holdfast/internal/seat"
)

func TestHabitsOfATerminal(t *testing.T) {
	type env map[string]string
	const console = "the Linux console has no clipboard"
	tests := map[string]struct {
		env  env
		args []string
		want habits
	}{
		"nothing is known":              {env{}, nil, habits{}},
		"a terminal that synchronizes":  {env{"TERM": "xterm-kitty"}, nil, habits{sync: true}},
		"one that says so by its name":  {env{"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, nil, habits{sync: true}},
		"Apple's":                       {env{"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, nil, habits{}},
		"over SSH":                      {env{"TERM": "xterm-kitty", "SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22"}, nil, habits{}},
		"over SSH, asked for":           {env{"TERM": "xterm-kitty", "SSH_TTY": "/dev/pts/1"}, []string{"--sync-output=on"}, habits{sync: true}},
		"switched off":                  {env{"TERM": "xterm-kitty"}, []string{"--sync-output=off"}, habits{}},
		"tmux":                          {env{"TERM": "alacritty", "TMUX": "/tmp/tmux-0/default,1,0"}, nil, habits{tmux: true}},
		"screen":                        {env{"TERM": "alacritty", "STY": "1.pts"}, nil, habits{}},
		"the Linux console":             {env{"TERM": "linux", "LANG": "en_US.UTF-8"}, nil, habits{ascii: true, noCopy: console}},
		"the Linux console, its signs":  {env{"TERM": "linux"}, []string{"--ascii=false"}, habits{noCopy: console}},
		"a locale of UTF-8":             {env{"LANG": "de_DE.UTF-8"}, nil, habits{}},
		"one that is written otherwise": {env{"LANG": "de_DE.utf8"}, nil, habits{}},
		"a locale of Latin 1":           {env{"LANG": "de_DE.ISO-8859-1"}, nil, habits{ascii: true}},
		"the first locale counts":       {env{"LC_ALL": "C", "LC_CTYPE": "C.UTF-8", "LANG": "C.UTF-8"}, nil, habits{ascii: true}},
		"the second, too":               {env{"LC_CTYPE": "C.UTF-8", "LANG": "C"}, nil, habits{}},
		"no locale of UTF-8, signs":     {env{"LANG": "C"}, []string{"--ascii=false"}, habits{}},
		"ASCII":                         {env{}, []string{"--ascii"}, habits{ascii: true}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a := &app{}
			if err := a.command().ParseFlags(tc.args); err != nil {
				t.Fatal(err)
			}
			got, err := a.looks.habits(func(name string) string { return tc.env[name] })
			if d := cmp.Diff(tc.want, got, cmp.AllowUnexported(habits{})); d != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, d)
			}
		})
	}
	for flag, want := range map[string]string{"--theme=pink": "choose one of dark, light, contrast, mono", "--sync-output=maybe": "auto, on or off"} {
		a := &app{}
		if err := a.command().ParseFlags([]string{flag}); err != nil {
			t.Fatal(err)
		}
		if _, err := a.looks.habits(func(string) string { return "" }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", flag, err, want)
		}
	}
}

// sgr are the sequences that set how text looks, with their parameters.
var sgr = regexp.MustCompile("\x1b\\[([0-9;:]*)m")

// escapes is every sequence that the console sends.
var escapes = regexp.MustCompile("\x1b\\[[?0-9;]*[a-zA-Z]")

func TestWhatTheTerminalIsSent(t *testing.T) {
	ascii := regexp.MustCompile(`^[\x20-\x7e\r\n]*$`)
	sixteen := regexp.MustCompile(`^(0|1|2|7|3[0-7]|9[0-7])?$`)
	plain := regexp.MustCompile(`^(0|1|2|7)?$`)
	tests := map[string]struct {
		env   []string
		flags []string
		looks *regexp.Regexp // each parameter
		text  *regexp.Regexp // all but the sequences; nil: any
		sync  bool
	}{
		"as it is":            {nil, nil, sixteen, nil, false},
		"NO_COLOR":            {[]string{"NO_COLOR=1"}, nil, plain, nil, false},
		"NO_COLOR, a theme":   {[]string{"NO_COLOR=1"}, []string{"--theme=contrast"}, plain, nil, false},
		"the Linux console":   {[]string{"TERM=linux"}, nil, sixteen, ascii, false},
		"a locale of ASCII":   {[]string{"LC_ALL=C"}, nil, sixteen, ascii, false},
		"synchronized frames": {[]string{"TERM=xterm-kitty", "SSH_CONNECTION=", "SSH_CLIENT=", "SSH_TTY="}, nil, sixteen, nil, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := onFile(t, 80, 24, tc.env, tc.flags...)
			s.Press("3").Sees("CLUSTERQUEUE / LOCAL").Press("4").Sees("NAMESPACE").Press("q").Ends()
			raw := s.Restored().Sent(0)
			for _, m := range sgr.FindAllStringSubmatch(raw, -1) {
				for p := range strings.SplitSeq(m[1], ";") {
					if !tc.looks.MatchString(p) {
						t.Errorf("sent %q", m[0])
					}
				}
			}
			if text := escapes.ReplaceAllString(raw, ""); tc.text != nil && !tc.text.MatchString(text) {
				t.Errorf("sent %q", text)
			}
			begins, ends := strings.Count(raw, "\x1b[?2026h"), strings.Count(raw, "\x1b[?2026l")
			if frames := strings.Count(raw, "\x1b[?2026h\x1b[H"); begins != ends || tc.sync != (frames > 0) || frames != begins {
				t.Errorf("%d frames among %d begins and %d ends of synchronized updates, want any: %v", frames, begins, ends, tc.sync)
			}
		})
	}
}

// A terminal that cannot draw a screen is told what it can do instead.
func TestADumbTerminal(t *testing.T) {
	s := seat.Sit(t, 160, 24, []string{"TERM=dumb"}, holdfast(t), "--world", caseFile("05-preemption-chain"))
	if code := s.Ends(); code != exitUsage {
		t.Errorf("exit code %d", code)
	}
	s.Sees("holdfast: this terminal (TERM=dumb) cannot draw a screen; holdfast glance and holdfast report print text")
	if strings.Contains(s.Sent(0), "\x1b") {
		t.Errorf("sent an escape byte: %q", s.Sent(0))
	}
}

// TestCopyThroughTheTerminal looks at the bytes that arrive, and that no frame is
// broken by them.
func TestCopyThroughTheTerminal(t *testing.T) {
	const hall = "\x1b]52;c;aGFsbA==\x07"
	for want, env := range map[string]string{hall: "TMUX=", "\x1bPtmux;\x1b" + hall + "\x1b\\": "TMUX=/tmp/tmux-0/default,1,0"} {
		s := onFile(t, 120, 24, []string{env}, "--sync-output=on")
		s.Press("2").Sees("COHORT / QUEUE").Press("c").Sees("copied hall (4 characters) with OSC 52; if nothing arrives")
		s.Press("q").Ends()
		raw := s.Restored().Sent(0)
		before, after, ok := strings.Cut(raw, want)
		if !ok || strings.Count(raw, "]52;") != 1 {
			t.Errorf("%q is not there, or not once: %q", want, raw)
		}
		if strings.Count(before, "\x1b[?2026h") != strings.Count(before, "\x1b[?2026l") || !strings.Contains(after, "\x1b[?2026h") {
			t.Error("it came inside a frame")
		}
	}
}
