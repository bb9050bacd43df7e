package loop

import (
	"fmt"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const eventsPerTurn = 32

// poller waits for descriptors until an instant, to the nanosecond.
type poller struct {
	epoll  int
	timer  int // timerfd, where the kernel has no epoll_pwait2; else -1
	wake   waker
	events [eventsPerTurn]unix.EpollEvent
}

// Slots that are not connections.
const (
	slotWake  = -1
	slotTimer = -2
)

func newPoller(precise bool) (*poller, error) {
	p := &poller{epoll: -1, timer: -1, wake: waker{fd: -1}}
	var err error
	if p.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("loop: epoll: %w", err)
	}
	if p.wake.fd, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		p.close()
		return nil, fmt.Errorf("loop: eventfd: %w", err)
	}
	if err = p.add(p.wake.fd, unix.EPOLLIN|unix.EPOLLET, slotWake, 0); err != nil {
		p.close()
		return nil, fmt.Errorf("loop: epoll: %w", err)
	}
	if precise {
		if _, errno := p.wait2(0); errno == 0 || errno == unix.EINTR {
			return p, nil
		}
	}
	if p.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC); err != nil {
		p.close()
		return nil, fmt.Errorf("loop: timerfd: %w", err)
	}
	if err = p.add(p.timer, unix.EPOLLIN|unix.EPOLLET, slotTimer, 0); err != nil {
		p.close()
		return nil, fmt.Errorf("loop: epoll: %w", err)
	}
	return p, nil
}

func (p *poller) close() {
	p.wake.close()
	if p.timer >= 0 {
		unix.Close(p.timer)
	}
	unix.Close(p.epoll)
}

func (p *poller) add(fd int, events uint32, slot, gen int32) error {
	ev := unix.EpollEvent{Events: events, Fd: slot, Pad: gen}
	_, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_CTL, uintptr(p.epoll), unix.EPOLL_CTL_ADD, uintptr(fd), uintptr(unsafe.Pointer(&ev)), 0, 0)
	runtime.KeepAlive(&ev)
	if errno != 0 {
		return errno
	}
	return nil
}

// wait returns what is ready, waiting at most ns nanoseconds. An interrupted
// wait returns nothing.
func (p *poller) wait(ns int64) ([]unix.EpollEvent, error) {
	var n int
	var errno syscall.Errno
	if p.timer < 0 {
		n, errno = p.wait2(ns)
	} else {
		n, errno = p.waitTimer(ns)
	}
	if errno == unix.EINTR {
		return nil, nil
	}
	if errno != 0 {
		return nil, fmt.Errorf("loop: epoll: %w", errno)
	}
	return p.events[:n], nil
}

// timespec is struct __kernel_timespec, 64 bits wide everywhere.
type timespec struct{ sec, nsec int64 }

func (p *poller) wait2(ns int64) (int, syscall.Errno) {
	ts := timespec{ns / 1e9, ns % 1e9}
	var n uintptr
	var errno syscall.Errno
	if ns == 0 { // does not block: the scheduler need not know
		n, _, errno = syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT2, uintptr(p.epoll), uintptr(unsafe.Pointer(&p.events[0])), eventsPerTurn, uintptr(unsafe.Pointer(&ts)), 0, 0)
	} else {
		n, _, errno = syscall.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(p.epoll), uintptr(unsafe.Pointer(&p.events[0])), eventsPerTurn, uintptr(unsafe.Pointer(&ts)), 0, 0)
	}
	return int(n), errno
}

func (p *poller) waitTimer(ns int64) (int, syscall.Errno) {
	msec := 0
	if ns > 0 {
		spec := unix.ItimerSpec{Value: unix.NsecToTimespec(ns)}
		if err := unix.TimerfdSettime(p.timer, 0, &spec, nil); err != nil {
			return 0, unix.EINVAL
		}
		msec = -1
	}
	n, err := unix.EpollWait(p.epoll, p.events[:], msec)
	if err != nil {
		errno, _ := err.(syscall.Errno)
		return 0, errno
	}
	return n, 0
}

// waker interrupts a wait from another goroutine.
type waker struct {
	mu sync.Mutex
	fd int
}

func (w *waker) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fd >= 0 {
		one := [8]byte{1}
		unix.Write(w.fd, one[:]) // full means that it is already awake
	}
}

func (w *waker) drain() {
	var b [8]byte
	unix.Read(w.fd, b[:])
}

func (w *waker) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fd >= 0 {
		unix.Close(w.fd)
		w.fd = -1
	}
}

// The calls below never block: their descriptors do not.

func sysRead(fd int, p []byte) (int, syscall.Errno) {
	for {
		n, _, errno := syscall.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
		if errno != unix.EINTR {
			return int(n), errno
		}
	}
}

func sysSend(fd int, p []byte, more bool) (int, syscall.Errno) {
	flags := uintptr(unix.MSG_NOSIGNAL | unix.MSG_DONTWAIT)
	if more {
		flags |= unix.MSG_MORE
	}
	for {
		n, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), flags, 0, 0)
		if errno != unix.EINTR {
			return int(n), errno
		}
	}
}

// sysQuiet reports whether a connection that owes us nothing is still open and
// has sent nothing.
func sysQuiet(fd int) bool {
	var b [1]byte
	for {
		_, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), 1, unix.MSG_PEEK|unix.MSG_DONTWAIT, 0, 0)
		if errno != unix.EINTR {
			return errno == unix.EAGAIN
		}
	}
}
