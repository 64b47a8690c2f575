package actions

import (
	"encoding/json"
	"net/http"
	"path"
)

// apply is a server-side apply without a memory of who owns what: it sets what the
// body names, and refuses spec.cohortName where it has an owner. Like the real one it
// refuses another UID, and another resourceVersion where one is given.
func (s *apiServer) apply(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	_ = json.NewDecoder(r.Body).Decode(&body)
	q := r.URL.Query()
	if q.Get("fieldValidation") != "Strict" || q.Get("fieldManager") != FieldManager {
		refuse(w, 400, "BadRequest", "not as it should be: "+r.URL.RawQuery)
		return
	}
	if s.refused(w, r) {
		return
	}
	if s.trying != nil && q.Get("dryRun") == "All" {
		s.trying()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[r.URL.Path]
	if o == nil {
		refuse(w, 404, "NotFound", "not found: the real server would make it")
		return
	}
	meta := metaOf(body)
	if meta["uid"] != metaOf(o)["uid"] || meta["resourceVersion"] != nil && meta["resourceVersion"] != metaOf(o)["resourceVersion"] {
		refuse(w, 409, "Conflict", "the object has been modified")
		return
	}
	spec, _ := body["spec"].(map[string]any)
	if _, odd := spec["cohort"]; odd {
		refuse(w, 500, "", "failed to create typed patch object (/q; kueue.x-k8s.io/v1beta2, Kind=ClusterQueue): .spec.cohort: field not declared in schema")
		return
	}
	if _, sets := spec["cohortName"]; sets && s.owner != "" && q.Get("force") != "true" {
		w.WriteHeader(409)
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Conflict", "code": 409, "message": "Apply failed with 1 conflict", "details": map[string]any{
			"causes": []any{map[string]any{"reason": "FieldManagerConflict", "message": `conflict with "` + s.owner + `" using kueue.x-k8s.io/v1beta2`, "field": ".spec.cohortName"}},
		}})
		return
	}
	delete(meta, "uid")
	delete(meta, "resourceVersion")
	after := mergeApply(clone(o), body)
	if s.stores != nil {
		s.stores(after)
	}
	s.store(w, r, r.URL.Path, o, after)
}

func (s *apiServer) create(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	_ = json.NewDecoder(r.Body).Decode(&body)
	if s.refused(w, r) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	name, _ := metaOf(body)["name"].(string)
	at := path.Join(r.URL.Path, name)
	if s.objects[at] != nil {
		refuse(w, 409, "AlreadyExists", name+" already exists")
		return
	}
	metaOf(body)["uid"], metaOf(body)["generation"] = "uid-"+name, 1
	s.store(w, r, at, body, body)
}

// refused asks before, as patch does.
func (s *apiServer) refused(w http.ResponseWriter, r *http.Request) bool {
	if r.URL.Query().Get("dryRun") == "All" || s.before == nil {
		return false
	}
	s.mu.Lock()
	n := s.writes
	s.mu.Unlock()
	code := s.before(r, n)
	if code == -1 {
		panic(http.ErrAbortHandler)
	}
	if code != 0 {
		refuse(w, code, map[int]string{403: "Forbidden", 500: "InternalError"}[code], "said the server")
	}
	return code != 0
}

// store answers with the object as it is after, and keeps it unless it is tried only.
func (s *apiServer) store(w http.ResponseWriter, r *http.Request, at string, before, after map[string]any) {
	if dump(after["spec"]) != dump(before["spec"]) {
		metaOf(after)["generation"] = asInt(metaOf(before)["generation"]) + 1
	}
	if r.URL.Query().Get("dryRun") != "All" {
		metaOf(after)["resourceVersion"] = s.next()
		s.react(after)
		s.objects[at] = after
		s.writes++
	}
	if r.Method == http.MethodPost {
		w.WriteHeader(http.StatusCreated)
	}
	_ = json.NewEncoder(w).Encode(after)
}
