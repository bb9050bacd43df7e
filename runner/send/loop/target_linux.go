package loop

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"headroom/runner/send"
)

const (
	lookupLimit = 10 * time.Second
	lookupEvery = int64(30 * time.Second) // between two look-ups of a name, when connections are opened
)

// target is where to connect.
type target struct {
	network string
	host    string
	port    int
	source  unix.Sockaddr // nil = any
	addrs   []unix.Sockaddr
	next    int // address to try first

	named  bool  // host is a name, not an address
	asked  int64 // when it was looked up last
	asking atomic.Bool
	found  atomic.Pointer[[]unix.Sockaddr] // by the last look-up, not yet adopted
	ctx    context.Context                 // ends with Close
	cancel context.CancelFunc
}

func newTarget(cfg *send.Config) (*target, error) {
	t := &target{network: "tcp"}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	if cfg.Network == "unix" {
		if cfg.SourceAddress != "" {
			return nil, errors.New("loop: a Unix socket has no source address")
		}
		t.network, t.addrs = "unix", []unix.Sockaddr{&unix.SockaddrUnix{Name: cfg.Address}}
		return t, nil
	}
	host, port, err := net.SplitHostPort(cfg.Address)
	if err != nil {
		return nil, fmt.Errorf("loop: target address: %w", err)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 {
		return nil, fmt.Errorf("loop: target address: port %q is not a number from 1 to 65535", port)
	}
	t.host, t.port = host, int(number)
	_, err = netip.ParseAddr(host)
	t.named = err != nil
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
	}
	t.addrs, err = t.resolve()
	if err != nil {
		return nil, err
	}
	return t, nil
}

// resolve is the addresses of the host, of the source address's family where
// there is one.
func (t *target) resolve() ([]unix.Sockaddr, error) {
	ctx, cancel := context.WithTimeout(t.ctx, lookupLimit)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", t.host)
	if err != nil {
		return nil, fmt.Errorf("loop: target address: %w", err)
	}
	var addrs []unix.Sockaddr
	for _, ip := range found {
		a := sockaddr(net.IP(ip.Unmap().AsSlice()), ip.Zone(), t.port)
		if t.source == nil || family(a) == family(t.source) {
			addrs = append(addrs, a)
		}
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("loop: target address: %q has no address that can be reached from the source address", t.host)
	}
	return addrs, nil
}

// refresh looks a name up again in the background, and adopts what the last
// look-up found. A look-up that fails changes nothing.
func (t *target) refresh(now int64) {
	if !t.named {
		return
	}
	if found := t.found.Swap(nil); found != nil {
		t.addrs, t.next = *found, 0
	}
	if now-t.asked < lookupEvery || !t.asking.CompareAndSwap(false, true) {
		return
	}
	t.asked = now
	go func() {
		defer t.asking.Store(false)
		if addrs, err := t.resolve(); err == nil {
			t.found.Store(&addrs)
		}
	}()
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
