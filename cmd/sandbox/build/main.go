// Command build makes the sandbox's programs in a folder, if they are not there already:
//
//	cd cmd/sandbox && go run ./build -out DIR
//
// DIR then holds holdfast-sandbox, kueue (Kueue's unchanged manager) and kueue-manifests.yaml (Kueue's own manifests,
// rendered). A first build compiles Kubernetes and takes minutes; when nothing changed it returns at once.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
)

func main() {
	out := flag.String("out", "", "folder to build into (made if missing)")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "usage, in cmd/sandbox: go run ./build -out DIR")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := build(ctx, ".", *out); err != nil {
		fmt.Fprintf(os.Stderr, "sandbox build: %v\n", err)
		os.Exit(1)
	}
}

// build makes the programs of the module in src into out unless its stamp says that they are up to date.
func build(ctx context.Context, src, out string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(src, "internal", "components")); err != nil {
		return errors.New("run it in the folder cmd/sandbox")
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	unlock, err := lock(out)
	if err != nil {
		return err
	}
	defer unlock()
	stamp, err := sourceHash(src, runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH)
	if err != nil {
		return err
	}
	if upToDate(out, stamp) {
		return nil
	}
	// Without a stamp a build that fails half-way is not taken for a good one.
	if err := os.Remove(filepath.Join(out, stampFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	b := builder{src: src, out: out, progress: newProgress(os.Stdout)}
	if err := b.all(ctx); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, stampFile), []byte(stamp+"\n"), 0o644)
}

// lock keeps two builds in one folder apart. It blocks while another build runs.
func lock(out string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(out, ".lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	how := syscall.LOCK_EX
	if err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); err != nil {
		fmt.Println("another build of the sandbox is running in this folder; waiting for it")
		if err := syscall.Flock(int(f.Fd()), how); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return func() { _ = f.Close() }, nil
}
