// Package door stands in front of a port of a component, so that the port can hang or be gone while the component goes
// on: a TCP forwarder on 127.0.0.1 that can be frozen and shut.
package door

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// State is what a door does with connections.
type State string

// The states of a door.
const (
	Open   State = "open"
	Frozen State = "frozen" // connections are taken and nothing comes through, as from a process that hangs
	Shut   State = "shut"   // connections are refused, as where nothing listens
)

const dialWithin = 5 * time.Second

// Door is one forwarder. Its methods may be called from several goroutines.
type Door struct {
	listen, behind string

	mu     sync.Mutex
	state  State
	flow   chan struct{} // closed while bytes may pass
	l      net.Listener
	pairs  map[*pair]bool
	closed bool
	wg     sync.WaitGroup
}

// pair is a connection and the one behind it.
type pair struct{ front, back net.Conn }

func (p *pair) close() {
	_ = p.front.Close() // it may be closed already
	_ = p.back.Close()
}

// New opens a door on a port of 127.0.0.1 to another one, behind which something need not listen yet.
func New(port, behind int) (*Door, error) {
	d := &Door{
		listen: fmt.Sprintf("127.0.0.1:%d", port), behind: fmt.Sprintf("127.0.0.1:%d", behind),
		state: Shut, flow: make(chan struct{}), pairs: map[*pair]bool{},
	}
	if err := d.Set(Open); err != nil {
		return nil, err
	}
	return d, nil
}

// State returns what the door does now.
func (d *Door) State() State {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state
}

// Set makes the door do something else from now on. Shutting it ends the connections that there are; freezing keeps
// them. It fails where the port cannot be listened on again.
func (d *Door) Set(to State) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return errors.New("the sandbox ends")
	}
	if to == d.state {
		return nil
	}
	if to != Shut && d.l == nil {
		l, err := net.Listen("tcp", d.listen)
		if err != nil {
			return err
		}
		d.l = l
		d.wg.Go(func() { d.accept(l) })
	}
	switch {
	case to == Open:
		close(d.flow)
	case d.state == Open:
		d.flow = make(chan struct{})
	}
	if d.state = to; to == Shut {
		d.drop()
	}
	return nil
}

// drop ends the listener and every connection. The caller holds the lock.
func (d *Door) drop() {
	if d.l != nil {
		_ = d.l.Close() // nothing listens after, whatever it says
		d.l = nil
	}
	for p := range d.pairs {
		p.close()
	}
	clear(d.pairs)
}

// Close shuts the door for good and blocks until nothing of it is left.
func (d *Door) Close() {
	d.mu.Lock()
	d.closed = true
	if d.state != Open {
		close(d.flow)
	}
	d.state = Open
	d.drop()
	d.mu.Unlock()
	d.wg.Wait()
}

func (d *Door) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return // the listener was closed
		}
		d.wg.Go(func() { d.forward(c) })
	}
}

func (d *Door) forward(front net.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), dialWithin)
	defer cancel()
	var dialer net.Dialer
	back, err := dialer.DialContext(ctx, "tcp", d.behind)
	if err != nil {
		_ = front.Close() // to the caller it is as if nothing listened
		return
	}
	p := &pair{front, back}
	d.mu.Lock()
	if d.closed || d.state == Shut {
		d.mu.Unlock()
		p.close()
		return
	}
	d.pairs[p] = true
	d.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { d.copy(p, p.back, p.front) })
	both.Go(func() { d.copy(p, p.front, p.back) })
	both.Wait()
	d.mu.Lock()
	delete(d.pairs, p)
	d.mu.Unlock()
}

// copy passes bytes on while the door is open, until either side ends; then it ends both.
func (d *Door) copy(p *pair, to io.Writer, from io.Reader) {
	defer p.close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			d.pass()
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// pass blocks while the door is frozen.
func (d *Door) pass() {
	d.mu.Lock()
	flow := d.flow
	d.mu.Unlock()
	<-flow
}
