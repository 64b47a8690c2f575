package pack

import (
	"encoding/json"
	"math"

	"cli.holdfast.dev/holdfast/model/world"
)

// table numbers what occurs more than once. The empty value has number 0.
type table[T comparable] struct {
	number map[T]int
	all    []T
}

func newTable[T comparable]() *table[T] {
	var empty T
	return &table[T]{number: map[T]int{empty: 0}, all: []T{empty}}
}

// of returns the number of v.
func (t *table[T]) of(v T) int {
	n, ok := t.number[v]
	if !ok {
		n = len(t.all)
		t.number[v], t.all = n, append(t.all, v)
	}
	return n
}

// raw returns the texts of a table as JSON, for which null stands for the empty
// one.
func raw(t *table[string]) []json.RawMessage {
	out := make([]json.RawMessage, len(t.all))
	for i, s := range t.all {
		out[i] = message(s)
	}
	return out
}

func message(s string) json.RawMessage {
	if s == "" {
		return json.RawMessage("null")
	}
	return json.RawMessage(s)
}

// noTime stands for the zero time.
const noTime = math.MinInt64

// conditionsOf writes conditions as Object.Conditions has them. raw are the messages
// that the rows have in another form, by type.
func (p *packer) conditionsOf(in world.Conditions, raw map[string]string) []int64 {
	if len(in) == 0 {
		return nil
	}
	out := make([]int64, 0, 3*len(in))
	for i := range in {
		c := Condition{Type: in[i].Type, Status: in[i].Status, Reason: in[i].Reason, Message: in[i].Message}
		if m, ok := raw[c.Type]; ok {
			c.Message = m
		}
		out = append(out, int64(p.conditions.of(c)), p.seconds(in[i].At), in[i].ObservedGeneration)
	}
	return out
}
