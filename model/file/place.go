package file

import (
	"fmt"
	"strings"
)

// place says where in the file an object stands. Numbers begin at 1; 0 is one
// that is not known or does not apply.
type place struct {
	member string // of a tar; clean
	doc    int
	item   int // of the document's list
	inner  int // of a list in that list
	line   int // where the object begins
	depth  int // lists around it
}

// within is the place of the n-th item of a list at the place.
func (p place) within(n int) place {
	if p.depth == 0 {
		p.item = n
	} else {
		p.inner = n
	}
	p.depth++
	p.line = 0 // that of the list; who cut the item may know its own
	return p
}

// String is "queues.yaml, document 2, item 5 (line 130)", as far as it is known.
// The first document is named only where nothing else says where.
func (p place) String() string {
	var out []string
	if p.member != "" {
		out = append(out, p.member)
	}
	if p.doc > 1 || p.doc == 1 && p.item == 0 {
		out = append(out, fmt.Sprintf("document %d", p.doc))
	}
	if p.item > 0 {
		out = append(out, fmt.Sprintf("item %d", p.item))
	}
	if p.inner > 0 {
		out = append(out, fmt.Sprintf("its item %d", p.inner))
	}
	s := strings.Join(out, ", ")
	if p.line > 0 {
		s += fmt.Sprintf(" (line %d)", p.line)
	}
	return s
}
