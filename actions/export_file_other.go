//go:build !linux

package actions

import (
	"errors"
	"os"
)

// nameless is nil: the system has no files without a name.
func nameless(string) *os.File { return nil }

func link(*os.File, string) error { return errors.ErrUnsupported }
