package file

import (
	"runtime"
	"sync"
)

// pipe decodes what the reader of the file cuts, with one goroutine for each
// processor, and hands the outcomes on in the order of the file. What is in
// flight is bounded by its channels.
type pipe struct {
	work  chan *unit // for whoever is free
	queue chan *unit // the same, in the order of the file
	open  *unit      // being filled
	then  func([]outcome)
	free  sync.Pool
	busy  sync.WaitGroup
	ended chan struct{}
}

// unit is some objects that go through the pipe together.
type unit struct {
	raw  []byte // of all jobs
	jobs []job
	out  []outcome
	done chan struct{}
	// then takes the outcomes, in the order of the file.
	then func([]outcome)
}

// job is one object or list to decode: the bytes from from to to of its unit.
type job struct {
	from, to int
	at       place
	of       typeMeta // of an object that names none
	form     form
}

// form is how a job's text is written.
type form uint8

const (
	inJSON form = iota
	inYAML
	// inYAMLItem is a list of one item, cut out of a longer list.
	inYAMLItem
	// inYAMLHead is the document around a list whose items were cut out.
	inYAMLHead
)

// A unit is handed on when it has so many jobs or bytes.
const (
	unitJobs  = 64
	unitBytes = 256 << 10
)

// newPipe starts the goroutines, which end after close. then takes the outcomes.
func newPipe(then func([]outcome)) *pipe {
	n := runtime.GOMAXPROCS(0)
	p := &pipe{work: make(chan *unit, n), queue: make(chan *unit, 4*n), ended: make(chan struct{}), then: then}
	p.free.New = func() any { return &unit{raw: make([]byte, 0, unitBytes), jobs: make([]job, 0, unitJobs)} }
	for range n {
		p.busy.Go(func() {
			for u := range p.work {
				u.decode()
				close(u.done)
			}
		})
	}
	go func() {
		defer close(p.ended)
		for u := range p.queue {
			<-u.done
			u.then(u.out)
			u.raw, u.jobs, u.then = u.raw[:0], u.jobs[:0], nil
			clear(u.out)
			u.out = u.out[:0]
			if cap(u.raw) <= 4*unitBytes {
				p.free.Put(u)
			}
		}
	}()
	return p
}

// into makes then the one that takes the outcomes of what is put from now on, and
// returns the one that did before. Only one goroutine at a time runs any of them.
func (p *pipe) into(then func([]outcome)) func([]outcome) {
	p.flush()
	before := p.then
	p.then = then
	return before
}

// put adds a job to decode; raw is copied.
func (p *pipe) put(raw []byte, j job) {
	if p.open == nil {
		p.open = p.free.Get().(*unit)
		p.open.then = p.then
	}
	u := p.open
	j.from = len(u.raw)
	u.raw = append(u.raw, raw...)
	j.to = len(u.raw)
	u.jobs = append(u.jobs, j)
	if len(u.jobs) >= unitJobs || len(u.raw) >= unitBytes {
		p.flush()
	}
}

// flush hands on what was put.
func (p *pipe) flush() {
	if u := p.open; u != nil {
		p.open, u.done = nil, make(chan struct{})
		p.queue <- u
		p.work <- u
	}
}

// after runs f when the outcomes of everything that was put have been taken.
func (p *pipe) after(f func()) {
	p.flush()
	u := &unit{done: make(chan struct{}), then: func([]outcome) { f() }}
	close(u.done)
	p.queue <- u
}

// close hands on the rest and returns when everything has been taken.
func (p *pipe) close() {
	p.flush()
	close(p.work)
	close(p.queue)
	p.busy.Wait()
	<-p.ended
}

func (u *unit) decode() {
	for _, j := range u.jobs {
		raw := u.raw[j.from:j.to]
		if j.form == inJSON {
			u.out = decode(u.out, raw, j.at, j.of)
			continue
		}
		u.out = decodeYAML(u.out, raw, j)
	}
}
