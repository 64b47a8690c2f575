package actions

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// nameless is a file in the folder that has no name; nil where the file system has no
// such files, or they could not be given one.
func nameless(dir string) *os.File {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), "the export")
	if _, err := os.Stat(inProc(f)); err != nil { // no /proc
		_ = f.Close()
		return nil
	}
	return f
}

// link gives a nameless file a name.
func link(f *os.File, path string) error {
	err := unix.Linkat(unix.AT_FDCWD, inProc(f), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
	if err != nil {
		return &os.LinkError{Op: "link", Old: f.Name(), New: path, Err: err}
	}
	return nil
}

func inProc(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }
