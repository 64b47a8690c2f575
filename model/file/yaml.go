package file

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// longestYAML bounds one YAML document, which is held in memory, in bytes.
const longestYAML = 1 << 30

const errLongYAML textError = "it has a YAML document of more than 1 GiB. Save the objects as JSON (kubectl get ... -o json): that is read piece by piece"

// yamlReader cuts a stream into YAML documents.
type yamlReader struct {
	r     *bufio.Reader
	line  int    // the number of the last line that was read
	ahead []byte // a separator with something behind it, already read
	long  []byte // room for lines longer than r's buffer
}

// next returns the next document that holds more than comments and the line on
// which it begins; io.EOF when there is none.
func (y *yamlReader) next() (doc []byte, line int, err error) {
	if y.ahead != nil {
		doc, line, y.ahead = y.ahead, y.line, nil
	}
	for {
		l, err := y.readLine()
		if err == io.EOF && len(doc) > 0 {
			return doc, line, nil
		}
		if err != nil {
			return nil, 0, err
		}
		switch {
		case marks(l, "---") || marks(l, "..."):
			if rest := bytes.TrimSpace(l[3:]); len(rest) > 0 && rest[0] != '#' {
				y.ahead = bytes.Clone(l)
			}
			if len(doc) > 0 {
				return doc, line, nil
			}
			doc, line, y.ahead = y.ahead, y.line, nil
		case len(doc) == 0 && empty(l):
		case len(doc)+len(l) > longestYAML:
			return nil, 0, errLongYAML
		default:
			if len(doc) == 0 {
				line = y.line
			}
			doc = append(doc, l...)
		}
	}
}

// readLine returns the next line with its end; io.EOF behind the last one.
func (y *yamlReader) readLine() ([]byte, error) {
	l, err := y.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		y.long = y.long[:0]
		for err == bufio.ErrBufferFull {
			if y.long = append(y.long, l...); len(y.long) > longestYAML {
				return nil, errLongYAML
			}
			l, err = y.r.ReadSlice('\n')
		}
		y.long = append(y.long, l...)
		l = y.long
	}
	if err == io.EOF && len(l) > 0 {
		err = nil
	}
	y.line++
	return l, err
}

// marks reports whether the line is the document marker, alone or with something
// behind it.
func marks(line []byte, marker string) bool {
	return bytes.HasPrefix(line, []byte(marker)) && (len(line) == 3 || strings.IndexByte(" \t\r\n", line[3]) >= 0)
}

// empty reports whether a line before a document says nothing: a blank one, a
// comment or a directive.
func empty(line []byte) bool {
	t := bytes.TrimSpace(line)
	return len(t) == 0 || t[0] == '#' || line[0] == '%'
}

// yamlItem is a list of one item, cut out of a document, and the line of the
// document where it begins (the first is 0).
type yamlItem struct {
	text []byte
	line int
}

// splitItems cuts a document as kubectl writes lists, the items below a line
// "items:", into the items and the rest. It looks at nothing but the indentation;
// where that misleads (an item goes on, unindented, within quotes or brackets, or
// refers to an anchor of another one) a part is no YAML by itself, and the caller
// has to take the document as a whole. False where the document does not look so.
func splitItems(doc []byte) (rest []byte, items []yamlItem, ok bool) {
	const before, first, inside, behind = 0, 1, 2, 3
	state, indent, from := before, 0, 0
	for pos, n := 0, 0; pos < len(doc); n++ {
		end := len(doc)
		if i := bytes.IndexByte(doc[pos:], '\n'); i >= 0 {
			end = pos + i + 1
		}
		line, start := doc[pos:end], pos
		pos = end
		body := bytes.TrimLeft(line, " ")
		deep := len(line) - len(body)
		switch {
		case len(bytes.TrimSpace(body)) == 0 || body[0] == '#':
			if state == before || state == behind {
				rest = append(rest, line...)
			}
			continue
		case body[0] == '\t':
			return nil, nil, false
		case deep == 0 && isItems(line):
			if state != before {
				return nil, nil, false
			}
			state = first
			continue
		}
		dash := body[0] == '-' && (len(body) == 1 || strings.IndexByte(" \t\r\n", body[1]) >= 0)
		switch {
		case state == first && !dash:
			return nil, nil, false
		case state == first:
			state, indent, from = inside, deep, start
			items = append(items, yamlItem{line: n})
		case state == inside && deep == indent && dash:
			items[len(items)-1].text = doc[from:start]
			from = start
			items = append(items, yamlItem{line: n})
		case state == inside && deep == 0:
			items[len(items)-1].text = doc[from:start]
			state = behind
			rest = append(rest, line...)
		case state == inside && deep <= indent:
			return nil, nil, false
		case state != inside:
			rest = append(rest, line...)
		}
	}
	if state == inside {
		items[len(items)-1].text = doc[from:]
	}
	return rest, items, len(items) > 0
}

// isItems reports whether the line is "items:" and nothing more.
func isItems(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("items:"))
	if !ok {
		return false
	}
	t := bytes.TrimSpace(rest)
	return len(t) == 0 || t[0] == '#' && (rest[0] == ' ' || rest[0] == '\t')
}

// decodeYAML reads a YAML document, or a part of one.
func decodeYAML(out []outcome, raw []byte, j job) []outcome {
	conv, err := yaml.YAMLToJSON(raw)
	if err != nil {
		return append(out, outcome{at: j.at, id: guess(raw), notYAML: true, why: "it is not YAML: " + yamlError(err, j.at.line)})
	}
	switch j.form {
	case inYAMLItem:
		n := 0
		err = elements(conv, func(item []byte) {
			n++
			out = decode(out, item, j.at, j.of)
		})
		if err != nil || n != 1 {
			out = append(out, outcome{at: j.at, notYAML: true, why: "it is no item of a list"})
		}
	case inYAMLHead:
		if conv[0] != '{' {
			return append(out, outcome{at: j.at, notYAML: true, why: "it is no list of objects"})
		}
		h, _, _ := headOf(conv)
		out = append(out, outcome{at: j.at, head: h})
	default:
		out = decode(out, conv, j.at, j.of)
	}
	return out
}

var (
	yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)
	kindLine = regexp.MustCompile(`(?m)^[- ]{0,4}kind: *["']?([A-Za-z]+)`)
	nameLine = regexp.MustCompile(`(?m)^[- ]{2,6}name: *["']?([^\s"']+)`)
)

// yamlError is the parser's error with the line of the file; line is where the
// text begins that it was given.
func yamlError(err error, line int) string {
	msg := err.Error()
	m := yamlLine.FindStringSubmatch(msg)
	msg = msg[len(m[0]):]
	if n, err := strconv.Atoi(m[1]); err == nil && line > 0 {
		msg = fmt.Sprintf("line %d: %s", line+n-1, msg)
	}
	return text.Clean(msg)
}

// guess looks for the kind and name of an object whose text is no YAML.
func guess(raw []byte) objectID {
	var id objectID
	if m := kindLine.FindSubmatch(raw); m != nil {
		id.kind = world.Kind(text.Clean(string(m[1])))
	}
	if m := nameLine.FindSubmatch(raw); m != nil {
		id.key.Name = text.Clean(string(m[1]))
	}
	return id
}
