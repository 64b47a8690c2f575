package kube

import (
	"fmt"
	"net/http"
	"strings"
)

// RefusedError is returned instead of sending a request that would change the
// cluster through a client that must not.
type RefusedError struct {
	Method, Path string
	// Why says which rule refused it.
	Why string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s %s was not sent: %s", e.Method, e.Path, e.Why)
}

// Advice says what the person can do about it.
func (e *RefusedError) Advice() string {
	return "Nothing was changed. Start without --read-only to act."
}

// ReadOnly returns a transport that passes on what cannot change the cluster:
// GET and HEAD, and the review kinds, which are POSTs that store nothing.
// Everything else ends here with a *RefusedError, dry-runs included. why goes
// into the error; base is the path of the server's URL, empty for most.
func ReadOnly(next http.RoundTripper, base, why string) http.RoundTripper {
	return guard{next, strings.TrimSuffix(base, "/"), why}
}

type guard struct {
	next      http.RoundTripper
	base, why string
}

func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if harmless(r, g.base) {
		return g.next.RoundTrip(r)
	}
	if r.Body != nil {
		_ = r.Body.Close() // a RoundTripper must close the body, also on errors
	}
	return nil, &RefusedError{Method: r.Method, Path: r.URL.Path, Why: g.why}
}

func harmless(r *http.Request, base string) bool {
	path := strings.TrimPrefix(r.URL.Path, base)
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
