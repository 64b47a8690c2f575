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

// redactContainer takes out the values of env and, wherever they stand in the
// container (its own, probes, lifecycle hooks), commands, args and HTTP headers.
func redactContainer(c any) int {
	n := 0
	walk(c, func(key string, v any) {
		switch key {
		case "env", "httpHeaders":
			for _, e := range asList(v) {
				if m, ok := e.(map[string]any); ok && m["value"] != nil {
					m["value"] = Redacted
					n++
				}
			}
		case "args", "command":
			for i := range asList(v) {
				asList(v)[i] = Redacted
				n++
			}
		}
	})
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
