package sendtest

import (
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

// limits runs out of what the system gives.
func (s *suite) limits(t *testing.T) {
	t.Run("ConnectTimeout", s.connectTimeout)
	t.Run("UnixBacklog", s.unixBacklog)
	t.Run("Descriptors", s.descriptors)
	t.Run("Ports", s.ports)
}

// listen is a listener that never accepts.
func listen(t *testing.T, family int, addr unix.Sockaddr, backlog int) int {
	t.Helper()
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, addr); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(fd, backlog); err != nil {
		t.Fatal(err)
	}
	return fd
}

// fullBacklog is the address of a listener that takes no further connection.
func fullBacklog(t *testing.T) string {
	t.Helper()
	fd := listen(t, unix.AF_INET, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}, 0)
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

// connectTimeout connects to a listener whose backlog is full.
func (s *suite) connectTimeout(t *testing.T) {
	f, _ := s.drive(t, Config(fullBacklog(t)), Within(200e6, Many(3, 20e6))...)
	if n := f.Kinds()[record.ErrConnectTimeout]; n != 3 {
		t.Errorf("%v, want 3 connect timeouts", f.Kinds())
	}
}

// unixBacklog: a server that does not accept fails requests by their timeout:
// those whose connections wait in its backlog, and those that find it full.
func (s *suite) unixBacklog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	listen(t, unix.AF_UNIX, &unix.SockaddrUnix{Name: path}, 1)
	cfg := Config(path)
	cfg.Network = "unix"
	f, st := s.drive(t, cfg, Within(100e6, Many(10, 0))...)
	k := f.Kinds()
	if k[record.ErrAnswerTimeout] != 2 || k[record.ErrConnectTimeout] != 8 || st.Opened != 2 {
		t.Errorf("%v, %d opened; want 2 answers and 8 connects timed out", k, st.Opened)
	}
}

// role is set in a process that runs one test again to play its other part.
const role = "HEADROOM_SENDTEST_ROLE"

// again is a command that runs the test in a process of its own.
func again(t *testing.T, part string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$", "-test.v")
	cmd.Env = append(os.Environ(), role+"="+part)
	return cmd
}

// descriptors runs out of descriptors in a process of its own.
func (s *suite) descriptors(t *testing.T) {
	if addr := os.Getenv(role); addr != "" {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 40, Max: 40}); err != nil {
			t.Fatal(err)
		}
		f, st := s.drive(t, Config(addr), Within(500e6, Many(100, 0))...)
		k := f.Kinds()
		fmt.Printf("descriptors=%d others=%d opened=%d\n", k[record.ErrDescriptors], k[record.ErrAnswerTimeout], st.Opened)
		if k[record.ErrDescriptors] == 0 || k[record.ErrDescriptors]+k[record.ErrAnswerTimeout] != 100 {
			t.Errorf("%v", k)
		}
		return
	}
	out, err := again(t, Serve(t, Hang).Addr()).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "descriptors=") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// ports runs out of local ports in a network of its own, which has 20.
func (s *suite) ports(t *testing.T) {
	if os.Getenv(role) != "" {
		up(t)
		if err := os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", []byte("40000 40019"), 0o644); err != nil {
			t.Fatal(err)
		}
		srv := ServeOn(t, "tcp", "127.0.0.1:9000", Hang)
		f, _ := s.drive(t, Config(srv.Addr()), Within(500e6, Many(50, 0))...)
		k := f.Kinds()
		fmt.Printf("ports=%d\n", k[record.ErrPorts])
		if k[record.ErrPorts] != 30 || k[record.ErrAnswerTimeout] != 20 {
			t.Errorf("%v, want 30 without a port and 20 timed out", k)
		}
		return
	}
	cmd := again(t, "network")
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
