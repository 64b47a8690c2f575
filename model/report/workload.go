package report

import "time"

// Workload is a Workload and why it stands where it stands. The words are those of
// packages world and reason.
type Workload struct {
	Namespace    string  `json:"namespace"`
	Name         string  `json:"name"`
	UID          string  `json:"uid"`
	Owner        *Owner  `json:"owner"`
	LocalQueue   string  `json:"localQueue"`
	ClusterQueue *string `json:"clusterQueue"` // that it is in or waits for
	Priority     int32   `json:"priority"`
	// PriorityClass is null where it names none.
	PriorityClass *string `json:"priorityClass"`
	State         string  `json:"state"`
	PodsReady     *bool   `json:"podsReady"` // null: Kueue says nothing of its pods
	Pods          *Pods   `json:"pods"`      // null: they were not read
	HoldsQuota    bool    `json:"holdsQuota"`
	Stuck         bool    `json:"stuck"`

	Class       string     `json:"class"`
	Advice      string     `json:"advice"`
	Actor       *string    `json:"actor"` // null: nobody
	Explanation string     `json:"explanation"`
	Reason      *string    `json:"reason"`
	Message     *string    `json:"message"`
	MessageAge  *int64     `json:"messageAgeSeconds"`
	NeverFits   *bool      `json:"neverFits"`
	Shortfall   []Shortage `json:"shortfall"`
	Obstacles   []Obstacle `json:"obstacles"`

	Position       *int   `json:"position"`       // 1 is the first of its ClusterQueue
	PositionSource string `json:"positionSource"` // visibility, estimated or none

	WaitSeconds          *int64     `json:"waitSeconds"`
	RunningSeconds       *int64     `json:"runningSeconds"`
	PastExecutionSeconds *int64     `json:"pastExecutionSeconds"`
	OverdueSeconds       *int64     `json:"overdueSeconds"`
	ClockSkew            bool       `json:"clockSkew"`
	RequeueAt            *time.Time `json:"requeueAt"` // null: not in backoff
	RequeueCount         int32      `json:"requeueCount"`
	UnhealthyNodes       []string   `json:"unhealthyNodes"`

	Evictions  []Eviction  `json:"evictions"`
	PodSets    []PodSet    `json:"podSets"`
	Checks     []Check     `json:"checks"`
	Preemption *Preemption `json:"preemption"` // null: none is known
	Unknown    string      `json:"unknown,omitempty"`
}

// Owner is the job that the Workload belongs to.
type Owner struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
}

// Pods counts the pods of a Workload by phase. Note says why the first pending one
// does not run.
type Pods struct {
	Pending   int    `json:"pending"`
	Running   int    `json:"running"`
	Failed    int    `json:"failed"`
	Succeeded int    `json:"succeeded"`
	Note      string `json:"note"`
}

// Shortage is what must come back in one flavor before the Workload fits, debt
// included.
type Shortage struct {
	Flavor   string `json:"flavor"`
	Resource string `json:"resource"`
	Quantity string `json:"quantity"`
}

// Obstacle is one thing that must change before the Workload can start. Object is
// Kind/name or Kind/namespace/name.
type Obstacle struct {
	Kind   string `json:"kind"`
	Object string `json:"object"`
	Detail string `json:"detail"`
}

// Eviction counts the evictions of a Workload for one reason.
type Eviction struct {
	Reason          string `json:"reason"`
	UnderlyingCause string `json:"underlyingCause"`
	Count           int32  `json:"count"`
}

// PodSet is one set of equal pods, in the order of the spec.
type PodSet struct {
	Name        string            `json:"name"`
	Count       int32             `json:"count"`
	MinCount    *int32            `json:"minCount"` // null: all or nothing
	Admitted    *int32            `json:"admitted"` // null: nothing is assigned
	Reclaimable int32             `json:"reclaimable"`
	Flavors     map[string]string `json:"flavors"` // by resource
	// Unasked are the resources that it surely uses and asks nothing of, though its
	// ClusterQueue has quota for them ("cpu", "memory"), or "everything": what it
	// uses is counted nowhere.
	Unasked []string `json:"unasked"`
}

// Check is the state of one admission check on the Workload. ControllerActive is
// whether the AdmissionCheck is active.
type Check struct {
	Name             string `json:"name"`
	State            string `json:"state"`
	Message          string `json:"message"`
	RetryCount       int32  `json:"retryCount"`
	ControllerActive *bool  `json:"controllerActive"`
	Unknown          string `json:"unknown,omitempty"`
}

// Preemption is the last preemption of the Workload. With History it is over: the
// Workload has been given quota again since. With Recreated the Preemptor is a later
// Workload of the same job.
type Preemption struct {
	PreemptorUID    *string `json:"preemptorUID"`
	PreemptorJobUID *string `json:"preemptorJobUID"`
	Preemptor       *string `json:"preemptor"` // namespace/name
	Reason          string  `json:"reason"`
	PreemptorPath   *string `json:"preemptorPath"`
	PreempteePath   *string `json:"preempteePath"`
	History         bool    `json:"history"`
	Recreated       bool    `json:"recreated"`
	Unknown         string  `json:"unknown,omitempty"`
}
