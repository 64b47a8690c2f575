// Package manager knows what Kueue's manager is configured with: it reads the
// Configuration that the manager was started with, and says what was assumed
// where that cannot be read.
//
// Kueue's defaulting and conversion are its own (apis/config); its validation
// (pkg/config) would bring every job framework along, so that what bears on
// scheduling is checked here. What Kueue makes of a Configuration (cmd/kueue/main.go,
// v0.19.2), as far as a preview can follow it:
//
//	field or gate                                   goes into
//	resources.excludeResourcePrefixes               cache, queues: WithExcludedResourcePrefixes
//	resources.transformations                       cache, queues: WithResourceTransformations
//	resources.quotaCheckStrategy (gate              scheduler: WithQuotaCheckStrategy, else BlockUndeclared
//	  QuotaCheckStrategy)
//	resources.deviceClassMappings (gate             Workload reconciler: WithDRAMapper; the queues' WithDRABackedResources
//	  KueueDRAIntegration)                            holds what it finds in the cluster
//	fairSharing (nil: off)                          cache: WithFairSharing(true); scheduler: WithFairSharing; ClusterQueue
//	                                                  and Cohort reconcilers: only what they write into a status
//	admissionFairSharing (gate                      cache, queues, scheduler: WithAdmissionFairSharing; LocalQueue and
//	  AdmissionFairSharing)                           Workload reconcilers keep the history
//	waitForPodsReady.blockAdmission (not with gate  cache: WithPodsReadyTracking
//	  DisableWaitForPodsReady)
//	waitForPodsReady.requeuingStrategy.timestamp    queues, scheduler: WithPodsReadyRequeuingTimestamp, gate or not
//	waitForPodsReady, the rest                      Workload reconciler: WithWaitForPodsReady, of an unexported type;
//	                                                  only the passing of time shows it
//	gate SchedulerLibraryIntegration                cache: WithSchedulingSimulator
//	featureGates, or --feature-gates                the process: LoadAndValidateFeatureGates
//	metrics, clientConnection, controller, ...      nothing that decides who is admitted
//
// A Configuration of v1beta2 that says nothing of waitForPodsReady has it on, with
// half an hour and without blockAdmission; one of v1beta1 has it off.
package manager

import (
	"fmt"
	"slices"

	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"

	"cli.holdfast.dev/holdfast/model/text"
)

// Linked is the version of Kueue whose code is in this program.
const Linked = "v0.19.2"

// Settings is the manager's configuration as far as it bears on what Kueue's
// scheduler does. It is a value of plain data and can be sent as JSON; none of
// its methods changes what it is called on.
type Settings struct {
	// Config is the manager's own configuration with Kueue's defaults filled in.
	// Feature gates that the linked Kueue does not know are left out, and what may
	// hold credentials of other clusters, too.
	Config configapi.Configuration
	// Source says where it comes from: "ConfigMap kueue-system/kueue-manager-config",
	// "file config.yaml", "defaults of Kueue v0.19.2".
	Source string
	// Told is set where Config is what the manager, or a person in its place, says;
	// unset: the defaults were taken for want of it.
	Told bool
	// Assumed are sentences on what was taken for granted.
	Assumed []string
	// Unknown are sentences on what bears on a preview and could not be found out.
	Unknown []string
}

// Defaults are the settings of a manager that was started without a
// configuration. That this one was is an assumption.
func Defaults() Settings {
	return assumed("the manager's configuration was not read")
}

// assumed are the defaults, and why they were taken.
func assumed(why string) Settings {
	s := untold()
	s.Assumed = []string{fmt.Sprintf("%s: the %s are taken", why, s.Source)}
	return s
}

// untold are the defaults, with nothing assumed.
func untold() Settings {
	s := Settings{Source: "defaults of Kueue " + Linked}
	s.Config.SetGroupVersionKind(configapi.SchemeGroupVersion.WithKind("Configuration"))
	setNamespace(&s.Config.Namespace)
	configapi.SetObjectDefaults_Configuration(&s.Config)
	return s
}

// WithFairSharing is the settings with fair sharing on or off, whatever they said:
// a person told so. The strategies of a configuration that has it on stay.
func (s Settings) WithFairSharing(on bool) Settings {
	switch was := s.Config.FairSharing != nil; {
	case on == was:
		return s
	case on:
		s.Config.FairSharing = ownStrategies()
		s = s.assume("fair sharing is on, as you told; its preemption strategies are Kueue's own two")
	default:
		s.Config.FairSharing = nil
		s = s.assume("fair sharing is off, as you told")
	}
	return s
}

// ownStrategies are those that Kueue takes where it is told none
// (Convert_v1beta1_FairSharing_To_v1beta2_FairSharing).
func ownStrategies() *configapi.FairSharing {
	return &configapi.FairSharing{PreemptionStrategies: []configapi.PreemptionStrategy{configapi.LessThanOrEqualToFinalShare, configapi.LessThanInitialShare}}
}

// assume adds to Assumed without writing into what others hold.
func (s Settings) assume(format string, a ...any) Settings {
	s.Assumed = append(slices.Clip(s.Assumed), text.Clean(fmt.Sprintf(format, a...)))
	return s
}

// doubt adds to Unknown without writing into what others hold.
func (s Settings) doubt(format string, a ...any) Settings {
	s.Unknown = append(slices.Clip(s.Unknown), text.Clean(fmt.Sprintf(format, a...)))
	return s
}
