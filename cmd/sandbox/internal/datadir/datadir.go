// Package datadir claims the folder a sandbox keeps its data in, tells a running sandbox's folder from a dead one's,
// and never touches a folder that is not a sandbox's.
package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	marker     = ".holdfast-sandbox"
	markerText = "This folder belongs to holdfast-sandbox, which replaces everything in it.\n"
	lockFile   = "lock"
	pidFile    = "pid"
	logsDir    = "logs"
	// A query (Running) holds the lock for an instant; Claim waits this long before it calls the folder taken.
	lockPatience = time.Second
)

// NotOursError says that a folder exists and carries no marker of a sandbox.
type NotOursError struct{ Path, Why string }

func (e *NotOursError) Error() string {
	return fmt.Sprintf("%s is not a sandbox's folder (%s) and was left untouched; give another folder with --dir", e.Path, e.Why)
}

// RunningError says that a sandbox runs in the folder. PID is 0 where it could not be read.
type RunningError struct {
	Path string
	PID  int
}

func (e *RunningError) Error() string {
	return fmt.Sprintf("a sandbox is already running in %s as pid %d; stop it with: holdfast-sandbox down --dir %s", e.Path, e.PID, e.Path)
}

// Folder is a claimed data folder. Its lock is held until Release or the end of the process, whichever comes first.
type Folder struct {
	root string
	lock *os.File
}

// Claim takes the folder for this process: it makes it (mode 0700) if it is missing or empty, and empties it if it is
// that of a dead sandbox, which replaced reports. The path must be absolute. Errors are a *NotOursError, a
// *RunningError or those of the file system. It waits at most about a second.
func Claim(path string) (folder *Folder, replaced bool, err error) {
	if !filepath.IsAbs(path) {
		return nil, false, fmt.Errorf("data folder %q is not an absolute path", path)
	}
	if err := makeOurs(path); err != nil {
		return nil, false, err
	}
	lock, err := os.OpenFile(filepath.Join(path, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, err
	}
	if err := lockWithin(lock, lockPatience); err != nil {
		_ = lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, false, &RunningError{Path: path, PID: readPID(path)}
		}
		return nil, false, fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	f := &Folder{root: path, lock: lock}
	replaced, err = f.empty()
	if err == nil {
		err = errors.Join(os.Mkdir(f.Path(logsDir), 0o700),
			os.WriteFile(f.Path(pidFile), []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600))
	}
	if err != nil {
		_ = lock.Close()
		return nil, false, err
	}
	return f, replaced, nil
}

// makeOurs leaves path a folder with our marker, or returns an error and leaves it as it was.
func makeOurs(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return err
		}
	} else if err != nil {
		return err
	} else if why := notOurs(path, info); why != "" {
		return &NotOursError{Path: path, Why: why}
	}
	if err := os.Chmod(path, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(path, marker), []byte(markerText), 0o600)
}

// notOurs says why a sandbox must not use an existing path, or "" if it may.
func notOurs(path string, info fs.FileInfo) string {
	if !info.IsDir() {
		return "it is not a folder"
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Getuid() {
		return "another user owns it"
	}
	if m, err := os.Lstat(filepath.Join(path, marker)); err == nil && m.Mode().IsRegular() {
		return ""
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err.Error()
	}
	if len(entries) > 0 {
		return "it has files and no " + marker
	}
	return ""
}

func lockWithin(f *os.File, patience time.Duration) error {
	deadline := time.Now().Add(patience)
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// empty removes everything but the marker and the lock. It reports whether a sandbox had died in the folder: one that
// stopped in good order removes its pid file.
func (f *Folder) empty() (died bool, err error) {
	_, err = os.Lstat(f.Path(pidFile))
	died = err == nil
	return died, f.removeAllBut(marker, lockFile)
}

func (f *Folder) removeAllBut(keep ...string) error {
	entries, err := os.ReadDir(f.root)
	if err != nil {
		return err
	}
	var errs []error
next:
	for _, e := range entries {
		for _, k := range keep {
			if e.Name() == k {
				continue next
			}
		}
		errs = append(errs, os.RemoveAll(f.Path(e.Name())))
	}
	return errors.Join(errs...)
}

// Path joins elem to the folder's own absolute path; Path() is the folder.
func (f *Folder) Path(elem ...string) string {
	return filepath.Join(append([]string{f.root}, elem...)...)
}

// Log returns the path of a component's log file.
func (f *Folder) Log(component string) string { return f.Path(logsDir, component+".log") }

// Release removes the sandbox's data, keys and kubeconfigs, keeps the logs for reading, and lets the lock go.
func (f *Folder) Release() error {
	return errors.Join(f.removeAllBut(marker, lockFile, logsDir), f.lock.Close())
}

// Running tells whether a sandbox runs in the folder now, and its pid (0 if that cannot be read). A folder that is
// missing or is not a sandbox's has none. It does not block.
func Running(path string) (pid int, running bool, err error) {
	if _, err := os.Lstat(filepath.Join(path, marker)); errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	} else if err != nil {
		return 0, false, err
	}
	lock, err := os.Open(filepath.Join(path, lockFile))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	} else if err != nil {
		return 0, false, err
	}
	defer func() { _ = lock.Close() }() // closing also unlocks
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return readPID(path), true, nil
	}
	return 0, false, err
}

func readPID(path string) int {
	raw, err := os.ReadFile(filepath.Join(path, pidFile))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return 0
	}
	return pid
}

// Default returns the folder used without --dir: holdfast-sandbox in the user's cache folder.
func Default() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no default data folder (%w); give one with --dir", err)
	}
	return filepath.Join(cache, "holdfast-sandbox"), nil
}
