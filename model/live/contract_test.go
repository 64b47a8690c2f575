package live

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"cli.holdfast.dev/holdfast/model/world"
)

func (s *server) route(path string, h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.routes[path] = h
}

const (
	group     = `{"kind":"APIGroup","apiVersion":"v1","name":"kueue.x-k8s.io","versions":[{"version":"v1beta2"},{"version":"v1beta1"}]}`
	configure = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/km-validating-webhook-configuration"
	deploy    = "/apis/apps/v1/namespaces/ks/deployments/km"
	leases    = "/apis/coordination.k8s.io/v1/namespaces/ks/leases"
)

// The whole of it once, of a cluster where all is well.
func TestContractOfAHealthyCluster(t *testing.T) {
	s := newServer(t)
	s.put("clusterqueues", map[string]any{"metadata": map[string]any{"name": "q", "uid": "u-q", "resourceVersion": "5"}, "spec": map[string]any{}})
	s.route(groupPath, says(200, group))
	s.route(deploy, says(200, `{"kind":"Deployment","apiVersion":"apps/v1","spec":{"template":{"spec":{"containers":[{"name":"manager","image":"kueue:v0.19.2"}]}}},"status":{"conditions":[{"type":"Available","status":"True"}]}}`))
	s.route(leases+"/c1f6bfd2.kueue.x-k8s.io", says(200, fmt.Sprintf(`{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"c1f6bfd2.kueue.x-k8s.io"},"spec":{"holderIdentity":"m","renewTime":%q}}`, time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"))))
	s.route(configure, says(200, `{"kind":"ValidatingWebhookConfiguration","apiVersion":"admissionregistration.k8s.io/v1","webhooks":[{"name":"w","clientConfig":{"url":"https://127.0.0.1"}}]}`))
	s.route(crdPath, says(200, `{"spec":{"versions":[{"name":"v1beta2","storage":true}]}}`))
	for _, v := range []string{v1, v2} {
		s.route(v+"clusterqueues/q", says(200, `{}`))
	}
	s.route(visible2+"clusterqueues/q/pendingworkloads", says(200, `{"items":[]}`))
	w := start(t, s)
	eventually(t, "the contract", func() bool { c := w.Snapshot().Contract; return c.Asked && c.Probed && c.ServerVersion != "" })
	want := world.Contract{
		User: "kim", UserFrom: "server", Asked: true, Probed: true, ServerVersion: "v1.36.3", Served: []string{"v1beta2", "v1beta1"}, Used: "v1beta2", Stored: "v1beta2",
		KueueVersion: "v0.19.2", KueueVersionSource: "Deployment image tag",
		Controller: world.Ready, ControllerDetail: "the Deployment is available; the lease c1f6bfd2.kueue.x-k8s.io was renewed less than 30s ago",
		ValidatingWebhookDetail: "not tried, since only a dry-run of a write could tell; it is asked at a URL",
		ConversionWebhook:       world.Ready, ConversionWebhookDetail: "clusterqueues q was read as v1beta2 and as v1beta1",
		Visibility: world.Ready, VisibilityDetail: "Kueue told the order of q",
	}
	if d := cmp.Diff(want, w.Snapshot().Contract); d != "" {
		t.Errorf("contract (-want +got):\n%s", d)
	}
}

// When the manager goes down, what was seen of it before is looked at anew at once.
func TestTheManagerGoesDownAndComesBack(t *testing.T) {
	s := newServer(t)
	s.put("clusterqueues", map[string]any{"metadata": map[string]any{"name": "q", "uid": "u-q", "resourceVersion": "5"}, "spec": map[string]any{}})
	s.route(groupPath, says(200, group))
	s.route(v2+"clusterqueues/q", says(200, `{}`))
	set := func(available string, conversion, pending http.HandlerFunc) {
		s.route(deploy, says(200, `{"kind":"Deployment","apiVersion":"apps/v1","status":{"conditions":[{"type":"Available","status":"`+available+`"}]}}`))
		s.route(v1+"clusterqueues/q", conversion)
		s.route(visible2+"clusterqueues/q/pendingworkloads", pending)
	}
	works := says(200, `{"items":[]}`)
	set("True", works, works)
	c := clocktesting.NewFakeClock(time.Now())
	w := startAt(t, s, c)
	now := func() world.Contract {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.contract
	}
	parts := func(want world.Readiness) func() bool {
		return func() bool { k := now(); return k.Probed && k.ConversionWebhook == want && k.Visibility == want }
	}
	// controller lets the time pass until it is seen, which is sooner than the parts
	// would be tried again.
	controller := func(want world.Readiness) func() bool {
		return func() bool { c.Step(time.Second); return now().Controller == want }
	}
	eventually(t, "all is well", parts(world.Ready))
	eventually(t, "the controller is well", controller(world.Ready))
	set("False", failure(500, "", broken), failure(503, "ServiceUnavailable", "down"))
	eventually(t, "the controller is down", controller(world.NotReady))
	eventually(t, "the parts are down", parts(world.NotReady))
	set("True", works, works)
	eventually(t, "the controller is back", controller(world.Ready))
	eventually(t, "the parts are back", parts(world.Ready))
}

// Whoever may read nothing learns what it is, and may read what is left.
func TestUnreadable(t *testing.T) {
	s := newServer(t)
	s.route(groupPath, says(200, group))
	for _, r := range []string{"clusterqueues", "namespaces"} {
		s.fail[r] = 403
	}
	s.put("localqueues", map[string]any{"metadata": map[string]any{"name": "lq", "namespace": "ns", "uid": "u-lq", "resourceVersion": "5"}, "spec": map[string]any{}})
	no := failure(403, "Forbidden", "said the server")
	for _, path := range []string{
		deploy, leases, leases + "/c1f6bfd2.kueue.x-k8s.io", configure, crdPath, apiPath,
		"/apis/discovery.k8s.io/v1/namespaces/ks/endpointslices", visible2 + "namespaces/ns/localqueues/lq/pendingworkloads",
	} {
		s.route(path, no)
	}
	w := start(t, s)
	want := []world.Unreadable{
		{Resource: "apiservices.apiregistration.k8s.io", Verb: "get"},
		{Resource: "clusterqueues.kueue.x-k8s.io", Verb: "list"},
		{Resource: "clusterqueues.kueue.x-k8s.io", Verb: "watch"},
		{Resource: "customresourcedefinitions.apiextensions.k8s.io", Verb: "get"},
		{Resource: "deployments.apps", Verb: "get", Namespace: "ks"},
		{Resource: "endpointslices.discovery.k8s.io", Verb: "list", Namespace: "ks"},
		{Resource: "leases.coordination.k8s.io", Verb: "get", Namespace: "ks"},
		{Resource: "localqueues.visibility.kueue.x-k8s.io/pendingworkloads", Verb: "get", Namespace: "ns"},
		{Resource: "namespaces", Verb: "list"},
		{Resource: "namespaces", Verb: "watch"},
		{Resource: "validatingwebhookconfigurations.admissionregistration.k8s.io", Verb: "get"},
	}
	var d string
	defer func() {
		if t.Failed() {
			t.Logf("unreadable (-want +got):\n%s", d)
		}
	}()
	eventually(t, "what is refused", func() bool { d = cmp.Diff(want, w.Snapshot().Contract.Unreadable); return d == "" })
	c := w.Snapshot().Contract
	for what, state := range map[string]world.Readiness{"controller": c.Controller, "webhook": c.ValidatingWebhook, "visibility": c.Visibility} {
		if state != world.Unknown {
			t.Errorf("%s is %s, want unknown", what, state)
		}
	}
	for what, detail := range map[string]string{"controller": c.ControllerDetail, "webhook": c.ValidatingWebhookDetail, "visibility": c.VisibilityDetail, "version": c.KueueVersionDetail, "CA": c.WebhookCADetail} {
		if !strings.Contains(detail, "said the server") {
			t.Errorf("%s: %q does not say why", what, detail)
		}
	}
	if w.Snapshot().LocalQueue(world.Key{Namespace: "ns", Name: "lq"}) == nil {
		t.Error("the LocalQueue that may be read is not there")
	}
}

// What was forbidden and is allowed later must not stay in the list.
func TestARefusalThatEnds(t *testing.T) {
	f, u := &feed{}, world.Unreadable{Resource: "x", Verb: "get"}
	f.failed("list", forbidden("x"))
	f.failed("watch", forbidden("x"))
	f.failed("list", http.ErrServerClosed) // says nothing of rights
	if got := f.refusals(); len(got) != 2 {
		t.Errorf("refused %v, want list and watch", got)
	}
	f.allowed("list", time.Time{})
	if d := cmp.Diff([]string{"watch"}, f.refusals()); d != "" {
		t.Errorf("after the list is allowed (-want +got):\n%s", d)
	}
	var r refusals
	r.note(forbidden("x"), u)
	r.note(http.ErrServerClosed, u)
	if d := cmp.Diff([]world.Unreadable{u}, r.list()); d != "" {
		t.Errorf("refused (-want +got):\n%s", d)
	}
	r.note(nil, u)
	if got := r.list(); len(got) != 0 {
		t.Errorf("still refused: %v", got)
	}
}

// On a cluster that speaks v1beta1 the lists fail while the conversion webhook is
// down: the kinds that need it say so, and the others go on.
func TestListsThatCannotBeConverted(t *testing.T) {
	s := newServer(t)
	s.version = "v1beta1"
	s.put("resourceflavors", map[string]any{"metadata": map[string]any{"name": "f", "uid": "u-f", "resourceVersion": "5"}, "spec": map[string]any{}})
	body, err := json.Marshal(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 500, "message": broken})
	if err != nil {
		t.Fatal(err)
	}
	down := says(500, string(body))
	for _, r := range []string{"clusterqueues", "workloads", "localqueues", "cohorts"} {
		s.route(v1+r, down)
	}
	w := start(t, s)
	for _, k := range []world.Kind{world.KindClusterQueue, world.KindWorkload, world.KindLocalQueue, world.KindCohort} {
		eventually(t, string(k)+" fails", func() bool { return w.Snapshot().Fresh(k).Feed == world.Failing })
		if d := w.Snapshot().Fresh(k).Detail; !strings.Contains(d, broken) || !strings.Contains(d, "see whether Kueue's manager runs") {
			t.Errorf("%s: detail %q, want the server's words and advice", k, d)
		}
	}
	eventually(t, "the flavor", func() bool {
		return w.Snapshot().Flavor("f") != nil && w.Snapshot().Fresh(world.KindResourceFlavor).Feed == world.Live
	})
	eventually(t, "the verdict", func() bool { return w.Snapshot().Contract.ConversionWebhook == world.NotReady })
	if d := w.Snapshot().Contract.ConversionWebhookDetail; d != broken {
		t.Errorf("detail %q, want the server's words", d)
	}
	// It is repaired: nothing of it stays.
	for _, r := range []string{"clusterqueues", "workloads", "localqueues", "cohorts"} {
		s.route(v1+r, nil)
	}
	eventually(t, "everything is live", func() bool { return allLive(w.Snapshot()) })
}

func TestTheNextAttemptIsKnown(t *testing.T) {
	s := newServer(t)
	s.CloseClientConnections()
	s.Close()
	w := start(t, s)
	eventually(t, "the next attempt", func() bool {
		f := w.Snapshot().Fresh(world.KindWorkload)
		return f.Feed == world.Disconnected && !f.Retry.IsZero()
	})
	if f, at := w.Snapshot().Fresh(world.KindWorkload), w.Snapshot().At; f.Retry.Before(at.Add(-probeEvery)) || f.Retry.After(at.Add(probeEvery)) {
		t.Errorf("the next attempt is at %s, seen at %s", f.Retry, at)
	}
}
