package world

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

// Contract says what the console is connected to and which versions speak.
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
	// Asked is set once the server has been asked who the user is and what Kueue's
	// manager says, whatever the answers were.
	Asked bool
	// ServerVersion is the API server's gitVersion.
	ServerVersion string
	Served        []string // versions of kueue.x-k8s.io that are served
	Used          string   // the one that the console reads and writes
	// KueueVersion comes from the image tag of the manager's Deployment; empty when
	// that could not be read, and KueueVersionDetail says why.
	KueueVersion, KueueVersionDetail string
	// Controller is the manager's Deployment being Available.
	Controller       Readiness
	ControllerDetail string
}
