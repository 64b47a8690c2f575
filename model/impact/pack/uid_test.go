package pack

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

// Every UID comes back, whatever it looks like, and the usual ones are short.
func TestUIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := UID(rapid.OneOf(
			rapid.StringMatching(`[0-9a-fA-F]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`),
			rapid.StringMatching(`[0-9a-f]{7,9}-?[0-9a-f]{23,25}`), rapid.StringMatching(`=?[A-Za-z0-9+/]{22}`), rapid.String(),
		).Draw(t, "uid"))
		raw, err := json.Marshal(u)
		if err != nil {
			t.Fatal(err)
		}
		back := UID("other")
		if err := json.Unmarshal(raw, &back); err != nil || back != u {
			t.Fatalf("%q became %s and came back as %q, %v", string(u), raw, string(back), err)
		}
	})
	for in, most := range map[UID]int{"3488c277-fe2d-432c-8340-940a18d2e657": 24, "": 3} {
		if raw, err := json.Marshal(in); err != nil || len(raw) > most {
			t.Errorf("%q takes %d bytes (%s), %v; want %d", string(in), len(raw), raw, err, most)
		}
	}
	for _, bad := range []string{`1`, `"%"`} {
		var u UID
		if json.Unmarshal([]byte(bad), &u) == nil {
			t.Errorf("%s was read as %q", bad, string(u))
		}
	}
}
