package pack

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// UID is a UID. There are two for each Workload, so that they are half of a World:
// in JSON one of the usual form (8-4-4-4-12 lower-case digits) is its 16 bytes in
// base64, any other one stands behind "=" as it is.
type UID string

// MarshalJSON implements json.Marshaler.
func (u UID) MarshalJSON() ([]byte, error) {
	raw, ok := u.bytes()
	if !ok {
		return json.Marshal("=" + string(u))
	}
	out := append(make([]byte, 0, 24), '"')
	out = base64.RawStdEncoding.AppendEncode(out, raw[:])
	return append(out, '"'), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (u *UID) UnmarshalJSON(in []byte) error {
	if len(in) == 24 && in[1] != '=' {
		var raw [16]byte
		if _, err := base64.RawStdEncoding.Decode(raw[:], in[1:23]); err != nil {
			return err
		}
		*u = dashed(raw)
		return nil
	}
	var s string
	if err := json.Unmarshal(in, &s); err != nil {
		return err
	}
	rest, ok := strings.CutPrefix(s, "=")
	if !ok {
		return fmt.Errorf("%q is no UID", s)
	}
	*u = UID(rest)
	return nil
}

// bytes returns what the digits stand for; false where u has not the usual form.
func (u UID) bytes() (raw [16]byte, ok bool) {
	if len(u) != 36 {
		return raw, false
	}
	var digits [32]byte
	n := 0
	for i := range len(u) {
		c := u[i]
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return raw, false
			}
		case c >= 'A' && c <= 'F': // would come back as lower-case
			return raw, false
		default:
			digits[n] = c
			n++
		}
	}
	_, err := hex.Decode(raw[:], digits[:])
	return raw, err == nil
}

// dashed writes the usual form.
func dashed(raw [16]byte) UID {
	var digits [32]byte
	hex.Encode(digits[:], raw[:])
	out := make([]byte, 0, 36)
	for i, from := range []int{0, 8, 12, 16, 20} {
		if i > 0 {
			out = append(out, '-')
		}
		out = append(out, digits[from:[]int{8, 12, 16, 20, 32}[i]]...)
	}
	return UID(out)
}
