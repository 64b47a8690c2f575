// Package manager knows what Kueue's manager is configured with: it reads the
// Configuration that the manager was started with, and says what was assumed
// where that cannot be read.
package manager

import (
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
)

// Settings is the manager's configuration as far as it bears on what Kueue's
// scheduler does. It is a value of plain data and can be sent as JSON.
type Settings struct {
	// Config is the manager's own configuration with Kueue's defaults filled in.
	Config configapi.Configuration
	// Source says where it comes from: "ConfigMap kueue-system/kueue-manager-config",
	// "file config.yaml", "defaults of Kueue v0.19.2".
	Source string
	// Assumed are sentences on what was taken for granted.
	Assumed []string
	// Unknown are sentences on what bears on a preview and could not be found out.
	Unknown []string
}
