package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"cli.holdfast.dev/holdfast/actions"
	"cli.holdfast.dev/holdfast/model/text"
)

// longestFile bounds what a person can name by mistake: a thousand queues are less
// than a tenth of it.
const longestFile = 8 << 20

// named reads a file of objects that a person named in the console, where no shell
// expands "~". What is no file is refused before it is opened: a pipe would never end.
// An error is a *actions.Problem.
func named(path string) (actions.File, error) {
	at, err := expanded(path)
	if err != nil {
		return actions.File{}, err
	}
	shown := text.Clean(at)
	info, err := os.Stat(at)
	switch {
	case err != nil:
		return actions.File{}, unreadable(shown, err)
	case info.IsDir():
		return actions.File{}, &actions.Problem{What: shown + " is a folder", Do: "Name one file in it."}
	case !info.Mode().IsRegular():
		return actions.File{}, &actions.Problem{What: shown + " is no ordinary file", Do: "Write the objects into a file and name that one."}
	}
	f, err := os.Open(at)
	if err != nil {
		return actions.File{}, unreadable(shown, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	content, err := io.ReadAll(io.LimitReader(f, longestFile+1))
	if err != nil {
		return actions.File{}, unreadable(shown, err)
	}
	if len(content) > longestFile {
		return actions.File{}, &actions.Problem{What: fmt.Sprintf("%s is longer than %d MiB", shown, longestFile>>20), Do: "Is it the right file? Name one with the changed objects alone."}
	}
	return actions.File{Name: text.Clean(filepath.Base(at)), Path: at, Content: content}, nil
}

// expanded is the whole path of what was typed.
func expanded(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", &actions.Problem{What: "where your home is is not known: " + text.Clean(err.Error()), Do: "Write the whole path."}
		}
		path = filepath.Join(home, rest)
	}
	at, err := filepath.Abs(path)
	if err != nil {
		return "", &actions.Problem{What: text.Clean(path) + " is no path: " + text.Clean(err.Error()), Do: "Write the whole path."}
	}
	return at, nil
}

// unreadable says why a file is not read and what to do next.
func unreadable(shown string, err error) error {
	p := &actions.Problem{Err: err}
	switch {
	case errors.Is(err, os.ErrNotExist):
		p.What, p.Do = "there is no file "+shown, "Look at how it is written; a path without / at its beginning begins in the folder that the console was started in."
	case errors.Is(err, os.ErrPermission):
		p.What, p.Do = "you may not read "+shown, "Make it readable for your account, or name a copy."
	default:
		var at *os.PathError
		if errors.As(err, &at) {
			err = at.Err
		}
		p.What, p.Do = shown+" cannot be read: "+text.Clean(err.Error()), "Name a file that can be read."
	}
	return p
}
