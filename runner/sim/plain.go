package sim

import (
	"errors"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// plain is a small HTTP/1.1 server on bare connections. A goroutine a
// connection reads; the dispatcher writes at the departure, so that a request
// costs one wake-up and the generator keeps the processor it shares.
type plain struct {
	*core
	ln    net.Listener
	mu    sync.Mutex
	conns map[*plainConn]struct{}
	wg    sync.WaitGroup
	date  atomic.Pointer[date]
	shut  bool
}

type date struct {
	second int64
	text   []byte
}

// States of a connection, for the reader and the dispatcher.
const (
	reading   int32 = iota // no request is open
	open                   // a request is open
	impatient              // a request is open, and the reader waits to go on
	away                   // a request is open, and the client has left
)

type plainConn struct {
	p      *plain
	in     input
	w      writer
	number uint64
	state  atomic.Int32
	wake   chan struct{}

	// Of the open request; the dispatcher's from admit to depart.
	method   string
	target   []byte
	version0 bool
	last     bool // close after the answer
	body     []byte
	out      []byte // the whole answer
}

func (p *plain) serve() error {
	for {
		c, err := p.ln.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil { // no descriptors: those who wait in the backlog wait on
			time.Sleep(5 * time.Millisecond)
			continue
		}
		n := p.opened.Add(1)
		pc := &plainConn{p: p, in: input{c: c}, number: uint64(n), wake: make(chan struct{}, 1)}
		pc.w.c = c
		p.mu.Lock()
		if p.shut {
			p.mu.Unlock()
			c.Close()
			continue
		}
		p.conns[pc] = struct{}{}
		p.wg.Add(1)
		p.mu.Unlock()
		p.open.Add(1)
		go pc.run()
	}
}

func (p *plain) close() {
	p.ln.Close()
	p.mu.Lock()
	p.shut = true
	for c := range p.conns {
		c.in.c.Close()
	}
	p.mu.Unlock()
	p.wg.Wait()
}

func (c *plainConn) run() {
	defer func() {
		c.in.c.Close()
		c.p.open.Add(-1)
		c.p.mu.Lock()
		delete(c.p.conns, c)
		c.p.mu.Unlock()
		c.p.wg.Done()
	}()
	for c.one() {
	}
}

// one serves one request and reports whether the connection goes on.
func (c *plainConn) one() bool {
	h, err := c.in.head()
	if err == nil && h.proceed {
		err = c.w.write([]byte("HTTP/1.1 100 Continue\r\n\r\n"))
	}
	if err == nil {
		err = c.in.skip(&h)
	}
	if errors.Is(err, errHead) {
		_ = c.w.write([]byte("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")) // it is closed either way
	}
	if err != nil {
		return false
	}
	c.last, c.method, c.version0 = h.close, h.method, h.version0
	if string(h.target) == "/truth" {
		c.put("200 OK", c.p.truthJSON())
		return c.w.write(c.out) == nil && !c.last
	}
	c.target = append(c.target[:0], h.target...) // reading on may move the buffer
	c.state.Store(open)
	j, why := c.p.admit(c, c.number, h.method, c.target)
	if why != Admitted {
		c.state.Store(reading)
		c.put("503 Service Unavailable", []byte(refusedBody))
		return c.w.write(c.out) == nil && !c.last
	}
	// The connection is watched until the answer is written, unless the next
	// request is here already.
	if c.in.r == c.in.w {
		if err := c.in.fill(); err != nil {
			if c.state.CompareAndSwap(open, away) {
				c.p.cancel(j)
			}
			return false
		}
	}
	if c.state.CompareAndSwap(open, impatient) {
		<-c.wake
	}
	return !c.last
}

// depart writes the answer; called by the dispatcher.
func (c *plainConn) depart(j *Job) bool {
	if c.state.Load() == away {
		return false
	}
	c.body = appendDocument(c.body[:0], c.method, c.target, j.Wrong)
	c.put("200 OK", c.body)
	err := c.w.write(c.out)
	if err != nil || c.last {
		c.in.c.Close() // the reader ends
	}
	switch c.state.Swap(reading) {
	case impatient:
		c.wake <- struct{}{}
	case away:
		return false
	}
	return err == nil
}

// dateText is the value of the Date field.
func (p *plain) dateText() []byte {
	now := time.Now()
	if d := p.date.Load(); d != nil && d.second == now.Unix() {
		return d.text
	}
	d := &date{now.Unix(), now.UTC().AppendFormat(nil, http.TimeFormat)}
	p.date.Store(d)
	return d.text
}

// put puts an answer together in c.out.
func (c *plainConn) put(status string, body []byte) {
	b := append(c.out[:0], "HTTP/1.1 "...)
	b = append(b, status...)
	b = append(b, "\r\nContent-Type: application/json\r\nDate: "...)
	b = append(b, c.p.dateText()...)
	if c.last {
		b = append(b, "\r\nConnection: close"...)
	} else if c.version0 {
		b = append(b, "\r\nConnection: keep-alive"...)
	}
	b = append(b, "\r\nContent-Length: "...)
	b = strconv.AppendInt(b, int64(len(body)), 10)
	b = append(b, "\r\n\r\n"...)
	if c.method != "HEAD" {
		b = append(b, body...)
	}
	c.out = b
}
