//go:build sandbox

package e2e

import (
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// children returns the pid of each child of a process by the name of the component it runs.
func children(t *testing.T, parent int) map[string]int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, path := range stats {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // it has just ended
		}
		after := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
		if len(after) < 2 || after[1] != strconv.Itoa(parent) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			t.Fatal(err)
		}
		got[componentName(pid)] = pid
	}
	return got
}

func componentName(pid int) string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	args := strings.Split(string(raw), "\x00")
	if len(args) > 2 && args[1] == "component" {
		return args[2]
	}
	return filepath.Base(args[0])
}

// alive tells whether a process exists and is more than an entry its parent has not read yet.
func alive(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	after := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
	return len(after) > 0 && after[0] != "Z" && after[0] != "X"
}

// listening returns the TCP addresses the processes listen on.
func listening(t *testing.T, pids map[string]int) []net.TCPAddr {
	t.Helper()
	inodes := map[string]bool{}
	for name, pid := range pids {
		fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		if err != nil || len(fds) == 0 {
			t.Fatalf("descriptors of %s (pid %d): %v", name, pid, err)
		}
		for _, fd := range fds {
			if target, err := os.Readlink(fd); err == nil && strings.HasPrefix(target, "socket:[") {
				inodes[strings.TrimSuffix(strings.TrimPrefix(target, "socket:["), "]")] = true
			}
		}
	}
	var got []net.TCPAddr
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(raw), "\n") {
			f := strings.Fields(line)
			const listen = "0A"
			if len(f) < 10 || f[3] != listen || !inodes[f[9]] {
				continue
			}
			got = append(got, address(t, f[1]))
		}
	}
	return got
}

// address parses the kernel's form of an address: the bytes of each 32-bit word in the machine's order, then the port.
func address(t *testing.T, s string) net.TCPAddr {
	t.Helper()
	host, port, _ := strings.Cut(s, ":")
	ip, err := hex.DecodeString(host)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+3 < len(ip); i += 4 { // little-endian words
		ip[i], ip[i+1], ip[i+2], ip[i+3] = ip[i+3], ip[i+2], ip[i+1], ip[i]
	}
	n, err := strconv.ParseInt(port, 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	return net.TCPAddr{IP: ip, Port: int(n)}
}
