package loop

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"

	"headroom/store/record"
)

// open begins to open at most one connection.
func (e *Engine) open() {
	if !e.wantsConn() {
		return
	}
	now := e.Now()
	if now < e.nextOpen {
		return
	}
	e.nextOpen = now + openEvery
	if e.full() {
		e.close(e.oldest)
	}
	e.target.refresh(now)
	c := e.newConn()
	c.state, c.began, c.patience = connecting, now, e.line.first().req.Timeout
	c.limit, c.idleFor = e.cfg.MaxPerConn, e.cfg.IdleTimeout
	c.answer.pool, c.answer.maxHead = &e.buffers, e.cfg.MaxHead
	e.connecting++
	e.opened++
	e.deadlines.arm(c, now, c.patience)
	e.dial(c)
}

// dial tries one address.
func (e *Engine) dial(c *conn) {
	t := e.target
	addr := t.addrs[(t.next+c.tried)%len(t.addrs)]
	c.tried++
	fd, err := t.socket(addr)
	if err == nil {
		c.fd = fd
		err = unix.Connect(fd, addr)
	}
	switch {
	case err == nil, err == unix.EINPROGRESS, err == unix.EINTR:
		// Both are heard of as an event, which comes at once where it is done.
		if err := e.poll.add(fd, unix.EPOLLIN|unix.EPOLLOUT|unix.EPOLLRDHUP|unix.EPOLLET, c.slot, c.gen); err != nil {
			e.unconnected(c, errnoOf(err))
		}
	case err == unix.EAGAIN && t.network == "unix":
		// The backlog is full and nothing says when it no longer is.
		now, w := e.Now(), e.line.first()
		e.close(c)
		e.nextOpen = now + backlogRetry
		if w.req.Timeout > 0 && now-w.since >= w.req.Timeout {
			e.failWaiting(record.ErrConnectTimeout, w.since)
		}
	default:
		e.unconnected(c, errnoOf(err))
	}
}

// unconnected takes the failure of an attempt to connect: the next address is
// tried, or the request that has waited longest fails.
func (e *Engine) unconnected(c *conn, errno syscall.Errno) {
	kind := kindOf(errno)
	if !kind.Own() && c.tried < len(e.target.addrs) {
		if c.fd >= 0 {
			unix.Close(c.fd)
			c.fd = -1
		}
		c.gen++
		e.dial(c)
		return
	}
	began := c.began
	e.close(c)
	e.failWaiting(kind, began)
}

// connected takes the end of a connect.
func (e *Engine) connected(c *conn, events uint32) {
	if events&(unix.EPOLLERR|unix.EPOLLHUP) != 0 {
		soErr, err := unix.GetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_ERROR)
		if err != nil {
			soErr = int(errnoOf(err))
		}
		if soErr != 0 {
			e.unconnected(c, syscall.Errno(soErr))
			return
		}
	}
	if c.tried > 1 { // earlier addresses did not answer: begin with this one next time
		e.target.next = (e.target.next + c.tried - 1) % len(e.target.addrs)
	}
	e.connecting--
	e.conns.Opened++
	e.deadlines.disarm(c)
	c.state = busy // for the moment, also without a request
	c.doneAt = e.Now()
	c.ended = events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0
	came := c.ended || events&unix.EPOLLIN != 0
	switch {
	case e.line.n > 0:
		// Also where the server has closed already: it accepted and closed,
		// and that is its answer to the request that asked for the connection.
		req := e.line.pop().req
		if e.send(c, req); came && c.req == req {
			e.read(c)
		}
	case came:
		e.close(c)
	default:
		e.release(c, c.doneAt)
	}
}

// connectExpired takes the end of an attempt's patience. The request that has
// waited longest fails only if it has waited for its whole timeout; else it is
// one that came later, and gets an attempt of its own.
func (e *Engine) connectExpired(c *conn, now int64) {
	if _, err := unix.Getpeername(c.fd); err == nil {
		e.connected(c, 0) // in time; we were late to see it
		return
	}
	began := c.began
	e.target.next = (e.target.next + c.tried) % len(e.target.addrs)
	e.close(c)
	if e.line.n > 0 {
		if w := e.line.first(); w.req.Timeout > 0 && now-max(began, w.since) >= w.req.Timeout {
			e.failWaiting(record.ErrConnectTimeout, began)
		}
	}
}

func errnoOf(err error) syscall.Errno {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return unix.EIO
}
