package loop

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"headroom/runner/send"
	"headroom/store/record"
)

const lookupLimit = 10 * time.Second

// target is where to connect.
type target struct {
	addrs   []unix.Sockaddr
	next    int // address to try first
	network string
	source  unix.Sockaddr // nil = any
}

func newTarget(cfg *send.Config) (*target, error) {
	if cfg.Network == "unix" {
		if cfg.SourceAddress != "" {
			return nil, errors.New("loop: a Unix socket has no source address")
		}
		return &target{network: "unix", addrs: []unix.Sockaddr{&unix.SockaddrUnix{Name: cfg.Address}}}, nil
	}
	host, port, err := net.SplitHostPort(cfg.Address)
	if err != nil {
		return nil, fmt.Errorf("loop: target address: %w", err)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 {
		return nil, fmt.Errorf("loop: target address: port %q is not a number from 1 to 65535", port)
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupLimit)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("loop: target address: %w", err)
	}
	t := &target{network: "tcp"}
	for _, ip := range found {
		t.addrs = append(t.addrs, sockaddr(net.IP(ip.Unmap().AsSlice()), ip.Zone(), int(number)))
	}
	if len(t.addrs) == 0 {
		return nil, fmt.Errorf("loop: target address: %q has no address", host)
	}
	if cfg.SourceAddress != "" {
		ip, err := net.ResolveIPAddr("ip", cfg.SourceAddress)
		if err != nil {
			return nil, fmt.Errorf("loop: source address: %w", err)
		}
		t.source = sockaddr(ip.IP, ip.Zone, 0)
		fd, err := t.socket(t.source)
		if err != nil {
			return nil, fmt.Errorf("loop: source address %s cannot be used on this machine: %w", cfg.SourceAddress, err)
		}
		unix.Close(fd)
		// Only addresses of the source's family can be reached from it.
		same := t.addrs[:0]
		for _, a := range t.addrs {
			if family(a) == family(t.source) {
				same = append(same, a)
			}
		}
		if t.addrs = same; len(same) == 0 {
			return nil, fmt.Errorf("loop: source address %s and target %s are of different families", cfg.SourceAddress, host)
		}
	}
	return t, nil
}

func sockaddr(ip net.IP, zone string, port int) unix.Sockaddr {
	if v4 := ip.To4(); v4 != nil {
		return &unix.SockaddrInet4{Port: port, Addr: [4]byte(v4)}
	}
	a := &unix.SockaddrInet6{Port: port, Addr: [16]byte(ip.To16())}
	if zone != "" {
		if n, err := strconv.ParseUint(zone, 10, 32); err == nil {
			a.ZoneId = uint32(n)
		} else if i, err := net.InterfaceByName(zone); err == nil {
			a.ZoneId = uint32(i.Index)
		}
	}
	return a
}

func family(a unix.Sockaddr) int {
	switch a.(type) {
	case *unix.SockaddrInet4:
		return unix.AF_INET
	case *unix.SockaddrInet6:
		return unix.AF_INET6
	}
	return unix.AF_UNIX
}

// socket makes a socket of a's family, bound to the source address.
func (t *target) socket(a unix.Sockaddr) (int, error) {
	f := family(a)
	fd, err := unix.Socket(f, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if f != unix.AF_UNIX {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	}
	if err == nil && t.source != nil {
		// The port is chosen at the connect, when the whole pair is known, so
		// that it can be one that is in use towards somewhere else.
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
		err = unix.Bind(fd, t.source)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

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
