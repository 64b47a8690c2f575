package term

import "github.com/charmbracelet/x/ansi"

// MostCopied is the longest text in bytes that goes through the clipboard
// sequence: terminals bound the whole of it to 100,000 bytes, of which 8 are not
// the text's and every 3 bytes of text take 4.
const MostCopied = (100_000 - 8) / 4 * 3

// Clipboard returns the sequence (OSC 52) with which a terminal puts the text
// into the clipboard of the person's own machine. The text goes as base64, so no
// byte of it can end the sequence. Inside tmux the sequence is wrapped so that it
// reaches the terminal outside, which tmux must allow (allow-passthrough). No
// terminal says whether it did it.
func Clipboard(text string, tmux bool) string {
	s := ansi.SetSystemClipboard(text)
	if tmux {
		s = ansi.TmuxPassthrough(s)
	}
	return s
}
