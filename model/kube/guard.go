package kube

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// RefusedError is returned instead of sending a request that would change the
// cluster through a client that must not.
type RefusedError struct {
	Method, Path string
	// Why says which rule refused it, and Do what the person can do about it.
	Why, Do string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s %s was not sent: %s", e.Method, e.Path, e.Why)
}

// Advice says what the person can do about it.
func (e *RefusedError) Advice() string { return "Nothing was changed. " + e.Do }

// ReadOnly returns a transport that passes on what cannot change the cluster:
// GET and HEAD, and the review kinds, which are POSTs that store nothing.
// Everything else ends here with a *RefusedError, dry-runs included. why goes
// into the error; base is the path of the server's URL, empty for most.
func ReadOnly(next http.RoundTripper, base, why string) http.RoundTripper {
	return guard{next, strings.TrimSuffix(base, "/"), harmless, RefusedError{Why: why, Do: "Start without --read-only to act."}}
}

// NeverDelete returns a transport for a client that changes things: beside what
// ReadOnly passes on, it lets objects be patched, and made in Kueue's group.
// Everything else ends here with a *RefusedError: deleting and replacing, whatever is
// done to a subresource (evictions, scale, status), to core objects, or by POST.
func NeverDelete(next http.RoundTripper, base string) http.RoundTripper {
	return guard{next, strings.TrimSuffix(base, "/"), changes, RefusedError{
		Why: "this program patches objects, and makes Kueue's; it does nothing else, and deletes nothing",
		Do:  "This is a fault of the program: please report it.",
	}}
}

type guard struct {
	next   http.RoundTripper
	base   string
	passes func(r *http.Request, path string) bool
	refuse RefusedError
}

func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if g.passes(r, strings.TrimPrefix(r.URL.Path, g.base)) {
		return g.next.RoundTrip(r)
	}
	if r.Body != nil {
		_ = r.Body.Close() // a RoundTripper must close the body, also on errors
	}
	e := g.refuse
	e.Method, e.Path = r.Method, r.URL.Path
	return nil, &e
}

// changes reports whether NeverDelete passes the request on.
func changes(r *http.Request, path string) bool {
	parts := strings.Split(path, "/")
	// "", apis, GROUP, VERSION, then [namespaces, NAMESPACE,] RESOURCE[, NAME]
	if len(parts) > 6 && parts[4] == "namespaces" {
		parts = append(parts[:4:4], parts[6:]...)
	}
	inGroup := len(parts) > 4 && parts[0] == "" && parts[1] == "apis" && !slices.Contains(parts[2:], "")
	switch r.Method {
	case http.MethodPatch:
		return inGroup && len(parts) == 6
	case http.MethodPost:
		if inGroup && len(parts) == 5 && parts[2] == Group {
			return true
		}
	}
	return harmless(r, path)
}

func harmless(r *http.Request, path string) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		// exec, attach, portforward and proxy act through GET upgrades.
		return r.Header.Get("Upgrade") == ""
	case http.MethodPost:
		switch path {
		case "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
			"/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
			"/apis/authentication.k8s.io/v1/selfsubjectreviews":
			return true
		}
		return strings.HasPrefix(path, "/apis/authorization.k8s.io/v1/") && strings.HasSuffix(path, "subjectaccessreviews")
	}
	return false
}
