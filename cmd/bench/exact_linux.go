package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// exactly is the time after which the server of exactRole answers.
const exactly = time.Millisecond

// exact measures the instrument: what headroom says of a server that takes
// exactly 1 ms.
func (b *bench) exact(ctx context.Context) error {
	s, err := b.listening(ctx, b.self, "exact")
	if err != nil {
		return err
	}
	defer s.stop()
	for range b.rounds {
		t := task{s.url, 200, max(b.length, 3*time.Second)}
		path, _, err := ours{b}.record(ctx, t)
		if err != nil {
			return err
		}
		a, err := analyzed(path)
		if err != nil {
			return err
		}
		_ = os.Remove(path)
		if a.Accounting.OK != a.Accounting.Scheduled {
			return fmt.Errorf("%d of %d requests were not answered well", a.Accounting.Scheduled-a.Accounting.OK, a.Accounting.Scheduled)
		}
		seen := number(a.Latency.Service.P50)
		say("a server of exactly 1000 µs: seen as %.0f µs", seen)
		b.t.values("instrument", seen-float64(exactly.Microseconds()))
	}
	return nil
}

// exactRole is the reference: one thread that never sleeps, watches all
// connections, and answers what came exactly 1 ms after it saw it.
func exactRole(ctx context.Context, _ []string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := l.Addr().String()
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	defer file.Close()
	l.Close()
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	listener := int(file.Fd())
	if err := watch(epoll, listener); err != nil {
		return err
	}
	fmt.Printf("listening on http://%s\n", address)
	return spin(ctx, epoll, listener)
}

func watch(epoll, fd int) error {
	if err := unix.SetNonblock(fd, true); err != nil {
		return err
	}
	return unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

func spin(ctx context.Context, epoll, listener int) error {
	type owed struct {
		fd int
		at time.Time
	}
	answer := []byte("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n")
	var line []owed // in time order, because all take the same
	partial := map[int]string{}
	events := make([]unix.EpollEvent, 64)
	buf := make([]byte, 4096)
	for ctx.Err() == nil {
		n, err := unix.EpollWait(epoll, events, 0)
		if err != nil && err != unix.EINTR {
			return err
		}
		now := time.Now()
		for _, e := range events[:max(n, 0)] {
			fd := int(e.Fd)
			if fd == listener {
				if c, _, err := unix.Accept4(fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC); err == nil {
					if err := watch(epoll, c); err != nil {
						return err
					}
					_ = unix.SetsockoptInt(c, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1) // loopback does not wait either way
				}
				continue
			}
			n, err := unix.Read(fd, buf)
			if err == unix.EAGAIN {
				continue
			}
			if n <= 0 {
				unix.Close(fd)
				delete(partial, fd)
				continue
			}
			text := partial[fd] + string(buf[:n])
			if strings.HasSuffix(text, "\r\n\r\n") {
				line = append(line, owed{fd, now.Add(exactly)})
				text = ""
			}
			partial[fd] = text
		}
		for len(line) > 0 && !time.Now().Before(line[0].at) {
			_, _ = unix.Write(line[0].fd, answer) // who has left does not want it
			line = line[1:]
		}
	}
	return nil
}
