// Package bundle is the format of an export: a gzipped tar of YAML files with the
// objects as the server sent them, a report, and at its end manifest.json, which
// lists every other file with its size, checksum and number of objects. Package
// file makes a world of one.
package bundle

import (
	"fmt"
	"path"
	"strings"
	"time"

	"cli.holdfast.dev/holdfast/model/world"
)

// APIVersion and Kind are those of a manifest.
const (
	APIVersion = "holdfast.dev/v1alpha1"
	Kind       = "Bundle"
)

// ManifestName is the name of the last file of a bundle, ReportName that of the
// report in it.
const (
	ManifestName = "manifest.json"
	ReportName   = "holdfast-report.json"
)

// Manifest says what a bundle holds and where it comes from. Times are UTC.
type Manifest struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Context, Server, ClusterUID and User are where it was read and by whom.
	// ClusterUID is the UID of the namespace kube-system; empty where it could not be
	// read.
	Context    string `json:"context"`
	Server     string `json:"server"`
	ClusterUID string `json:"clusterUID,omitempty"`
	User       string `json:"user"`
	// KueueVersion is empty where it is not known.
	KueueVersion string `json:"kueueVersion,omitempty"`
	KueueAPI     string `json:"kueueAPI"`
	MadeBy       string `json:"madeBy,omitempty"`
	// Scope says of which Workloads it is; ScopeText is the same in words.
	Scope     Scope  `json:"scope"`
	ScopeText string `json:"scopeText"`
	// Begun and Ended are when the first list was begun and the last was read.
	Begun time.Time `json:"begun"`
	Ended time.Time `json:"ended"`
	// Redacted is set where env values, args, commands, headers of probes and
	// secret-looking annotations were taken out, RedactedValues of them.
	Redacted       bool `json:"redacted"`
	RedactedValues int  `json:"redactedValues"`
	// Consistency says in a sentence which of the lists are one state.
	Consistency string `json:"consistency"`
	// Lists are the lists that were read, in their order, and Unread what is left out
	// and why.
	Lists  []List   `json:"lists"`
	Unread []Unread `json:"unread"`
	// Workloads is how many are in it.
	Workloads int    `json:"workloads"`
	Files     []File `json:"files"`
}

// Ours reports whether the manifest is of the version that this program writes.
func (m *Manifest) Ours() bool { return m.APIVersion == APIVersion && m.Kind == Kind }

// List is one list of the API server: one consistent state of one kind, at its
// ResourceVersion.
type List struct {
	Resource        string `json:"resource"`
	Kind            string `json:"kind"`
	ResourceVersion string `json:"resourceVersion"`
	// Count is how many objects of the list are in the bundle.
	Count int `json:"count"`
	// Cut says in words that and why the list has more than those; empty: they are all of
	// the scope. LeftOut is how many more were read and are not in the bundle.
	Cut     string `json:"cut,omitempty"`
	LeftOut int    `json:"leftOut,omitempty"`
}

// Unread is a list that is not in the bundle.
type Unread struct {
	Resource string `json:"resource"`
	Kind     string `json:"kind"`
	Why      string `json:"why"`
}

// File is one file of the bundle.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	// Objects is how many YAML documents it holds; 0 for the report.
	Objects int `json:"objects,omitempty"`
}

// Scope selects Workloads: of one ClusterQueue, of those below one Cohort, of one
// LocalQueue, one namespace, or all when every field is empty.
type Scope struct {
	Cohort       string    `json:"cohort,omitempty"`
	ClusterQueue string    `json:"clusterQueue,omitempty"`
	LocalQueue   world.Key `json:"localQueue,omitzero"`
	Namespace    string    `json:"namespace,omitempty"`
}

// String is the scope in words ("ClusterQueue team-a-cq").
func (s Scope) String() string {
	switch {
	case s.Cohort != "":
		return "Cohort " + s.Cohort
	case s.ClusterQueue != "":
		return "ClusterQueue " + s.ClusterQueue
	case s.LocalQueue.Name != "":
		return "LocalQueue " + s.LocalQueue.String()
	case s.Namespace != "":
		return "Namespace " + s.Namespace
	}
	return "all Workloads"
}

// InNamespace is the namespace that a list of Workloads can be limited to; empty:
// all.
func (s Scope) InNamespace() string {
	if s.LocalQueue.Name != "" {
		return s.LocalQueue.Namespace
	}
	return s.Namespace
}

// Queues says where Workloads belong that are not admitted: the ClusterQueue of a
// LocalQueue, and whether a ClusterQueue is below the cohort of the scope.
type Queues struct {
	Of    func(localQueue world.Key) string
	Below func(clusterQueue string) bool
}

// Has reports whether a Workload belongs to the scope. clusterQueue is the one it
// is admitted to, or empty; then its LocalQueue decides.
func (s Scope) Has(q Queues, namespace, localQueue, clusterQueue string) bool {
	if clusterQueue == "" && (s.Cohort != "" || s.ClusterQueue != "") {
		clusterQueue = q.Of(world.Key{Namespace: namespace, Name: localQueue})
	}
	switch {
	case s.Cohort != "":
		return clusterQueue != "" && q.Below(clusterQueue)
	case s.ClusterQueue != "":
		return clusterQueue == s.ClusterQueue
	case s.LocalQueue.Name != "":
		return s.LocalQueue == world.Key{Namespace: namespace, Name: localQueue}
	case s.Namespace != "":
		return s.Namespace == namespace
	}
	return true
}

// goodName refuses names that could lead out of a folder, or hide another file.
func goodName(name string) error {
	if name == "" || path.IsAbs(name) || path.Clean(name) != name || strings.HasPrefix(name, "..") || strings.ContainsAny(name, "\\\x00") {
		return fmt.Errorf("%q is not a name of a file in a bundle", name)
	}
	return nil
}
