package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	stampFile     = ".stamp"
	programFile   = "holdfast-sandbox"
	kueueFile     = "kueue"
	manifestsFile = "kueue-manifests.yaml"
)

// sourceHash hashes the toolchain and every file below src that can change what is built: all but tests, their data
// and documents. File names are part of it.
func sourceHash(src, toolchain string) (string, error) {
	h := sha256.New()
	if _, err := fmt.Fprintf(h, "%s\n", toolchain); err != nil {
		return "", err
	}
	err := filepath.WalkDir(src, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != src && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || !matters(d.Name()) {
			return nil
		}
		rel, err := filepath.Rel(src, path)
		if err != nil {
			return err
		}
		return hashFile(h, rel, path)
	})
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func matters(name string) bool {
	return !strings.HasSuffix(name, "_test.go") && !strings.HasSuffix(name, ".md") && !strings.HasPrefix(name, ".")
}

func hashFile(h io.Writer, rel, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	// The size keeps the end of one file and the start of the next apart.
	if _, err := fmt.Fprintf(h, "%s %d\n", rel, info.Size()); err != nil {
		return err
	}
	_, err = io.Copy(h, f)
	return err
}

// upToDate tells whether out holds everything a build of that stamp makes.
func upToDate(out, stamp string) bool {
	for _, name := range []string{programFile, kueueFile, manifestsFile} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			return false
		}
	}
	got, err := os.ReadFile(filepath.Join(out, stampFile))
	return err == nil && strings.TrimSpace(string(got)) == stamp
}
