package check

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
)

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string     `xml:"name,attr"`
	Class   string     `xml:"classname,attr"`
	Failure *junitNote `xml:"failure,omitempty"`
	Skipped *junitNote `xml:"skipped,omitempty"`
	Out     string     `xml:"system-out,omitempty"`
}

type junitNote struct {
	Message string `xml:"message,attr"`
}

// WriteJUnit writes the rules as a JUnit test suite: what is not exercised or not
// known is skipped, unless it is required; then it failed.
func WriteJUnit(w io.Writer, rules []Rule, required []Name) error {
	s := junitSuite{Name: "holdfast check", Tests: len(rules)}
	for _, r := range rules {
		c := junitCase{Name: string(r.Name), Class: "holdfast"}
		var lines []string
		for _, e := range r.Evidence {
			lines = append(lines, strings.TrimSpace(e.Object+" "+e.Detail))
		}
		c.Out = strings.Join(lines, "\n")
		note := &junitNote{Message: string(r.Result)}
		if len(lines) > 0 {
			note.Message += ": " + lines[0]
		}
		switch {
		case r.Result == Pass:
		case r.Result == Fail, slices.Contains(required, r.Name):
			c.Failure = note
			s.Failures++
		default:
			c.Skipped = note
			s.Skipped++
		}
		s.Cases = append(s.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// WriteText writes the rules for a person, each with its evidence.
func WriteText(w io.Writer, rules []Rule) error {
	const few = 5
	for _, r := range rules {
		if _, err := fmt.Fprintf(w, "%-13s %s\n", r.Result, r.Name); err != nil {
			return err
		}
		for i, e := range r.Evidence {
			line := strings.TrimSpace(e.Object + ": " + e.Detail)
			if i == few {
				line = fmt.Sprintf("and %d more", len(r.Evidence)+r.More-few)
			}
			if _, err := fmt.Fprintf(w, "              %s\n", strings.TrimPrefix(line, ": ")); err != nil {
				return err
			}
			if i == few {
				break
			}
		}
	}
	return nil
}
