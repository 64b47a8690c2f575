package kube

import (
	"errors"
	"net/http"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"cli.holdfast.dev/holdfast/model/text"
)

// The API server's own words when a webhook could not be asked or did not answer
// sensibly (k8s.io/apiserver pkg/util/webhook/error.go and apiextensions-apiserver
// pkg/apiserver/conversion/webhook_converter.go), and when a webhook that works
// refuses (pkg/admission/plugin/webhook/errors/statuserror.go).
var (
	failedAdmission  = regexp.MustCompile(`failed calling webhook "((?:[^"\\]|\\.)*)"`)
	failedConversion = regexp.MustCompile(`conversion webhook for (.+?) (?:failed|returned)\b`)
	refused          = regexp.MustCompile(`admission webhook "(?:[^"\\]|\\.)*" denied the request`)
)

// WebhookError reports whether err says that the API server could not get an
// answer from a webhook, as it does while Kueue's manager is down or its
// certificate is wrong. webhook is the webhook's name ("vclusterqueue.kb.io"), or
// "conversion of " and the version and kind in which the object is stored. A
// refusal by a webhook that works is none.
func WebhookError(err error) (webhook string, ok bool) {
	if err == nil {
		return "", false
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		if code := status.Status().Code; code != 0 && code < http.StatusInternalServerError {
			return "", false
		}
	}
	said := err.Error()
	// What a webhook says when it refuses may hold anything, these words, too.
	if at := refused.FindStringIndex(said); at != nil {
		said = said[:at[0]]
	}
	if m := failedAdmission.FindStringSubmatch(said); m != nil {
		return text.Clean(m[1]), true
	}
	if m := failedConversion.FindStringSubmatch(said); m != nil {
		return conversionOf + text.Clean(m[1]), true
	}
	return "", false
}

// ConversionError reports whether err says that an object could not be converted
// to the version that was asked for.
func ConversionError(err error) bool {
	webhook, ok := WebhookError(err)
	return ok && strings.HasPrefix(webhook, conversionOf)
}

const conversionOf = "conversion of "
