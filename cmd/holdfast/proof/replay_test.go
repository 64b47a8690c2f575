package proof

import (
	"context"
	"path/filepath"

	"cli.holdfast.dev/holdfast/model/file"
)

// replay is the forecast of a recorded trial, from its file.
func replay(ctx context.Context, r *record, folder string) (forecast, error) {
	in, err := file.Open(filepath.Join(folder, worldFile), r.At)
	if err != nil {
		return forecast{}, err
	}
	return preview(ctx, in.Snapshot, r), nil
}
