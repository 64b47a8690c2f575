package ports

import (
	"fmt"
	"net"
	"testing"
)

func TestPickGivesDifferentFreePortsOfTheRange(t *testing.T) {
	r := Listening()
	got, err := Pick(20, r)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, p := range got {
		if p < r.First || p > r.Last {
			t.Errorf("port %d is outside %d-%d", p, r.First, r.Last)
		}
		if seen[p] {
			t.Errorf("port %d was picked twice", p)
		}
		seen[p] = true
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", p))
		if err != nil {
			t.Errorf("port %d is not free: %v", p, err)
			continue
		}
		_ = l.Close()
	}
	if len(seen) != 20 {
		t.Errorf("got %d ports, want 20", len(seen))
	}
}

func TestPickNeverGivesAPortInUse(t *testing.T) {
	one, err := Pick(1, Listening())
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", one[0]))
	if err != nil {
		t.Skipf("port %d was taken by another program meanwhile: %v", one[0], err)
	}
	defer func() { _ = l.Close() }()
	if got, err := Pick(1, Range{one[0], one[0]}); err == nil {
		t.Errorf("Pick = %v for a range whose only port is in use, want an error", got)
	}
}

func TestPickRefusesARangeThatIsTooSmall(t *testing.T) {
	for _, r := range []Range{{20000, 20001}, {20010, 20000}, {0, 100}, {65530, 65540}} {
		if got, err := Pick(3, r); err == nil {
			t.Errorf("Pick(3, %v) = %v, want an error", r, got)
		}
	}
}

func TestBelow(t *testing.T) {
	fallback := Range{lowest, defaultEnd}
	for in, want := range map[string]Range{
		"32768\t60999\n": {10000, 32767},
		"15000 65000":    {10000, 14999},
		"1024 65535":     fallback, // no room under it
		"":               fallback,
		"many few":       fallback,
	} {
		if got := below(in); got != want {
			t.Errorf("below(%q) = %v, want %v", in, got, want)
		}
	}
}
