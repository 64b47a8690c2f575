package actions

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"cli.holdfast.dev/holdfast/model/text"
)

// Draft is an object opened for editing.
type Draft struct {
	Target Target
	// Path is a private file that holds the text for the editor.
	Path string
	// Original is the text that was written to Path.
	Original string
	// At is when the text was last saved, of one that was left behind.
	At time.Time
	// Left is an earlier text of the person's for the same object that was neither
	// applied nor thrown away; nil if there is none.
	Left *Draft

	edited bool // the text is not Original
}

func editHeader(t Target) string {
	return fmt.Sprintf("# %s, generation %d. Save and quit to see the server's dry-run; nothing is written before you confirm.\n"+
		"# stopPolicy and the hold record are not changed by an edit: use hold and resume.\n", t.Ref, t.Generation)
}

// EditorCommand returns the person's editor on the draft. It is run with the
// terminal as its own.
func (d *Desk) EditorCommand(dr Draft) *exec.Cmd {
	words := strings.Fields(d.opts.Editor)
	if len(words) == 0 {
		words = []string{"vi"}
	}
	return exec.Command(words[0], append(words[1:], dr.Path)...)
}

// message begins the lines in which this program tells the person something.
const message = "#! "

// AnnotateDraft puts the problem as comments on top of the draft's file and
// keeps the person's text. Comments of an earlier problem are replaced.
func (d *Desk) AnnotateDraft(dr Draft, problem error) error {
	body, err := os.ReadFile(dr.Path)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, l := range text.Lines(problem.Error()) {
		b.WriteString(message + l + "\n")
	}
	return dr.write(b.String() + theirText(string(body)))
}

// write replaces the draft's text. It is written beside it and renamed: a full disk
// must not cost the person's text.
func (dr Draft) write(text string) error {
	tmp := dr.Path + ".new"
	if err := os.WriteFile(tmp, []byte(text), 0o600); err != nil {
		_ = os.Remove(tmp)
		return err
	}
	return os.Rename(tmp, dr.Path)
}

// CloseDraft removes the draft's files. An earlier text that was found with it stays.
func (d *Desk) CloseDraft(dr Draft) error {
	if dr.Left != nil {
		d.LeaveDraft(*dr.Left)
	}
	return d.drafts.drop(dr.Path)
}

// LeaveDraft leaves the draft's text where it is: OpenEdit finds it again.
func (d *Desk) LeaveDraft(dr Draft) { d.drafts.release(dr.Path) }

// read returns the draft's text, what could be edited in the object as it was, and the
// object that the text says. A *Problem with Rejected set means that the text cannot be
// read.
func (dr Draft) read() (raw []byte, before, want map[string]any, err error) {
	if raw, err = os.ReadFile(dr.Path); err != nil {
		return nil, nil, nil, err
	}
	var opened unstructured.Unstructured
	if err := opened.UnmarshalJSON(dr.Target.Base); err != nil {
		return nil, nil, nil, err
	}
	want, err = parseOne(raw)
	return raw, editable(&opened), want, err
}

// RenewDraft brings what the person changed in the draft's text together with what
// somebody changed in the cluster meanwhile, and returns the draft of the object as it
// is now. What both changed stays as the person has it, and stands on top of the text
// with the values of both. An error leaves the file as it was; a *Problem with Rejected
// set means that the text cannot be read.
func (d *Desk) RenewDraft(ctx context.Context, dr Draft) (Draft, error) {
	raw, before, want, err := dr.read()
	if err != nil {
		return Draft{}, err
	}
	if _, err := mean(before, want); err != nil {
		return Draft{}, err
	}
	c, err := d.client()
	if err != nil {
		return Draft{}, err
	}
	live, err := c.get(ctx, dr.Target.Ref)
	if err != nil {
		return Draft{}, err
	}
	now := editable(live)
	if unchanged(dr.Target, live) == nil {
		dr.Left = nil
		return dr, nil // the text is as good as it was, and its comments stand where they belong
	}
	merged, fields := threeWay(before, now, want)
	out := Draft{Target: target(dr.Target.Ref, live), Path: dr.Path}
	original, err := yaml.Marshal(now)
	if err != nil {
		return Draft{}, err
	}
	body, err := yaml.Marshal(merged)
	if err != nil {
		return Draft{}, err
	}
	header := editHeader(out.Target)
	out.Original = header + string(original)
	// The text first: with the new object beside it, the old text would take back what
	// somebody changed.
	if err := out.write(told(fields) + header + comments(string(raw), editHeader(dr.Target)) + string(body)); err != nil {
		return Draft{}, err
	}
	return out, d.drafts.renew(out)
}

// told is what somebody changed, as lines for the top of a text.
func told(fields []Field) string {
	var b strings.Builder
	for _, f := range fields {
		if f.Theirs() {
			b.WriteString(message + f.String() + "\n")
		}
	}
	return b.String()
}

// comments are the lines of a text in which the person may have commented on
// something, less those of the header: a text that is written anew has no place for
// them but its top.
func comments(raw, header string) string {
	var b strings.Builder
	for l := range strings.Lines(raw) {
		l = strings.TrimRight(l, "\n")
		if !strings.Contains(l, "#") || strings.HasPrefix(l, message) || strings.Contains(header, l+"\n") {
			continue
		}
		b.WriteString("# " + strings.TrimPrefix(strings.TrimSpace(l), "# ") + "\n")
	}
	return b.String()
}
