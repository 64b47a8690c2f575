package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/core/indexer"
)

// List implements client.Reader with the indexes that Kueue's code asks for. An
// index that is not known is an error: an answer without it would be wrong.
func (s *shelf) List(_ context.Context, l client.ObjectList, opts ...client.ListOption) error {
	lo := client.ListOptions{}
	lo.ApplyOptions(opts)
	fields := map[string]string{}
	if lo.FieldSelector != nil {
		for _, r := range lo.FieldSelector.Requirements() {
			fields[r.Field] = r.Value
		}
	}
	if len(fields) > 1 || lo.LabelSelector != nil {
		return s.refuse(fmt.Sprintf("list by %v", lo), l)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch t := l.(type) {
	case *kueue.WorkloadList:
		return s.listWorkloads(t, lo.Namespace, fields)
	case *kueue.LocalQueueList:
		return s.listLocals(t, fields)
	case *corev1.LimitRangeList:
		return s.listRanges(t, lo.Namespace, fields)
	}
	return s.refuse("list", l)
}

func (s *shelf) listWorkloads(t *kueue.WorkloadList, namespace string, fields map[string]string) error {
	for f, v := range fields {
		switch f {
		case indexer.WorkloadQueueKey:
			ks := s.byLocal[client.ObjectKey{Namespace: namespace, Name: v}]
			t.Items = make([]kueue.Workload, len(ks))
			for i, k := range ks {
				s.work[k].DeepCopyInto(&t.Items[i])
			}
			return nil
		case indexer.WorkloadClusterQueueKey:
			ks := slices.SortedFunc(maps.Keys(s.byQueue[v]), byName)
			t.Items = make([]kueue.Workload, len(ks))
			for i, k := range ks {
				// Kueue's cache only reads what runs: no copy (TestRunWritesNothing).
				t.Items[i] = *s.work[k]
			}
			return nil
		}
	}
	return s.refuse(fmt.Sprintf("list by %v", fields), t)
}

func (s *shelf) listLocals(t *kueue.LocalQueueList, fields map[string]string) error {
	name, ok := fields[indexer.QueueClusterQueueKey]
	if !ok {
		return s.refuse(fmt.Sprintf("list by %v", fields), t)
	}
	for _, k := range s.ofQueue[name] {
		t.Items = append(t.Items, *s.locals[k].DeepCopy())
	}
	return nil
}

func (s *shelf) listRanges(t *corev1.LimitRangeList, namespace string, fields map[string]string) error {
	v, typed := fields[indexer.LimitRangeHasContainerOrPodType]
	if len(fields) > 1 || len(fields) == 1 && !typed {
		return s.refuse(fmt.Sprintf("list by %v", fields), t)
	}
	for _, r := range s.ranges[namespace] {
		if has := indexer.IndexLimitRangeHasContainerOrPodType(r); typed && (len(has) != 1 || has[0] != v) {
			continue
		}
		t.Items = append(t.Items, *r.DeepCopy())
	}
	return nil
}
