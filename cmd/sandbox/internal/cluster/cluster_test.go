package cluster

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestPollReturnsAtTheFirstSuccess(t *testing.T) {
	calls := 0
	err := Poll(t.Context(), time.Minute, func(context.Context) error {
		if calls++; calls < 3 {
			return errors.New("not yet")
		}
		return nil
	})
	if err != nil || calls != 3 {
		t.Errorf("err %v after %d calls, want nil after 3", err, calls)
	}
}

func TestPollGivesUpWithTheLastError(t *testing.T) {
	cause := errors.New("webhook refused")
	if err := Poll(t.Context(), 0, func(context.Context) error { return cause }); !errors.Is(err, cause) {
		t.Errorf("err %v, want %v", err, cause)
	}
}

func TestPollEndsWithTheContextsCause(t *testing.T) {
	died := errors.New("etcd died")
	ctx, cancel := context.WithCancelCause(t.Context())
	err := Poll(ctx, time.Minute, func(context.Context) error {
		cancel(died)
		return errors.New("connection refused")
	})
	if !errors.Is(err, died) {
		t.Errorf("err %v, want %v", err, died)
	}
}

func TestRankWritesWhatOthersNeedFirst(t *testing.T) {
	order := []string{"Namespace", "CustomResourceDefinition", "ClusterRole", "ValidatingWebhookConfiguration"}
	for i := 1; i < len(order); i++ {
		if rank(order[i-1]) >= rank(order[i]) {
			t.Errorf("%s does not come before %s", order[i-1], order[i])
		}
	}
}
