package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// need finds a program, or skips the test; where HEADROOM_REQUIRE names the
// service, a missing one fails the test instead.
func need(t *testing.T, service, program string, also ...string) string {
	t.Helper()
	if p, err := exec.LookPath(program); err == nil {
		return p
	}
	for _, pattern := range also {
		if all, _ := filepath.Glob(pattern); len(all) > 0 {
			return all[len(all)-1]
		}
	}
	text := fmt.Sprintf("%s is not installed: apt-get install %s", program, map[string]string{"nginx": "nginx", "postgres": "postgresql"}[service])
	for _, r := range strings.Split(os.Getenv("HEADROOM_REQUIRE"), ",") {
		if r == service {
			t.Fatal(text)
		}
	}
	t.Skip("skip: " + text)
	return ""
}

var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "headroom-bin")
	if err != nil {
		return "", err
	}
	out := filepath.Join(dir, "headroom")
	b, err := exec.Command("go", "build", "-o", out, "headroom/cmd/headroom").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, b)
	}
	return out, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if p, err := build(); err == nil {
		os.RemoveAll(filepath.Dir(p))
	}
	os.Exit(code)
}

func binary(t *testing.T) string {
	t.Helper()
	p, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// start runs a program until the test ends and returns its process.
func start(t *testing.T, env []string, as *syscall.Credential, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as, Setpgid: true, Pdeathsig: syscall.SIGKILL}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGCONT)
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s printed:\n%s", filepath.Base(name), out.String())
		}
	})
	return cmd
}

// await polls until a TCP port accepts, bounded by a deadline.
func await(t *testing.T, address string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if c, err := net.DialTimeout("tcp", address, time.Second); err == nil {
			c.Close()
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("nothing listens on %s after 30 s", address)
		case <-tick.C:
		}
	}
}

// postgres starts a server of its own in a temporary folder and returns its DSN.
func postgres(t *testing.T) string {
	t.Helper()
	initdb := need(t, "postgres", "initdb", "/usr/lib/postgresql/*/bin/initdb")
	bin := filepath.Dir(initdb)
	if real, err := filepath.EvalSymlinks(initdb); err == nil {
		bin = filepath.Dir(real)
	}
	dir, err := os.MkdirTemp("", "headroom-pg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	var as *syscall.Credential
	if os.Geteuid() == 0 { // the server refuses to run as root
		u, err := user.Lookup("postgres")
		if err != nil {
			if u, err = user.Lookup("nobody"); err != nil {
				t.Fatal(err)
			}
		}
		uid, _ := strconv.ParseUint(u.Uid, 10, 32)
		gid, _ := strconv.ParseUint(u.Gid, 10, 32)
		as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, int(uid), int(gid)); err != nil {
			t.Fatal(err)
		}
	}
	data := filepath.Join(dir, "data")
	cmd := exec.Command(initdb, "-D", data, "-A", "trust", "-U", "shop", "--no-sync")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	port := freePort(t)
	start(t, nil, as, filepath.Join(bin, "postgres"), "-D", data, "-p", strconv.Itoa(port), "-k", dir, "-h", "127.0.0.1", "-F")
	await(t, fmt.Sprintf("127.0.0.1:%d", port))
	dsn := fmt.Sprintf("postgres://shop@127.0.0.1:%d/postgres", port)
	psql := need(t, "postgres", "psql", filepath.Join(bin, "psql"))
	var last error
	for range 50 { // it accepts connections a little before it answers them
		out, err := exec.Command(psql, dsn, "-v", "ON_ERROR_STOP=1", "-q", "-c",
			"create table orders as select c as customer, n from generate_series(1,1000) c, generate_series(1,1) n; create index on orders (customer); analyze orders").CombinedOutput()
		if err == nil {
			return dsn
		}
		last = fmt.Errorf("%w: %s", err, out)
		if !strings.Contains(string(out), "starting up") {
			break
		}
		exec.Command("sleep", "0.1").Run()
	}
	t.Fatal(last)
	return ""
}

// nginx starts a server with the given http section and returns its address.
func nginx(t *testing.T, http string) string {
	t.Helper()
	program := need(t, "nginx", "nginx", "/usr/sbin/nginx")
	dir := t.TempDir()
	address := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	conf := filepath.Join(dir, "nginx.conf")
	text := fmt.Sprintf(`daemon off; worker_processes 1; pid %[1]s/pid; error_log %[1]s/error.log;
events { worker_connections 4096; }
http {
  access_log off; keepalive_requests 1000000;
  client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi; uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
  %[3]s
}
`, dir, address, strings.ReplaceAll(http, "ADDRESS", address))
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	start(t, nil, nil, program, "-c", conf, "-p", dir)
	await(t, address)
	return "http://" + address
}

// service starts `headroom target` and returns its address and process.
func service(t *testing.T, args ...string) (string, *exec.Cmd) {
	t.Helper()
	address := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	cmd := start(t, nil, nil, binary(t), append([]string{"target", "--listen=" + address}, args...)...)
	await(t, address)
	return "http://" + address, cmd
}

// analysis is what these tests read of analysis.json.
type analysis struct {
	Verdict string
	Run     struct{ State string }
	Trust   struct {
		Verdict        string
		Reasons        []string
		OmissionFactor struct{ P99 float64 } `json:"omission_factor"`
		LateSends      struct {
			Over1s uint64 `json:"over_1s"`
		} `json:"late_sends"`
	}
	Latency struct {
		Response quantiles `json:"response_us"`
		Service  quantiles `json:"service_us"`
	}
	Knee struct {
		Status, Reason, Kind string
		RPS                  *float64
		CI95                 *[2]float64
	}
	PostSaturation []struct {
		At    float64
		Ratio *float64
	} `json:"post_saturation"`
	Accounting struct{ Scheduled, Sent, OK uint64 }
	Sentence   struct{ EN string }
}

type quantiles struct{ P50, P95, P99 *float64 }

// record runs a plan; it returns the evidence file and the exit code.
func record(t *testing.T, plan string) (path string, code int) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "plan.yaml")
	if err := os.WriteFile(file, []byte(plan), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	cmd := exec.Command(binary(t), "run", file, "-o", dir)
	cmd.Stdout, cmd.Stderr = &out, &errs
	code = exitCode(t, cmd.Run())
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if path = lines[len(lines)-1]; path == "" {
		t.Fatalf("no evidence (exit %d): %s", code, errs.String())
	}
	return path, code
}

func exitCode(t *testing.T, err error) int {
	t.Helper()
	var e *exec.ExitError
	if errors.As(err, &e) {
		return e.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0
}

// analyze returns the analysis of a run and the exit code.
func analyze(t *testing.T, path string) (analysis, int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(binary(t), "analyze", path, "--format", "json")
	cmd.Stdout, cmd.Stderr = &out, &errs
	code := exitCode(t, cmd.Run())
	var a analysis
	if err := json.Unmarshal(out.Bytes(), &a); err != nil {
		t.Fatalf("analyze (exit %d): %v: %s", code, err, errs.String())
	}
	return a, code
}

// trusted runs a plan and analyses it, again where the machine held up the
// generator, at most three times: what a busy machine makes untrustworthy says
// nothing about the service.
func trusted(t *testing.T, plan string) analysis {
	t.Helper()
	var a analysis
	for try := range 3 {
		path, code := record(t, plan)
		if code != 0 {
			t.Fatalf("run: exit %d", code)
		}
		a, _ = analyze(t, path)
		t.Logf("try %d: %s; trust %s %v", try+1, a.Sentence.EN, a.Trust.Verdict, a.Trust.Reasons)
		if a.Trust.Verdict != "untrusted" && a.Knee.Reason != "too_noisy" {
			return a
		}
	}
	return a
}
