package actions

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"cli.holdfast.dev/holdfast/model/kube"
	"cli.holdfast.dev/holdfast/model/text"
	"cli.holdfast.dev/holdfast/model/world"
)

// Problem is an error that tells the person what to do next. Nothing was
// written when a plan fails with one.
type Problem struct {
	What string // one sentence without a full stop, safe to draw
	Do   string // what to do next; may be empty
	// Conflict: the object is not what the plan was made from.
	Conflict bool
	// Rejected: the server looked at the content and refused it; editing helps.
	Rejected bool
	// Meanwhile is what somebody changed, beside what the person did (Conflict).
	Meanwhile []Field
	// Foreign are the fields that others own, where that is why: File.TakeOver takes them.
	Foreign []Foreign
	Err     error
}

// Foreign is a field of an object that a server-side apply may not change, since
// somebody else owns it. Both words are safe to draw.
type Foreign struct {
	Ref            world.Ref
	Field, Manager string
}

func (p *Problem) Error() string { return p.What }

// Advice says what to do next.
func (p *Problem) Advice() string { return p.Do }

func (p *Problem) Unwrap() error { return p.Err }

// echo is the whole object that the server repeats before it says what is wrong
// with it.
var echo = regexp.MustCompile(`(?s)Invalid value: "\{.{200,}\}": `)

// problem turns an error of the API server or of the way to it into a Problem
// that keeps the server's words. doing completes "cannot ...".
func problem(doing string, err error) error {
	var ready *Problem
	if errors.As(err, &ready) {
		return err
	}
	p := &Problem{Err: err, What: fmt.Sprintf("cannot %s: %s", doing, text.Clean(echo.ReplaceAllString(err.Error(), "")))}
	var refused *kube.RefusedError
	switch {
	case errors.As(err, &refused):
		p.Do = refused.Advice()
	case errors.Is(err, context.DeadlineExceeded):
		p.Do = "The server did not answer in time. Nothing is known to have changed; look at the header and try again."
	case isWebhookRefusal(err):
		p.Rejected, p.Do = true, "An admission webhook refuses this content; change it and try again."
	case moved(err):
		p.Conflict, p.Do = true, "Somebody changed the object in the meantime. Look at it and plan again."
	case apierrors.IsForbidden(err):
		p.Do = "Your account may not do this. Ask a platform admin, or for the rights that `holdfast rbac` prints."
	case apierrors.IsUnauthorized(err):
		p.Do = "The server does not accept the credentials. Log in again, then retry."
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), strings.Contains(err.Error(), "failed to create typed patch object"):
		p.Rejected, p.Do = true, "The server refuses this content; change it and try again."
		for _, version := range kube.Versions() {
			if hint := renamed(version, p.What); hint != "" {
				p.Do = hint + " Change it and try again."
				break
			}
		}
	case apierrors.IsNotFound(err):
		p.Do = "It is gone, or the name is wrong."
	case apierrors.IsInternalError(err) && strings.Contains(err.Error(), "failed calling webhook"):
		p.Do = "The webhook that it names does not answer. If it is Kueue's, see in the header whether its controller is ready; then retry."
	default:
		p.Do = "Look at the header whether the server is reached, then try again."
	}
	return p
}

// isWebhookRefusal tells a refusal by a working webhook (403 with its words)
// from missing rights (403 of the authorizer).
func isWebhookRefusal(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "admission webhook") && strings.Contains(err.Error(), "denied the request")
}
