package file

import (
	"bufio"
	"errors"
	"io"

	"sigs.k8s.io/yaml"
)

// longestObject bounds one object, in bytes; an API server takes about 1.5 MiB.
const longestObject = 16 << 20

// textReader reads JSON or YAML text and puts every object of it into the pipe.
type textReader struct {
	pipe *pipe
	take func([]outcome)
	at   place // the member and the last document that was begun
}

// errNotJSON says that a document begins like JSON and is something else, before
// anything of it went into the pipe.
var errNotJSON = errors.New("not JSON")

// read reads the text to its end: documents in JSON one behind the other, or in
// YAML. What single objects lack is an outcome; an error is trouble with the text
// as a whole.
func (t *textReader) read(r io.Reader) error {
	s := newScanner(r, longestObject)
	if err := t.json(s); err != errNotJSON {
		return err
	}
	y := &yamlReader{r: bufio.NewReaderSize(s.rest(), 64<<10), line: s.line() - 1}
	for {
		doc, line, err := y.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := t.document(doc, line); err != nil {
			return err
		}
	}
}

// document reads one YAML document, which may be JSON or several JSON documents.
func (t *textReader) document(doc []byte, line int) error {
	s := scan(doc)
	s.lines = line - 1
	if err := t.json(s); err != errNotJSON {
		return err
	}
	doc = doc[s.pos:]
	t.at.doc++
	at := t.at
	at.line = s.line()
	rest, items, ok := splitItems(doc)
	if !ok {
		t.pipe.put(doc, job{at: at, form: inYAML})
		return nil
	}
	var held []outcome
	before := t.pipe.into(func(out []outcome) { held = append(held, out...) })
	for i, item := range items {
		place := at.within(i + 1)
		place.line = at.line + item.line
		t.pipe.put(item.text, job{at: place, form: inYAMLItem})
	}
	if len(rest) > 0 {
		t.pipe.put(rest, job{at: at, form: inYAMLHead})
	}
	t.pipe.into(before)
	t.pipe.after(func() { t.take(whole(held, doc, at)) })
	return nil
}

// whole returns the outcomes of a document that was read in parts, or, where a
// part is no YAML by itself, those of the document as a whole; where that is no
// YAML either, what the parts gave is all there is.
func whole(parts []outcome, doc []byte, at place) []outcome {
	for i := range parts {
		if !parts[i].notYAML {
			continue
		}
		conv, err := yaml.YAMLToJSON(doc)
		if err != nil {
			return parts
		}
		return decode(nil, conv, at, typeMeta{})
	}
	return parts
}

// json reads JSON documents as long as there are any. It returns errNotJSON, with
// s before the first byte of what is left, when there is something else.
func (t *textReader) json(s *scanner) error {
	for {
		c, ok := s.space()
		switch {
		case !ok && s.err != io.EOF:
			return s.err
		case !ok:
			return nil
		case c != '{' && c != '[':
			return errNotJSON
		}
		t.at.doc++
		at := t.at
		at.line = s.line()
		s.keep = s.pos
		var err error
		if c == '[' {
			s.keep = -1
			err = t.array(s, at, typeMeta{}, nil)
		} else {
			err = t.object(s, at)
		}
		if err != nil && s.keep >= 0 && !errors.Is(err, errCut) && (s.err == nil || s.err == io.EOF) {
			s.pos, s.keep = s.keep, -1
			t.at.doc--
			return errNotJSON
		}
		if err != nil {
			return err
		}
		s.keep, s.dropped = -1, false
	}
}

// object reads a document that is an object: one to decode, or the head of a
// list, whose items go into the pipe one by one. All of it is kept until it
// turns out to be a list.
func (t *textReader) object(s *scanner, at place) error {
	head, items, list := headFields{}, 0, false
	if err := s.take('{', "where an object begins"); err != nil {
		return err
	}
	for first := true; ; first = false {
		more, err := s.next('}', first)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		key, err := s.key()
		if err != nil {
			return err
		}
		of := head.typeMeta()
		if c, ok := s.space(); ok && c == '[' && key == keyItems && (of.kind == "" || of.isList()) {
			list, s.keep = true, -1
			if err := t.array(s, at, of.element(), &items); err != nil {
				return err
			}
			continue
		}
		raw, err := s.cut()
		if err != nil {
			return err
		}
		head.put(key, raw)
	}
	switch {
	case list:
		t.pipe.after(func() { t.take([]outcome{{at: at, head: head.head(items)}}) })
	case s.dropped || s.pos-s.keep > s.limit:
		t.tooLong(at)
	default:
		t.pipe.put(s.buf[s.keep:s.pos], job{at: at})
	}
	return nil
}

// array reads the items of a list; n, if there is one, counts them.
func (t *textReader) array(s *scanner, at place, of typeMeta, n *int) error {
	if err := s.take('[', "where a list begins"); err != nil {
		return err
	}
	for i := 1; ; i++ {
		more, err := s.next(']', i == 1)
		if err != nil || !more {
			return err
		}
		if n != nil {
			*n = i
		}
		item := at.within(i)
		item.line = s.line()
		raw, err := s.cut()
		if err != nil {
			return err
		}
		if raw == nil {
			t.tooLong(item)
			continue
		}
		t.pipe.put(raw, job{at: item, of: of})
	}
}

func (t *textReader) tooLong(at place) {
	t.pipe.after(func() { t.take([]outcome{{at: at, why: "it is longer than 16 MiB"}}) })
}
