package world

import "time"

// SpecWrite is what the server remembers of a field manager that wrote to an object's
// spec.
type SpecWrite struct {
	// Manager is the program's name for itself, safe to draw; not that of a person.
	Manager string
	// At is when it last added, changed or removed any field of the object; earlier
	// writes of the same manager are forgotten.
	At time.Time
	// Fields are those of the spec that it has set and nobody has changed since, as paths
	// below spec ("preemption.reclaimWithinCohort"), sorted. Lists that are written as a
	// whole are one field.
	Fields []string
}
