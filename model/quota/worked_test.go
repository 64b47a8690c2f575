package quota

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/model/world"
)

func weighted(o *world.Cohort, weight float64) *world.Cohort {
	o.FairWeight = &weight
	return o
}

// Quota, use and shares were computed with Kueue 0.17.0's own resource_node.go
// and fair_sharing.go; what can be lent, lenders and debts by hand.
func TestWorkedExamples(t *testing.T) {
	plant := []*world.Cohort{group("plant", "", cell("4", "", "")), group("north", "plant", cell("6", "5", "8")), weighted(group("south", "plant", nil), 2)}
	inPlant := []*world.ClusterQueue{queue("n-a", "north", cell("10", "", "4")), queue("n-b", "north", cell("2", "3", "")), queue("s-a", "south", cell("8", "", ""))}
	tests := map[string]struct {
		queues  []*world.ClusterQueue
		cohorts []*world.Cohort
		use     map[string]string
		want    map[string]row
	}{
		"three levels, U1": {inPlant, plant, map[string]string{"n-a": "9", "n-b": "4500m", "s-a": "11"}, map[string]row{
			"plant": {"20", "0", "20", "14500m", "5500m", "0", "0", "0", "0", nil},
			"north": {"12", "4", "17", "7500m", "5500m", "0", "8", "4500m", "0", nil},
			"south": {"8", "0", "20", "11", "5500m", "75", "8", "0", "0", []string{"plant(own) 4 <3", "north 4500m <3"}},
			"n-a":   {"10", "6", "23", "9", "5500m", "0", "4", "1", "0", nil},
			"n-b":   {"2", "0", "5", "4500m", "500m", "148", "2", "0", "0", []string{"north(own) 6 <2500m", "n-a 1"}},
			"s-a":   {"8", "0", "20", "11", "5500m", "150", "8", "0", "0", []string{"plant(own) 4 <3", "north 4500m <3"}},
		}},
		"three levels, U2": {inPlant, plant, map[string]string{"n-a": "14", "n-b": "4500m", "s-a": "11"}, map[string]row{
			"plant": {"20", "0", "20", "19500m", "500m", "0", "0", "0", "0", nil},
			"north": {"12", "4", "17", "12500m", "500m", "25", "8", "0", "0", []string{"plant(own) 4 <500m"}},
			"south": {"8", "0", "20", "11", "500m", "75", "8", "0", "0", []string{"plant(own) 4 <3"}},
			"n-a":   {"10", "6", "23", "14", "500m", "236", "4", "0", "0", []string{"north(own) 6 <4", "plant(own) 4 <500m"}},
			"n-b":   {"2", "0", "5", "4500m", "500m", "148", "2", "0", "0", []string{"north(own) 6 <2500m", "plant(own) 4 <500m"}},
			"s-a":   {"8", "0", "20", "11", "500m", "150", "8", "0", "0", []string{"plant(own) 4 <3"}},
		}},
		"a queue without quota in cohorts with quota": {
			[]*world.ClusterQueue{queue("apple", "orchards", cell("0", "", "")), queue("pear", "orchards", cell("8", "", "2")), queue("mill", "estate", cell("10", "", "")), queue("barn", "sheds", cell("4", "1", "")), queue("well", "", cell("3", "", ""))},
			[]*world.Cohort{group("estate", "", cell("12", "", "")), group("orchards", "estate", cell("6", "10", "5"))},
			map[string]string{"apple": "9", "pear": "7", "mill": "12", "barn": "1", "well": "3"}, map[string]row{
				"estate":   {"27", "0", "27", "19", "8", "0", "0", "0", "0", nil},
				"orchards": {"8", "3", "18", "10", "8", "75", "5", "0", "0", []string{"estate(own) 12 <2"}},
				"sheds":    {"4", "0", "4", "1", "3", "0", "0", "0", "0", nil},
				"apple":    {"0", "0", "18", "9", "8", "500", "0", "0", "0", []string{"orchards(own) 6", "pear 1", "estate(own) 12 <2"}},
				"pear":     {"8", "6", "24", "7", "8", "0", "2", "1", "0", nil},
				"mill":     {"10", "0", "27", "12", "8", "75", "10", "0", "0", []string{"estate(own) 12 <2"}},
				"barn":     {"4", "0", "4", "1", "3", "0", "4", "3", "0", nil},
				"well":     {"3", "0", "3", "3", "0", "0", "0", "0", "0", nil},
			}},
		"a pool with three who may lend": {
			[]*world.ClusterQueue{queue("dock", "harbor", cell("8", "", "")), queue("pier", "harbor", cell("6", "", "2")), queue("quay", "harbor", cell("0", "", ""))},
			[]*world.Cohort{group("harbor", "", cell("2", "", ""))},
			map[string]string{"dock": "3", "pier": "1", "quay": "7"}, map[string]row{
				"harbor": {"12", "0", "12", "10", "2", "0", "0", "0", "0", nil},
				"dock":   {"8", "0", "12", "3", "2", "0", "8", "5", "0", nil},
				"pier":   {"6", "4", "16", "1", "5", "0", "2", "2", "0", nil},
				"quay":   {"0", "0", "12", "7", "2", "584", "0", "0", "0", []string{"harbor(own) 2", "dock 5", "pier 2"}},
			}},
		"quota cut below use": {
			[]*world.ClusterQueue{queue("ink", "press", cell("6", "", "")), queue("foil", "press", cell("4", "2", ""))}, nil,
			map[string]string{"ink": "9", "foil": "3"}, map[string]row{
				"press": {"10", "0", "10", "12", "-2", "0", "0", "0", "2", nil},
				"ink":   {"6", "0", "10", "9", "-2", "300", "6", "0", "2", []string{"foil 1"}},
				"foil":  {"4", "0", "6", "3", "-2", "0", "4", "1", "0", nil},
			}},
		"a lone queue over its quota": {
			[]*world.ClusterQueue{queue("well", "", cell("3", "", ""))}, nil, map[string]string{"well": "5"}, map[string]row{
				"well": {"3", "0", "3", "5", "-2", "0", "0", "0", "2", nil},
			}},
		"two borrow what one has idle: nobody knows whose loan is missing": {
			[]*world.ClusterQueue{queue("a", "co", cell("2", "", "")), queue("b", "co", cell("3", "", "")), queue("c", "co", cell("1", "", ""))}, nil,
			map[string]string{"a": "5", "b": "4"}, map[string]row{
				"co": {"6", "0", "6", "9", "-3", "0", "0", "0", "3", nil},
				"a":  {"2", "0", "6", "5", "-3", "500", "2", "0", "2 to 3", []string{"c 1"}},
				"b":  {"3", "0", "6", "4", "-3", "167", "3", "0", "0 to 1", []string{"c 1"}},
				"c":  {"1", "0", "6", "0", "-3", "0", "1", "1", "0", nil},
			}},
		"a limit that was cut takes back no loan": {
			[]*world.ClusterQueue{queue("a", "in", cell("0", "", "")), queue("b", "out", cell("4", "", ""))},
			[]*world.Cohort{group("in", "out", cell("1", "0", ""))},
			map[string]string{"a": "3"}, map[string]row{
				"out": {"5", "0", "5", "3", "2", "0", "0", "0", "0", nil},
				"in":  {"1", "0", "1", "3", "-2", "400", "1", "0", "0", []string{"b 4 <2"}},
				"a":   {"0", "0", "1", "3", "-2", "3000", "0", "0", "0", []string{"in(own) 1", "b 4 <2"}},
				"b":   {"4", "0", "5", "0", "2", "0", "4", "4", "0", nil},
			}},
		"a cohort that may not borrow names nobody outside": {
			[]*world.ClusterQueue{queue("a", "in", cell("0", "", "")), queue("b", "out", cell("4", "", "")), queue("kept", "in", cell("5", "", "0"))},
			[]*world.Cohort{group("in", "out", cell("1", "0", ""))},
			map[string]string{"a": "1"}, map[string]row{
				"out":  {"5", "0", "5", "1", "4", "0", "0", "0", "0", nil},
				"in":   {"1", "0", "1", "1", "0", "0", "1", "0", "0", nil},
				"a":    {"0", "0", "1", "1", "0", "1000", "0", "0", "0", []string{"in(own) 1"}},
				"b":    {"4", "0", "5", "0", "4", "0", "4", "4", "0", nil},
				"kept": {"5", "5", "6", "0", "5", "0", "0", "0", "0", nil},
			}},
		"finished work is no use, and one queue borrows from its cohort": {
			[]*world.ClusterQueue{queue("hall", "wing", cell("6", "3", "2")), queue("attic", "house", cell("5", "", ""))},
			[]*world.Cohort{group("house", "", nil), group("wing", "house", cell("4", "2", "3"))},
			map[string]string{"hall": "8", "attic": "2"}, map[string]row{
				"house": {"8", "0", "8", "3", "5", "0", "0", "0", "0", nil},
				"wing":  {"6", "3", "8", "4", "4", "0", "3", "2", "0", nil},
				"hall":  {"6", "4", "9", "8", "1", "250", "2", "0", "0", []string{"wing(own) 4 <2"}},
				"attic": {"5", "0", "8", "2", "5", "0", "5", "3", "0", nil},
			}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, rows(Build(tc.queues, tc.cohorts, uses(tc.use)))); d != "" {
				t.Errorf("cells (-want +got):\n%s", d)
			}
		})
	}
}

// The words are those of the status: shares are rounded up, and a borrower of
// weight 0 has the greatest integer there, which is no number to print.
func TestSharesAreWrittenAsTheStatusHasThem(t *testing.T) {
	tests := map[string]struct {
		use    string
		weight float64
		want   string
	}{
		"nothing borrowed":              {"2", 1, "0"},
		"nothing borrowed, no weight":   {"2", 0, "0"},
		"two thirds":                    {"4", 1, "667"},
		"of twice the weight":           {"4", 2, "334"},
		"of half the weight":            {"4", 0.5, "1334"},
		"infinite":                      {"4", 0, "infinite"},
		"a third, exact in no fraction": {"3", 1, "334"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			q := queue("q", "co", cell("2", "", ""))
			q.FairWeight = &tc.weight
			tr := Build([]*world.ClusterQueue{q}, []*world.Cohort{group("co", "", cell("1", "", ""))}, uses(map[string]string{"q": tc.use}))
			got, ok := tr.ClusterQueue("q").Share()
			if !ok || got.String() != tc.want || got.Infinite() != (tc.want == "infinite") {
				t.Errorf("share %s, known %v; want %s", got, ok, tc.want)
			}
		})
	}
}

// Depth costs neither time nor stack: the deepest cohort still sees the root's quota.
func TestADeepTreeIsWalked(t *testing.T) {
	const depth = 20_000
	cohorts := []*world.Cohort{group("c0", "", cell("3", "", ""))}
	for i := 1; i < depth; i++ {
		cohorts = append(cohorts, group(fmt.Sprint("c", i), fmt.Sprint("c", i-1), nil))
	}
	tr := Build([]*world.ClusterQueue{queue("q", fmt.Sprint("c", depth-1), cell("1", "", ""))}, cohorts, uses(map[string]string{"q": "2"}))
	want := row{"1", "0", "4", "2", "2", "250", "1", "0", "0", []string{"c0(own) 3 <1"}}
	if d := cmp.Diff(want, rowOf(tr.ClusterQueue("q"))); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
