// Package ports picks free TCP ports on 127.0.0.1.
package ports

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
)

// Range is an inclusive range of port numbers.
type Range struct{ First, Last int }

const (
	lowest     = 10000
	rangeFile  = "/proc/sys/net/ipv4/ip_local_port_range"
	triesEach  = 200
	defaultEnd = 32767 // one below the first ephemeral port of an ordinary Linux
)

// Listening returns the range to pick listening ports from: below the kernel's range of ephemeral ports. A port the
// kernel may hand to an outgoing connection can be taken between the moment it is picked and the moment a component
// listens on it, and again whenever that component is restarted; the control plane itself opens hundreds of
// connections in that time.
func Listening() Range {
	raw, err := os.ReadFile(rangeFile)
	if err != nil {
		return Range{lowest, defaultEnd}
	}
	return below(string(raw))
}

// below parses the kernel's "first last" of ephemeral ports and returns the range under it, or the default one where
// the kernel leaves too little room.
func below(ephemeral string) Range {
	var first, last int
	if n, err := fmt.Sscan(ephemeral, &first, &last); err != nil || n != 2 || first < lowest+1000 || first > 65536 {
		return Range{lowest, defaultEnd}
	}
	return Range{lowest, first - 1}
}

// Pick returns n different ports of the range on which the kernel let it listen on 127.0.0.1. All n are held until
// the last one is found, then let go for the caller to use; it does not block. It fails if no set of n was found.
func Pick(n int, r Range) ([]int, error) {
	if n < 0 || r.First < 1 || r.Last > 65535 || r.Last-r.First+1 < n {
		return nil, fmt.Errorf("cannot pick %d ports of %d-%d", n, r.First, r.Last)
	}
	var held []net.Listener
	defer func() {
		for _, l := range held {
			_ = l.Close() // only held, nothing was accepted
		}
	}()
	picked := make([]int, 0, n)
	var last error
	for try := 0; len(picked) < n; try++ {
		if try >= n*triesEach {
			return nil, errors.Join(fmt.Errorf("found %d free ports of %d on 127.0.0.1 in %d-%d; stop what holds them and try again",
				len(picked), n, r.First, r.Last), last)
		}
		port := r.First + rand.IntN(r.Last-r.First+1)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			last = err
			continue
		}
		held = append(held, l)
		picked = append(picked, port)
	}
	return picked, nil
}
