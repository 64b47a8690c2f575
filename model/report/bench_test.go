package report

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"testing"

	"k8s.io/apimachinery/pkg/util/json"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/file"
)

// bigList returns n Workloads as the items of a List, every third of them pending,
// and the List itself with the queues that they need.
func bigList(n int) (items [][]byte, list []byte) {
	var b bytes.Buffer
	b.WriteString(`{"apiVersion":"v1","kind":"List","items":[` +
		`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"std"}},` +
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team"}}`)
	for q := range 100 {
		fmt.Fprintf(&b, `,{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"cq%d","uid":"cq%d"},"spec":{"cohortName":"co","namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu","memory"],"flavors":[{"name":"std","resources":[{"name":"cpu","nominalQuota":"2000"},{"name":"memory","nominalQuota":"8Ti"}]}]}]}}`, q, q)
		fmt.Fprintf(&b, `,{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"lq%d","namespace":"team","uid":"lq%d"},"spec":{"clusterQueue":"cq%d"}}`, q, q, q)
	}
	for i := range n {
		q := i % 100
		var x bytes.Buffer
		fmt.Fprintf(&x, `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"job-train-%d","namespace":"team","uid":"w-%d","resourceVersion":"%d","creationTimestamp":"2026-09-14T08:00:00Z","generation":1,"labels":{"kueue.x-k8s.io/job-uid":"j-%d"},"finalizers":["kueue.x-k8s.io/resource-in-use"],"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"train-%d","uid":"j-%d","controller":true,"blockOwnerDeletion":true}],"managedFields":[{"manager":"kueue","operation":"Apply","apiVersion":"kueue.x-k8s.io/v1beta2","time":"2026-09-14T08:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:admission":{"f:clusterQueue":{},"f:podSetAssignments":{"k:{\"name\":\"main\"}":{".":{},"f:count":{},"f:flavors":{"f:cpu":{},"f:memory":{}},"f:name":{},"f:resourceUsage":{"f:cpu":{},"f:memory":{}}}}}}},"subresource":"status"}]},`, i, i, i, i, i, i)
		fmt.Fprintf(&x, `"spec":{"active":true,"priority":%d,"queueName":"lq%d","podSets":[{"name":"main","count":4,"template":{"metadata":{"labels":{"app":"train"}},"spec":{"restartPolicy":"Never","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","schedulerName":"default-scheduler","securityContext":{},"nodeSelector":{"pool":"a"},"tolerations":[{"key":"gpu","operator":"Exists","effect":"NoSchedule"}],"volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"datasets"}},{"name":"shm","emptyDir":{"medium":"Memory"}}],"containers":[{"name":"main","image":"registry.example/train:%d","command":["python","-m","train"],"args":["--lr","0.01","--epochs","40","--checkpoint","/data/ckpt"],"env":[{"name":"RANK","value":"0"},{"name":"WORLD_SIZE","value":"4"},{"name":"DATA","value":"/data"}],"resources":{"requests":{"cpu":"4","memory":"16Gi"},"limits":{"cpu":"8","memory":"16Gi"}},"volumeMounts":[{"name":"data","mountPath":"/data"},{"name":"shm","mountPath":"/dev/shm"}],"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}]}}}]},`, i%7*100, q, i%50)
		if i%3 == 0 {
			x.WriteString(`"status":{"conditions":[{"type":"QuotaReserved","status":"False","reason":"Pending","message":"couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor std, 12 more needed","lastTransitionTime":"2026-09-14T09:00:00Z","observedGeneration":1}],"resourceRequests":[{"name":"main","resources":{"cpu":"16","memory":"64Gi"}}]}}`)
		} else {
			fmt.Fprintf(&x, `"status":{"conditions":[{"type":"QuotaReserved","status":"True","reason":"QuotaReserved","message":"Quota reserved in ClusterQueue cq%d","lastTransitionTime":"2026-09-14T08:10:00Z","observedGeneration":1},{"type":"Admitted","status":"True","reason":"Admitted","message":"The workload is admitted","lastTransitionTime":"2026-09-14T08:10:00Z","observedGeneration":1},{"type":"PodsReady","status":"True","reason":"Started","message":"All pods reached readiness and the workload is running","lastTransitionTime":"2026-09-14T08:11:00Z","observedGeneration":1}],"admission":{"clusterQueue":"cq%d","podSetAssignments":[{"name":"main","count":4,"flavors":{"cpu":"std","memory":"std"},"resourceUsage":{"cpu":"16","memory":"64Gi"}}]}}}`, q, q)
		}
		items = append(items, x.Bytes())
		b.WriteByte(',')
		b.Write(x.Bytes())
	}
	b.WriteString(`]}`)
	return items, b.Bytes()
}

// A report of 50,000 Workloads beside the bare decoding of its Workloads into
// Kueue's own types, which is the least that anybody must do.
func BenchmarkFromFile(b *testing.B) {
	items, list := bigList(50_000)
	b.Run("decoding", func(b *testing.B) {
		b.SetBytes(int64(len(list)))
		for b.Loop() {
			for _, x := range items {
				var w kueue.Workload
				if err := json.Unmarshal(x, &w); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("report", func(b *testing.B) {
		b.SetBytes(int64(len(list)))
		for b.Loop() {
			w, err := file.Read(bytes.NewReader(list), "many", caseTime)
			if err != nil {
				b.Fatal(err)
			}
			if err := WriteJSON(io.Discard, Build(Input{Snapshot: w.Snapshot, Now: caseTime, Source: Source{Type: w.Type}})); err != nil {
				b.Fatal(err)
			}
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "MiB-live")
	})
}
