package file

import (
	"bytes"
	"fmt"
	"io"

	"cli.holdfast.dev/holdfast/model/text"
)

// scanner cuts a stream of JSON into values without looking at what they mean: it
// follows strings and brackets and leaves the rest to the decoder. It holds one
// value at a time; encoding/json's token reader would look at every byte three
// times.
type scanner struct {
	r        io.Reader // nil: buf is all there is
	buf      []byte
	pos, end int
	// keep is where the bytes begin that must stay in buf; -1: nothing must.
	keep int
	// limit is how many bytes are kept at most; a longer value is passed over and
	// dropped is set.
	limit   int
	dropped bool
	lines   int // newlines before buf[counted]
	counted int
	err     error // what ended the reading, io.EOF included
	stack   []byte
}

// textError is trouble with the text itself and not with the reading of it.
type textError string

func (e textError) Error() string { return string(e) }

// errCut says that the text ends in the middle of a value.
const errCut textError = "it ends in the middle of an object: it was cut off. Copy or save it again"

const firstBuffer = 256 << 10

func newScanner(r io.Reader, limit int) *scanner {
	return &scanner{r: r, buf: make([]byte, firstBuffer), keep: -1, limit: limit}
}

// scan returns a scanner over bytes that are in memory already.
func scan(b []byte) *scanner {
	return &scanner{buf: b, end: len(b), keep: -1, limit: len(b), err: io.EOF}
}

// fill reads more and reports whether there is more.
func (s *scanner) fill() bool {
	if s.err != nil {
		return false
	}
	if s.keep >= 0 && s.pos-s.keep > s.limit {
		s.keep, s.dropped = -1, true
	}
	from := s.pos
	if s.keep >= 0 {
		from = s.keep
	}
	if from > 0 {
		if s.counted < from {
			s.lines += bytes.Count(s.buf[s.counted:from], newline)
			s.counted = from
		}
		copy(s.buf, s.buf[from:s.end])
		s.pos, s.end, s.counted = s.pos-from, s.end-from, s.counted-from
		if s.keep >= 0 {
			s.keep = 0
		}
	}
	if s.end == len(s.buf) {
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	for range 100 {
		n, err := s.r.Read(s.buf[s.end:])
		s.end += n
		if err != nil {
			s.err = err
		}
		if n > 0 || err != nil {
			return n > 0
		}
	}
	s.err = io.ErrNoProgress
	return false
}

var newline = []byte{'\n'}

// line is the number of the line on which the scanner stands, the first is 1.
func (s *scanner) line() int {
	if s.counted < s.pos {
		s.lines += bytes.Count(s.buf[s.counted:s.pos], newline)
		s.counted = s.pos
	}
	return s.lines + 1 - bytes.Count(s.buf[s.pos:s.counted], newline)
}

// ended returns why there is no next byte: the reader's own trouble, or errCut.
func (s *scanner) ended() error {
	if s.err != nil && s.err != io.EOF {
		return s.err
	}
	return errCut
}

// space passes over white space and returns the byte behind it without taking
// it; false at the end.
func (s *scanner) space() (byte, bool) {
	for {
		for ; s.pos < s.end; s.pos++ {
			switch c := s.buf[s.pos]; c {
			case ' ', '\t', '\r', '\n':
			default:
				return c, true
			}
		}
		if !s.fill() {
			return 0, false
		}
	}
}

// take passes over white space and the byte, which must come next.
func (s *scanner) take(want byte, where string) error {
	c, ok := s.space()
	if !ok {
		return s.ended()
	}
	if c != want {
		return s.syntax(fmt.Sprintf("%q stands %s where %q is needed", rune(c), where, want))
	}
	s.pos++
	return nil
}

func (s *scanner) syntax(what string) error {
	return textError(fmt.Sprintf("line %d: %s", s.line(), text.Clean(what)))
}

// cut passes over the next value and returns its bytes, which are good until the
// scanner moves on; nil where the value is longer than the limit.
func (s *scanner) cut() ([]byte, error) {
	if _, ok := s.space(); !ok {
		return nil, s.ended()
	}
	from, mine := 0, s.keep < 0 && !s.dropped
	if mine {
		s.keep = s.pos
	} else {
		from = s.pos - s.keep
	}
	err := s.skip()
	var raw []byte
	if s.keep >= 0 && s.pos-s.keep <= s.limit {
		raw = s.buf[s.keep+from : s.pos]
	}
	if mine {
		s.keep, s.dropped = -1, false
	}
	return raw, err
}

// deepest is how many brackets may stand in each other; the decoder's own limit
// is the same.
const deepest = 10000

// skip passes over the next value.
func (s *scanner) skip() error {
	c, ok := s.space()
	switch {
	case !ok:
		return s.ended()
	case c == '"':
		s.pos++
		return s.str()
	case c != '{' && c != '[':
		return s.scalar()
	}
	s.stack = s.stack[:0]
	for {
		for s.pos < s.end {
			c := s.buf[s.pos]
			s.pos++
			switch c {
			case '"':
				if err := s.str(); err != nil {
					return err
				}
			case '{', '[':
				if len(s.stack) == deepest {
					return s.syntax("brackets stand too deep in each other")
				}
				s.stack = append(s.stack, c+2) // in ASCII the closing one
			case '}', ']':
				last := len(s.stack) - 1
				if s.stack[last] != c {
					return s.syntax(fmt.Sprintf("%q closes what %q should", c, s.stack[last]))
				}
				if s.stack = s.stack[:last]; last == 0 {
					return nil
				}
			}
		}
		if !s.fill() {
			return s.ended()
		}
	}
}

// str passes over the rest of a string whose first quote is taken.
func (s *scanner) str() error {
	escaped := false
	for {
		for s.pos < s.end {
			c := s.buf[s.pos]
			s.pos++
			switch {
			case escaped:
				escaped = false
			case c == '"':
				return nil
			case c == '\\':
				escaped = true
			}
		}
		if !s.fill() {
			return s.ended()
		}
	}
}

// scalar passes over a number or a word.
func (s *scanner) scalar() error {
	for n := 0; ; {
		for ; s.pos < s.end; s.pos++ {
			switch c := s.buf[s.pos]; c {
			case ' ', '\t', '\r', '\n', ',', ']', '}', ':', '{', '[', '"':
				if n == 0 {
					return s.syntax(fmt.Sprintf("%q stands where a value is needed", rune(c)))
				}
				return nil
			}
			n++
		}
		if !s.fill() {
			if n == 0 || s.err != io.EOF {
				return s.ended()
			}
			return nil
		}
	}
}

// next passes over the comma before the next member of an object or array that
// the byte ends, and reports whether there is a next one. A comma behind the last
// member is let pass, as YAML does. first is set for the first member.
func (s *scanner) next(end byte, first bool) (bool, error) {
	c, ok := s.space()
	if !ok {
		return false, s.ended()
	}
	if !first && c == ',' {
		s.pos++
		if c, ok = s.space(); !ok {
			return false, s.ended()
		}
	} else if !first && c != end {
		return false, s.syntax(fmt.Sprintf("%q stands where a comma or %q is needed", rune(c), end))
	}
	if c == end {
		s.pos++
		return false, nil
	}
	return true, nil
}

// key takes a member's name and the colon behind it. Names that are not in
// headKeys come as "".
func (s *scanner) key() (string, error) {
	if c, ok := s.space(); ok && c != '"' {
		return "", s.syntax(fmt.Sprintf("%q stands where the name of a field is needed", rune(c)))
	}
	raw, err := s.cut()
	if err != nil {
		return "", err
	}
	name := ""
	if len(raw) > 2 {
		name = headKeys[string(raw[1:len(raw)-1])]
	}
	return name, s.take(':', "behind the name of a field")
}

// rest reads what the scanner has not read yet: the rest of its buffer, then of
// its reader.
func (s *scanner) rest() io.Reader {
	buffered := bytes.NewReader(s.buf[s.pos:s.end])
	if s.err != nil {
		return io.MultiReader(buffered, failing{s.err})
	}
	return io.MultiReader(buffered, s.r)
}

// failing is a reader that has come to its end.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
