package actions

import "regexp"

// Redacted stands where a value was taken out.
const Redacted = "REDACTED by holdfast"

// secretName matches annotation names whose values are likely to be secret.
var secretName = regexp.MustCompile(`(?i)token|password|passwd|secret|credential|api-?key|private-?key`)

// redact takes env values, args and commands out of every pod template in the
// object, and the values of secret-looking annotations and the last-applied
// annotation, which repeats them. It changes o and returns how many values it
// took out.
func redact(o map[string]any) int {
	n := redactAnnotations(o)
	walk(o, func(key string, v any) {
		switch key {
		case "containers", "initContainers", "ephemeralContainers":
			for _, c := range asList(v) {
				n += redactContainer(c)
			}
		case "template":
			if m, ok := v.(map[string]any); ok {
				n += redactAnnotations(m)
			}
		}
	})
	return n
}

func redactContainer(c any) int {
	m, ok := c.(map[string]any)
	if !ok {
		return 0
	}
	n := 0
	for _, e := range asList(m["env"]) {
		if em, ok := e.(map[string]any); ok && em["value"] != nil {
			em["value"] = Redacted
			n++
		}
	}
	for _, f := range []string{"args", "command"} {
		if list := asList(m[f]); len(list) > 0 {
			m[f] = []any{Redacted}
			n++
		}
	}
	return n
}

func redactAnnotations(o map[string]any) int {
	meta, _ := o["metadata"].(map[string]any)
	ann, _ := meta["annotations"].(map[string]any)
	n := 0
	for k := range ann {
		if k == lastApplied || secretName.MatchString(k) {
			ann[k] = Redacted
			n++
		}
	}
	return n
}

func asList(v any) []any {
	l, _ := v.([]any)
	return l
}

// walk calls f for every field of every map in v, outer ones first.
func walk(v any, f func(key string, v any)) {
	switch x := v.(type) {
	case map[string]any:
		for k, c := range x {
			f(k, c)
			walk(c, f)
		}
	case []any:
		for _, c := range x {
			walk(c, f)
		}
	}
}
