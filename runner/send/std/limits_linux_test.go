package std

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"headroom/store/record"
)

// fullBacklog is the address of a listener that takes no further connection.
func fullBacklog(t *testing.T) string {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	sa, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(sa.(*unix.SockaddrInet4).Port))
	for range 4 {
		c, err := net.DialTimeout("tcp", addr, 200*time.Millisecond)
		if err != nil {
			return addr
		}
		t.Cleanup(func() { c.Close() })
	}
	t.Fatal("the backlog does not fill")
	return ""
}

// TestConnectTimeout connects to a listener whose backlog is full.
func TestConnectTimeout(t *testing.T) {
	addr := fullBacklog(t)
	reqs := many(3, 20e6)
	for _, r := range reqs {
		r.Timeout = 200e6
	}
	f, _ := drive(t, config(addr), reqs...)
	if n := f.kinds()[record.ErrConnectTimeout]; n != 3 {
		t.Errorf("%v, want 3 connect timeouts", f.kinds())
	}
}

// TestUnixBacklog: a server that does not accept fails requests by their
// timeout, and one that accepts again gets them.
func TestUnixBacklog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(fd, 1); err != nil {
		t.Fatal(err)
	}
	cfg := config(path)
	cfg.Network = "unix"
	reqs := many(10, 0)
	for _, r := range reqs {
		r.Timeout = 100e6
	}
	f, st := drive(t, cfg, reqs...)
	k := f.kinds()
	if k[record.ErrAnswerTimeout] != 2 || k[record.ErrConnectTimeout] != 8 || st.Opened != 2 {
		t.Errorf("%v, %d opened; want 2 answers and 8 connects timed out", k, st.Opened)
	}
}

// TestDescriptors runs out of descriptors in a process of its own.
func TestDescriptors(t *testing.T) {
	const role = "HEADROOM_STD_TEST_ADDR"
	if addr := os.Getenv(role); addr != "" {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 40, Max: 40}); err != nil {
			t.Fatal(err)
		}
		reqs := many(100, 0)
		for _, r := range reqs {
			r.Timeout = 500e6
		}
		f, st := drive(t, config(addr), reqs...)
		k := f.kinds()
		fmt.Printf("descriptors=%d others=%d opened=%d\n", k[record.ErrDescriptors], k[record.ErrAnswerTimeout], st.Opened)
		if k[record.ErrDescriptors] == 0 || k[record.ErrDescriptors]+k[record.ErrAnswerTimeout] != 100 {
			t.Errorf("%v", k)
		}
		return
	}
	s := serve(t, func(_ *server, c net.Conn, _ *bufio.Reader) { hang(c) })
	cmd := exec.Command(os.Args[0], "-test.run=^TestDescriptors$", "-test.v")
	cmd.Env = append(os.Environ(), role+"="+s.Addr().String())
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "descriptors=") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestPorts runs out of local ports in a network of its own, which has 20.
func TestPorts(t *testing.T) {
	const role = "HEADROOM_STD_TEST_PORTS"
	if os.Getenv(role) != "" {
		up(t)
		if err := os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", []byte("40000 40019"), 0o644); err != nil {
			t.Fatal(err)
		}
		s := serveOn(t, "tcp", "127.0.0.1:9000", func(_ *server, c net.Conn, _ *bufio.Reader) { hang(c) })
		reqs := many(50, 0)
		for _, r := range reqs {
			r.Timeout = 500e6
		}
		f, _ := drive(t, config(s.Addr().String()), reqs...)
		k := f.kinds()
		fmt.Printf("ports=%d\n", k[record.ErrPorts])
		if k[record.ErrPorts] != 30 || k[record.ErrAnswerTimeout] != 20 {
			t.Errorf("%v, want 30 without a port and 20 timed out", k)
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestPorts$", "-test.v")
	cmd.Env = append(os.Environ(), role+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EINVAL) {
		t.Skipf("needs a network namespace: run as root, or allow unprivileged user namespaces: %v", err)
	}
	if err != nil || !strings.Contains(string(out), "ports=30") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// up brings the loopback interface of a new network up.
func up(t *testing.T) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	ifr, err := unix.NewIfreq("lo")
	if err != nil {
		t.Fatal(err)
	}
	ifr.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr); err != nil {
		t.Fatal(err)
	}
}
