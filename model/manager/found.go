package manager

import (
	"fmt"
	"time"
)

// Found is what a cluster tells of how its manager was started.
type Found struct {
	// Raw is the configuration; nil: there is none, or Problem says why it was not
	// read.
	Raw []byte
	// Source says where Raw is from: "ConfigMap kueue-system/kueue-manager-config".
	Source string
	// Gates is what the command line says in --feature-gates.
	Gates string
	// Problem is a sentence's beginning on why nothing was read; empty where Raw was,
	// or where the command line names no file: Kueue's defaults hold then.
	Problem string
	// Assumed and Unknown are sentences on what was guessed on the way and what could
	// not be found out.
	Assumed, Unknown []string
	// Changed is when the configuration was written last, and Led since when the
	// manager leads; zero where not known.
	Changed, Led time.Time
}

// Settings are the settings that were found, or the defaults with the reason why
// they were taken. It never fails.
func (f Found) Settings() Settings {
	s := f.read()
	s.Assumed = append(s.Assumed[:len(s.Assumed):len(s.Assumed)], f.Assumed...)
	s.Unknown = append(s.Unknown[:len(s.Unknown):len(s.Unknown)], f.Unknown...)
	if !f.Changed.IsZero() && f.Changed.After(f.Led) && !f.Led.IsZero() {
		s = s.doubt("%s was written at %s, after the manager took the lead at %s: it may still run with what stood there before",
			f.Source, f.Changed.UTC().Format(time.RFC3339), f.Led.UTC().Format(time.RFC3339))
	}
	if f.Gates == "" {
		return s
	}
	// Kueue takes those of the command line and refuses to start with both
	// (LoadAndValidateFeatureGates).
	where := "the manager's --feature-gates"
	if s.Config.FeatureGates != nil {
		s = s.doubt("feature gates stand both in %s and in %s: Kueue %s would not start with both; those of the command line are taken", where, s.Source, Linked)
	}
	given, err := parseGates(f.Gates)
	if err != nil {
		return s.doubt("%s: %v", where, err)
	}
	return s.withGates(given, where)
}

func (f Found) read() Settings {
	switch {
	case f.Problem != "":
		return assumed(f.Problem)
	case f.Raw == nil:
		s := untold()
		s.Source, s.Told = fmt.Sprintf("%s: its command line names no configuration", s.Source), true
		return s
	}
	s, err := Parse(f.Raw, f.Source)
	if err != nil {
		return assumed(err.Error())
	}
	return s
}
