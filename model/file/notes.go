package file

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/text"
)

// mostBroken bounds how many objects are named that cannot be read, and mostKinds
// how many names stand in one sentence.
const (
	mostBroken = 50
	mostKinds  = 12
)

// origin says where an export comes from.
func (b *builder) origin() []string {
	h := b.export
	if m := b.manifest; m != nil && m.Context != "" {
		h = &head{Context: m.Context, User: m.User, At: m.Ended.UTC().Format(time.RFC3339), Scope: m.ScopeText, Redacted: m.Redacted}
	}
	if h == nil {
		return nil
	}
	out := "Exported"
	for _, part := range []struct{ word, value string }{{" from context ", h.Context}, {" by ", h.User}, {" at ", h.At}, {", scope: ", h.Scope}} {
		if part.value != "" {
			out += part.word + part.value
		}
	}
	if h.Redacted {
		out += "; values that may be secret were taken out"
	}
	notes := []string{text.Clean(out) + "."}
	if m := b.manifest; m != nil {
		for _, u := range m.Unread {
			notes = append(notes, text.Clean(fmt.Sprintf("%s were not exported: %s.", u.Resource, strings.TrimSuffix(u.Why, "."))))
		}
		for _, l := range m.Lists {
			if l.Cut != "" {
				notes = append(notes, text.Clean(fmt.Sprintf("%s are not all there: %s.", l.Resource, l.Cut)))
			}
		}
	}
	return notes
}

// brokenNotes names the objects that cannot be read, at most so many.
func (b *builder) brokenNotes(most int) []string {
	var out []string
	for i, o := range b.broken {
		if i == most {
			return append(out, fmt.Sprintf("%d more objects cannot be read.", len(b.broken)-most))
		}
		out = append(out, fmt.Sprintf("%s cannot be read: %s.", o.name(), strings.TrimSuffix(o.why, ".")))
	}
	return out
}

// name is what a note calls the object: its kind and name as far as they are
// known, and its place.
func (o outcome) name() string {
	id, at := o.id.String(), o.at.String()
	switch {
	case id != "":
		return id + " in " + at
	case o.at.member == "":
		return strings.ToUpper(at[:1]) + at[1:]
	}
	return at
}

// oddities says what was taken otherwise than it stands, and what was not read.
func (b *builder) oddities() []string {
	var out []string
	if s := b.twice; s.n > 0 {
		out = append(out, fmt.Sprintf("%s in the file more than once; the last one counts (the first such: %s).", stand(s.n), s.first.name()))
	}
	if s := b.noNamespace; s.n > 0 {
		out = append(out, fmt.Sprintf("%s in the file without a namespace and %s taken to be in %q (the first: %s).", stand(s.n), isOrAre(s.n), "default", s.first.name()))
	}
	if s := b.noUID; s.n > 0 {
		out = append(out, fmt.Sprintf("Workloads without a UID in the file: %d. What is found by it (who preempted whom, which pod is whose) is not known of them (the first: %s).", s.n, s.first.name()))
	}
	if s := b.borrowUID; s.n > 0 {
		out = append(out, fmt.Sprintf("Workloads with the UID of another one in the file: %d. They are taken to have none (the first: %s).", s.n, s.first.name()))
	}
	if len(b.others) > 0 {
		out = append(out, "Not read, since nothing is shown of them: "+kindCounts(b.others)+".")
	}
	return out
}

func stand(n int) string {
	if n == 1 {
		return "1 object stands"
	}
	return fmt.Sprintf("%d objects stand", n)
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// kindCounts is "3 v1 ConfigMap, 1 batch/v1 Job", by name.
func kindCounts(counts map[string]int) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%d %s", counts[k], k))
	}
	return few(out, "kind")
}

// few joins names, the first ones where there are many.
func few(names []string, what string) string {
	if len(names) <= mostKinds {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more %ss", strings.Join(names[:mostKinds], ", "), len(names)-mostKinds, what)
}

// held is what a file without Kueue's objects holds: " but 3 Pod, 1 batch/v1 Job".
func (b *builder) held() string {
	all := maps.Clone(b.others)
	for k, n := range b.counts {
		if n > 0 {
			all[string(k)] += n
		}
	}
	if len(all) == 0 {
		return ""
	}
	return " but " + kindCounts(all)
}
