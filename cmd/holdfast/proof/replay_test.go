package proof

import (
	"context"

	"cli.holdfast.dev/holdfast/model/impact/engine"
	"cli.holdfast.dev/holdfast/model/manager"
)

// replay is the forecast of a recorded trial.
func replay(ctx context.Context, r *record, _ string) (forecast, error) {
	return direct(ctx, r, engine.Modes(), manager.Defaults().WithFairSharing(r.Fair).Config)
}
