package quota_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain lets every property be tried on 2,000 clusters, not rapid's 100; the
// flag still decides where it is given.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		if err := flag.Set("rapid.checks", "2000"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
