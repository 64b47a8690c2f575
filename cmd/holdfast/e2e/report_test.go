//go:build sandbox

package e2e

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"cli.holdfast.dev/holdfast/model/file"
	"cli.holdfast.dev/holdfast/model/requests"
	rows "cli.holdfast.dev/holdfast/model/world"
)

// Once Kueue has caught up with the spec, what is reserved and admitted by the
// Workloads is what its status says, cell by cell.
func TestUseIsWhatKueueSays(t *testing.T) {
	type cell struct{ Reserved, Admitted string }
	eventually(t, "the report and every ClusterQueue's status agree", func() bool {
		queues, err := world.admin.KueueV1beta2().ClusterQueues().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		out, errs, code := headless(t, oncall(t), "report", "-o", "json")
		var d struct {
			ClusterQueues []struct {
				Name      string
				Resources []struct{ Flavor, Resource, Reserved, Admitted string }
			}
		}
		if err := json.Unmarshal([]byte(out), &d); err != nil || code > 1 {
			t.Fatalf("exit %d, %v: %s", code, err, errs)
		}
		want, got := map[string]cell{}, map[string]cell{}
		for _, q := range queues.Items {
			use(q.Status.FlavorsReservation, func(key, amount string) { want[q.Name+" "+key] = cell{amount, ""} })
			use(q.Status.FlavorsUsage, func(key, amount string) {
				want[q.Name+" "+key] = cell{want[q.Name+" "+key].Reserved, amount}
			})
		}
		for _, q := range d.ClusterQueues {
			for _, r := range q.Resources {
				got[q.Name+" "+r.Flavor+" "+r.Resource] = cell{r.Reserved, r.Admitted}
			}
		}
		return len(got) > 0 && cmp.Equal(want, got)
	})
}

func use(all []kueue.FlavorUsage, f func(key, amount string)) {
	for _, u := range all {
		for _, r := range u.Resources {
			f(string(u.Name)+" "+string(r.Name), rows.ParseAmount(string(r.Name), r.Total).Text(string(r.Name)))
		}
	}
}

// What is counted out of pod templates, LimitRanges and RuntimeClasses is what
// Kueue published: LimitRange defaults, a RuntimeClass's overhead, init
// containers with a sidecar, limits alone, and all of them together.
func TestRequestsAreWhatKueueCounts(t *testing.T) {
	if out, err := exec.Command(world.sandbox, "scenario", "requests", "--dir", world.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := exec.Command(world.sandbox, "kubectl", "--dir", world.dir, "get", "workloads,limitranges,runtimeclasses", "-A", "-o", "json").Output()
	if err != nil {
		t.Fatal(err)
	}
	in, err := file.Read(bytes.NewReader(out), "the sandbox", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	count := requests.New(in.Snapshot)
	seen := map[string]bool{}
	for _, w := range in.Snapshot.Workloads {
		if !strings.HasPrefix(w.Namespace, "requests") {
			continue
		}
		for i := range w.PodSets {
			published := w.PodSets[i]
			if !published.Exact {
				t.Errorf("Kueue published nothing for %s", w.Key)
				continue
			}
			own := published
			own.Exact = false // counted by ourselves
			n := count.Of(w.Namespace, &own)
			var got []rows.Request
			for _, r := range n.PerPod {
				if a := r.Amount.Mul(int64(n.Pods)); a > 0 {
					got = append(got, rows.Request{Resource: r.Resource, Amount: a})
				}
			}
			want := slices.DeleteFunc(slices.Clone(published.Requests), func(r rows.Request) bool { return r.Amount == 0 })
			if d := cmp.Diff(want, got); d != "" || n.Unknown != "" {
				t.Errorf("%s %q (-Kueue +ours):\n%s", w.Key, n.Unknown, d)
			}
			seen[w.JobName()] = true
		}
	}
	for _, job := range []string{"limitrange", "overhead", "init-containers", "limits-only", "all"} {
		if !seen[job] {
			t.Errorf("no Workload of job %s was counted; there are %v", job, seen)
		}
	}
}

// The commands that only read, with the rights that the program documents and with
// a tenant's.
func TestReadingCommands(t *testing.T) {
	tenant := append(oncall(t), "KUBECONFIG="+filepath.Join(world.dir, "tenant.kubeconfig"))
	tests := map[string]struct {
		env  []string
		args []string
		code int
		sees string
	}{
		"a giant's job explained":     {oncall(t), []string{"explain", "job", "team-a/train-giant"}, 0, "Can never fit"},
		"a job that is not there":     {oncall(t), []string{"explain", "job", "team-a/nobody"}, 3, "no Workload belongs to a job team-a/nobody"},
		"glance":                      {oncall(t), []string{"glance"}, 1, "Namespace/team-x"},
		"check, not exercised":        {oncall(t), []string{"check", "--require", "borrowCap"}, 1, "notExercised  borrowCap"},
		"check, a tenant's rights":    {oncall(t), []string{"check", "--subject", "user:tenant"}, 0, "tenantWrites"},
		"check in JSON":               {oncall(t), []string{"check", "-o", "json"}, 0, `"kind": "CheckResult"`},
		"check in YAML":               {oncall(t), []string{"check", "-o", "yaml"}, 0, "kind: CheckResult"},
		"explain in JSON":             {oncall(t), []string{"explain", "job", "team-a/train-giant", "-o", "json"}, 0, `"kind": "Explanation"`},
		"report in YAML":              {oncall(t), []string{"report", "-o", "yaml"}, 1, "kind: Report"},
		"check, a rule that is none":  {oncall(t), []string{"check", "--require", "everything"}, 2, "is no rule"},
		"a tenant's report":           {tenant, []string{"report", "-n", "team-a"}, 1, "train-giant"},
		"a file that is not there":    {oncall(t), []string{"report", "-f", "nowhere.yaml"}, 3, "nowhere.yaml"},
		"a time that is none":         {oncall(t), []string{"report", "--now", "yesterday"}, 2, "2026-09-14T10:00:00Z"},
		"nothing is changed offline":  {oncall(t), []string{"hold", "cq/x", "--world", "w.json", "--yes"}, 2, "not a cluster"},
		"an output that is not known": {oncall(t), []string{"report", "-o", "html"}, 2, "-o html is not known"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			out, errs, code := headless(t, tc.env, tc.args...)
			if code != tc.code || !strings.Contains(out+errs, tc.sees) {
				t.Errorf("exit %d, want %d with %q:\n%s%s", code, tc.code, tc.sees, out, errs)
			}
		})
	}
}
