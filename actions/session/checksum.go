package session

import (
	"fmt"
	"regexp"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/bundle"
	"cli.holdfast.dev/holdfast/model/text"
)

// Exported is an export as it was read: its manifest, and the SHA-256 of its whole file
// as hex digits. The file's and not the manifest's, so that anybody can compute it.
type Exported struct {
	bundle.Manifest
	SHA256 string
}

// goodSum is what a SHA-256 looks like.
var goodSum = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Other says why a file with the checksum is not the export that the session made, as
// a *actions.Problem that names the file; nil where it is, or where the session does not
// know the checksum of its own. It does not block.
func (s *Session) Other(path, sha256 string) error {
	if s.BundleSHA256 == "" || s.BundleSHA256 == sha256 {
		return nil
	}
	return &actions.Problem{
		What: fmt.Sprintf("%s is not the export of session %s: its SHA-256 is %s, that of the export which this session made is %s", text.Clean(path), s.ID, text.Clean(sha256), s.BundleSHA256),
		Do:   "It is another one, or was changed since. Get the file that the session made (its compare takes one from elsewhere with --bundle), or skip that step with a reason if it is lost.",
	}
}

// sumWords is the checksum of the session's export for people.
func (s *Session) sumWords() string {
	if s.BundleSHA256 == "" {
		return "unknown: the session does not have it"
	}
	return s.BundleSHA256
}

// unknownSum is said of a comparison with a file that may be another one.
const unknownSum = "unknown: the session has no checksum of its export, so whether this is the file that it made cannot be told"
