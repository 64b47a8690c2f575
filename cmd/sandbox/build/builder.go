package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	kubernetes  = "k8s.io/kubernetes"
	kueueModule = "sigs.k8s.io/kueue"
	errorLines  = 40 // of a failed command's output
)

// builder runs the steps of one build.
type builder struct {
	src, out string
	progress *progress
}

// all makes everything; each file takes its place only when it is complete.
func (b builder) all(ctx context.Context) error {
	k8s, err := b.module(ctx, kubernetes, "Version")
	if err != nil {
		return err
	}
	kueue, err := b.module(ctx, kueueModule, "Version")
	if err != nil {
		return err
	}
	major, minor, err := majorMinor(k8s)
	if err != nil {
		return err
	}
	const version = "k8s.io/component-base/version"
	// Kueue refuses to start against an API server without a version.
	err = b.compile(ctx, "1/3 Kubernetes "+k8s, programFile, ".",
		"-X "+version+".gitVersion="+k8s, "-X "+version+".gitMajor="+major, "-X "+version+".gitMinor="+minor,
		"-X "+version+".gitTreeState=clean", "-X "+version+".buildDate=2026-01-01T00:00:00Z")
	if err != nil {
		return err
	}
	// Kueue's visibility server keeps its certificate in /visibility, where an ordinary user may not write; this makes
	// it a folder below its working directory.
	err = b.compile(ctx, "2/3 Kueue "+kueue, kueueFile, kueueModule+"/cmd/kueue",
		"-X "+kueueModule+"/pkg/visibility.certDir=visibility-certs", "-X "+kueueModule+"/pkg/version.GitVersion="+kueue)
	if err != nil {
		return err
	}
	dir, err := b.module(ctx, kueueModule, "Dir")
	if err != nil {
		return err
	}
	return b.replace(manifestsFile, func(tmp string) error {
		cmd := exec.CommandContext(ctx, filepath.Join(b.out, programFile), "render-manifests",
			"-kueue-src", dir, "-kueue-version", kueue, "-o", tmp)
		return b.run("3/3 Kueue's manifests", cmd)
	})
}

// module returns a field of a required module, with its replacement's value if it is replaced.
func (b builder) module(ctx context.Context, path, field string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{."+field+"}}", path)
	cmd.Dir = b.src
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", failed("go list -m "+path, err, stderr.String())
	}
	value := strings.TrimSpace(string(out))
	if value == "" {
		return "", fmt.Errorf("go list -m %s has no %s", path, field)
	}
	return value, nil
}

func (b builder) compile(ctx context.Context, step, name, pkg string, xflags ...string) error {
	return b.replace(name, func(tmp string) error {
		ldflags := strings.Join(append([]string{"-s", "-w"}, xflags...), " ")
		cmd := exec.CommandContext(ctx, "go", "build", "-ldflags", ldflags, "-o", tmp, pkg)
		cmd.Dir = b.src
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // no C compiler needed, and the same result with one
		return b.run(step, cmd)
	})
}

// replace has a file made under another name and renames it when that went well.
func (b builder) replace(name string, produce func(tmp string) error) error {
	tmp := filepath.Join(b.out, "."+name+".tmp")
	if err := produce(tmp); err != nil {
		if rm := os.Remove(tmp); rm != nil && !errors.Is(rm, os.ErrNotExist) {
			return errors.Join(err, rm)
		}
		return err
	}
	return os.Rename(tmp, filepath.Join(b.out, name))
}

// run runs a command with progress and blocks until it ends.
func (b builder) run(step string, cmd *exec.Cmd) error {
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	done := b.progress.start(step)
	err := cmd.Run()
	done(err == nil)
	if err != nil {
		return failed(step, err, output.String())
	}
	return nil
}

// failed makes an error of a command's end that shows the last lines it wrote and says what to do.
func failed(step string, err error, output string) error {
	hint := "if modules could not be downloaded: check the network and the settings of `go env GOPROXY`, and try again; what is built already is kept"
	if strings.Contains(output, "no space left on device") {
		hint = "free some space (a first build needs about 7 GB for Go's caches), or set GOCACHE and GOTMPDIR to a larger disk, and try again"
	}
	if strings.Contains(output, "signal: killed") {
		hint = "the compiler was killed, probably for want of memory (linking needs about 4 GB): close something, and try again"
	}
	return fmt.Errorf("%s failed: %w\n%s\n%s", step, err, lastLines(output, errorLines), hint)
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// majorMinor splits a version such as v1.36.3.
func majorMinor(version string) (major, minor string, err error) {
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".")
	if len(parts) < 3 {
		return "", "", fmt.Errorf("version %q is not of the form vMAJOR.MINOR.PATCH", version)
	}
	return parts[0], parts[1], nil
}
