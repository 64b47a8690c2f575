package door

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// echoes listens on a free port and sends every line back.
func echoes(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				for s := bufio.NewScanner(c); s.Scan(); {
					if _, err := fmt.Fprintln(c, s.Text()); err != nil {
						return
					}
				}
			}()
		}
	}()
	return port(t, l.Addr())
}

func port(t *testing.T, a net.Addr) int {
	t.Helper()
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		t.Fatalf("%T", a)
	}
	return tcp.Port
}

func opened(t *testing.T, behind int) (*Door, int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := port(t, l.Addr())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := New(p, behind)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d, p
}

func dial(t *testing.T, port int) (net.Conn, error) {
	t.Helper()
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err == nil {
		t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

// say sends a line and returns what comes back: the line, "silence" or "closed".
func say(t *testing.T, c net.Conn, patience time.Duration) string {
	t.Helper()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintln(c, "hello"); err != nil {
		return "closed"
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	switch {
	case err == nil:
		return line[:len(line)-1]
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "silence"
	}
	return "closed"
}

const (
	soon = 10 * time.Second       // bounds a test that fails
	now  = 200 * time.Millisecond // for what must not come
)

func TestDoor(t *testing.T) {
	d, p := opened(t, echoes(t))
	old, err := dial(t, p)
	if err != nil {
		t.Fatal(err)
	}
	set := func(s State) {
		t.Helper()
		if err := d.Set(s); err != nil {
			t.Fatal(err)
		}
		if d.State() != s {
			t.Fatalf("%s, want %s", d.State(), s)
		}
	}
	got := []string{say(t, old, soon)}
	set(Frozen)
	got = append(got, say(t, old, now))
	fresh, err := dial(t, p)
	if err != nil {
		t.Fatalf("a frozen door refuses: %v", err)
	}
	got = append(got, say(t, fresh, now))
	set(Open)
	if err := fresh.SetDeadline(time.Now().Add(soon)); err != nil {
		t.Fatal(err)
	}
	late, err := bufio.NewReader(fresh).ReadString('\n') // what was said to the frozen door
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, late)
	set(Shut)
	got = append(got, say(t, fresh, soon))
	if _, err := dial(t, p); err == nil {
		t.Error("a shut door takes connections")
	}
	set(Open)
	again, err := dial(t, p)
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, say(t, again, soon))
	if d := cmp.Diff([]string{"hello", "silence", "silence", "hello\n", "closed", "hello"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestNothingBehind(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	behind := port(t, l.Addr())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, p := opened(t, behind)
	c, err := dial(t, p)
	if err != nil {
		t.Fatal(err)
	}
	if got := say(t, c, soon); got != "closed" {
		t.Errorf("%q", got)
	}
}

func TestCloseEndsEverything(t *testing.T) {
	for _, s := range []State{Open, Frozen, Shut} {
		d, p := opened(t, echoes(t))
		c, err := dial(t, p)
		if err != nil {
			t.Fatal(err)
		}
		if got := say(t, c, soon); got != "hello" {
			t.Fatalf("%q", got)
		}
		if err := d.Set(s); err != nil {
			t.Fatal(err)
		}
		d.Close()
		if got := say(t, c, soon); got != "closed" {
			t.Errorf("%s: %q after the end", s, got)
		}
		if err := d.Set(Open); err == nil {
			t.Errorf("%s: it opens after the end", s)
		}
	}
}
