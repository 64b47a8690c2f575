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
// into the error.
func ReadOnly(next http.RoundTripper, why string) http.RoundTripper {
	return guard{next, why}
}

type guard struct {
	next http.RoundTripper
	why  string
}

func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if harmless(r) {
		return g.next.RoundTrip(r)
	}
	if r.Body != nil {
		_ = r.Body.Close() // a RoundTripper must close the body, also on errors
	}
	return nil, &RefusedError{Method: r.Method, Path: r.URL.Path, Why: g.why}
}

func harmless(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		// exec, attach, portforward and proxy act through GET upgrades.
		return r.Header.Get("Upgrade") == ""
	case http.MethodPost:
		switch r.URL.Path {
		case "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
			"/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
			"/apis/authentication.k8s.io/v1/selfsubjectreviews":
			return true
		}
		return strings.HasPrefix(r.URL.Path, "/apis/authorization.k8s.io/v1/") && strings.HasSuffix(r.URL.Path, "subjectaccessreviews")
	}
	return false
}
