package world

import "time"

// Readiness is whether a part of Kueue works, as far as can be seen.
type Readiness uint8

// The readiness values. The zero value is Unknown: not looked, or not allowed to.
const (
	Unknown Readiness = iota
	Ready
	NotReady
)

// String is the word that is shown.
func (r Readiness) String() string { return [...]string{"unknown", "ready", "not ready"}[r] }

// Where Contract.KueueVersion comes from.
const (
	VersionFromImage   = "Deployment image tag"
	VersionFromMetrics = "kueue_build_info"
)

// Contract says what the console is connected to and which versions speak. Each
// Detail says what its Readiness rests on, or why it is Unknown; it holds no ages,
// so that a cluster where nothing happens gives equal Contracts.
type Contract struct {
	Context string // kubeconfig context; empty for none
	Server  string // URL of the API server
	User    string // as the server knows it (SelfSubjectReview), or the kubeconfig's word
	// UserFrom says where User comes from: "server" or "kubeconfig".
	UserFrom     string
	Impersonates string // --as; empty: nobody
	// Namespace limits what is read of LocalQueues and Workloads; empty: all of them
	// are. With a limit the Workloads of a ClusterQueue are not all known, and its
	// numbers come from its status.
	Namespace string
	// Part says of what alone the Workloads are known ("ClusterQueue team-a-cq") where
	// they come from an export of a part; empty: of all. It limits as Namespace does.
	Part string
	// Asked is set once the server has been asked who the user is, what Kueue's
	// manager says and how its webhooks are set up, whatever the answers were.
	Asked bool
	// Probed is set once ConversionWebhook and Visibility have been tried, too, which
	// can take seconds where Kueue hangs.
	Probed bool
	// ServerVersion is the API server's gitVersion.
	ServerVersion string
	Served        []string // versions of kueue.x-k8s.io that are served
	Used          string   // the one that the console reads and writes
	// Stored is the version in which new objects of Kueue's kinds are stored, from the
	// CustomResourceDefinition of ClusterQueue; empty where that may not be read.
	Stored string
	// KueueVersion is empty when it could not be read; KueueVersionDetail says why
	// then, and KueueVersionSource is empty, too.
	KueueVersion, KueueVersionDetail, KueueVersionSource string
	// Controller is what the manager's Deployment and its leader's lease say.
	Controller       Readiness
	ControllerDetail string
	// ValidatingWebhook is Ready only for a while after a write or dry-run of this program
	// showed it: reading cannot tell. NotReady is certain.
	ValidatingWebhook       Readiness
	ValidatingWebhookDetail string
	// WebhookCAValidUntil is when the first of the CA bundles with which the API
	// server checks Kueue's validating webhooks runs out; zero where none could be
	// read, and WebhookCADetail says why.
	WebhookCAValidUntil time.Time
	WebhookCADetail     string
	// ConversionWebhook is whether an object could be read in two versions, one of
	// which must be converted.
	ConversionWebhook       Readiness
	ConversionWebhookDetail string
	// Visibility is whether Kueue gives the order of its queues.
	Visibility       Readiness
	VisibilityDetail string
	// Unreadable lists what the server refused to this user, sorted.
	Unreadable []Unreadable
}

// Limit says in words of what alone Workloads are known ("namespace red"); empty
// where all of them can be.
func (c *Contract) Limit() string {
	switch {
	case c.Part != "":
		return c.Part
	case c.Namespace != "":
		return "namespace " + c.Namespace
	}
	return ""
}

// Unreadable is one thing that the server refuses to the user.
type Unreadable struct {
	Resource  string // with its group: "clusterqueues.kueue.x-k8s.io", "namespaces"
	Verb      string // get, list or watch
	Namespace string // empty: in all namespaces, or the resource has none
}
