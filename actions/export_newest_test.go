package actions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cli.holdfast.dev/holdfast/model/bundle"
)

// eventsOf lets the server list so many events, page by page, in the order of their
// names. at says when each was, in seconds; the page from which on the list is too old
// is refused (0: none is).
func eventsOf(s *apiServer, n int, at func(i int) int, expired int) {
	inner := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/events") {
			inner.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		from, limit := asInt(r.URL.Query().Get("continue")), asInt(r.URL.Query().Get("limit"))
		if expired > 0 && from >= expired*limit {
			refuse(w, 410, "Expired", "the continue token is too old")
			return
		}
		to := min(from+limit, n)
		meta := map[string]any{"resourceVersion": "9"}
		if to < n {
			meta["continue"] = strconv.Itoa(to)
		}
		items := []any{}
		for i := from; i < to; i++ {
			e := map[string]any{"apiVersion": "v1", "kind": "Event", "metadata": map[string]any{"namespace": "ns", "name": fmt.Sprintf("e%05d", i), "annotations": map[string]any{"token": "s3cret"}}, "involvedObject": map[string]any{"kind": "Workload"}}
			when := tick.Add(time.Duration(at(i)) * time.Second).Format(time.RFC3339)
			if i%2 == 0 { // the one kind of writer sets this, the other that
				e["lastTimestamp"] = when
			} else {
				e["eventTime"] = strings.TrimSuffix(when, "Z") + ".000000Z"
			}
			items = append(items, e)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "EventList", "apiVersion": "v1", "metadata": meta, "items": items})
	})
}

// Of more events than are taken the newest are, wherever in the list they stand, in the
// order of the list; and the manifest says how many are left out.
func TestNewestEvents(t *testing.T) {
	up := func(i int) int { return i }
	down := func(i int) int { return -i }
	tests := map[string]struct {
		n, most, expired int
		at               func(int) int
		want             []int // the first, the last, how many
		list             bundle.List
	}{
		"all":                       {1200, 1200, 0, up, []int{0, 1199, 1200}, bundle.List{Count: 1200}},
		"none":                      {0, 3, 0, up, nil, bundle.List{}},
		"the newest are at the end": {1201, 600, 0, up, []int{601, 1200, 600}, bundle.List{Count: 600, LeftOut: 601, Cut: "the newest 600 are taken, 601 older ones are left out"}},
		"the newest are the first":  {1201, 600, 0, down, []int{0, 599, 600}, bundle.List{Count: 600, LeftOut: 601, Cut: "the newest 600 are taken, 601 older ones are left out"}},
		"one is left out":           {4, 3, 0, func(i int) int { return i % 3 }, []int{1, 3, 3}, bundle.List{Count: 3, LeftOut: 1, Cut: "the newest 3 are taken, 1 older one is left out"}},
		"the list grows too old":    {1500, 600, 2, up, []int{400, 999, 600}, bundle.List{Count: 600, LeftOut: 400, Cut: "the list grew too old after 1000 were read: the newest 600 of those are taken"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			eventsOf(s, tt.n, tt.at, tt.expired)
			d := desk(t, s, nil)
			c, err := d.client()
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			e := &exporter{d: d, c: c, plan: Plan{Export: &ExportPlan{}}, w: bundle.NewWriter(&b, tick)}
			lists := exported("v1beta2", Scope{})
			l := lists[len(lists)-1]
			if l.kind != "Event" || l.most != mostEvents {
				t.Fatalf("the last list is %+v", l)
			}
			l.most = tt.most
			if err := e.list(t.Context(), l); err != nil {
				t.Fatal(err)
			}
			if _, err := e.w.Close(e.m); err != nil {
				t.Fatal(err)
			}
			m, err := bundle.Verify(&b)
			if err != nil {
				t.Fatal(err)
			}
			tt.list.Resource, tt.list.Kind, tt.list.ResourceVersion = "events", "Event", "9"
			if diff := cmp.Diff([]bundle.List{tt.list}, m.Lists); diff != "" {
				t.Errorf("lists (-want +got):\n%s", diff)
			}
			if m.RedactedValues != tt.list.Count {
				t.Errorf("%d values were redacted of the %d events that are in it", m.RedactedValues, tt.list.Count)
			}
		})
	}
}

// What is kept is in the bundle, in the order of the list.
func TestNewestEventsInTheBundle(t *testing.T) {
	s := newAPIServer(t)
	putWorkloads(s, 2)
	n := mostEvents + 2
	eventsOf(s, n, func(i int) int { return (i + 1) % n }, 0) // the last one is the oldest, the first is the next
	d := desk(t, s, nil)
	p, err := d.PlanExport(t.Context(), Scope{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Execute(t.Context(), p, "y")
	if err != nil || !r.OK() {
		t.Fatalf("%+v, %v", r, err)
	}
	if !strings.Contains(r.Objects[0].Detail, "not all events: the newest 20000 are taken, 2 older ones are left out") {
		t.Errorf("it says %q", r.Objects[0].Detail)
	}
	_, files := opened(t, p.Export.Path)
	var pages, names []string
	for f := range files {
		if strings.HasPrefix(f, "events/") {
			pages = append(pages, f)
		}
	}
	slices.Sort(pages)
	for _, f := range pages {
		for l := range strings.Lines(files[f]) {
			if name, ok := strings.CutPrefix(l, "  name: "); ok {
				names = append(names, strings.TrimSpace(name))
			}
		}
	}
	want := []string{}
	for i := 1; i < n-1; i++ {
		want = append(want, fmt.Sprintf("e%05d", i))
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
