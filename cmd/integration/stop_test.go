package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func goBuild(t *testing.T, pkg string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), filepath.Base(pkg))
	if b, err := exec.Command("go", "build", "-o", out, pkg).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, b)
	}
	return out
}

func steadyPlan(url, http, length string) string {
	return fmt.Sprintf(`
name: steady
target: {url: %q}
http: {timeout: 20s%s}
load: {steady: {rate: 100, length: %s}}
arrivals: constant
requests: [{class: view, weight: 1, get: /view}]
`, url, http, length)
}

// freeze stops a process for a time, once the evidence file has grown past the
// first intervals.
func freeze(t *testing.T, p *os.Process, dir string, length time.Duration) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		parts, _ := filepath.Glob(filepath.Join(dir, "*.part"))
		if len(parts) == 1 {
			if st, err := os.Stat(parts[0]); err == nil && time.Since(st.ModTime()) < time.Second && time.Since(birth(parts[0])) > 5*time.Second {
				break
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("no run began")
		}
		wait(50 * time.Millisecond)
	}
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	wait(length)
	if err := p.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}

// wait is for the length of a disturbance, which is part of the experiment.
func wait(d time.Duration) { <-time.After(d) }

// birth is when a run's evidence file was made: it is in the name.
func birth(path string) time.Time {
	for _, word := range strings.Split(filepath.Base(path), "-") {
		if at, err := time.Parse("20060102T150405Z", word); err == nil {
			return at
		}
	}
	return time.Now()
}

// begin starts a run in the background.
func begin(t *testing.T, plan string) (dir string, cmd *exec.Cmd, out *strings.Builder) {
	t.Helper()
	dir = t.TempDir()
	file := filepath.Join(dir, "plan.yaml")
	if err := os.WriteFile(file, []byte(plan), 0o644); err != nil {
		t.Fatal(err)
	}
	out = &strings.Builder{}
	cmd = exec.Command(binary(t), "run", file, "-o", dir)
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return dir, cmd, out
}

// A service that stands still for 6 s of 60 s at 100/s: a tenth of the requests
// wait, evenly between 0 and 6 s, so p95 is 3 s and p99 5.4 s. A generator that
// keeps its schedule sees the same on both clocks. With 10 connections the
// requests wait in the generator: the user's clock shows the same, the
// server's shows next to nothing, and the run says that it can't be trusted.
func TestServiceStandsStill(t *testing.T) {
	for _, c := range []struct {
		name, http string
		limited    bool
	}{
		{"as many connections as needed", "", false},
		{"10 connections", ", max_connections: 10", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url, svc := service(t, "--workers=100", "--service=5ms constant")
			dir, cmd, out := begin(t, steadyPlan(url, c.http, "60s"))
			freeze(t, svc.Process, dir, 6*time.Second)
			if code := exitCode(t, cmd.Wait()); code != 0 {
				t.Fatalf("run: exit %d", code)
			}
			a, _ := analyze(t, strings.TrimSpace(out.String()))
			near(t, "p95 of response", a.Latency.Response.P95, 2.6e6, 3.4e6)
			near(t, "p99 of response", a.Latency.Response.P99, 5.1e6, 5.7e6)
			if f := a.Trust.OmissionFactor.P99; c.limited {
				near(t, "p99 of service", a.Latency.Service.P99, 0, 80e3)
				if f < 40 || a.Trust.Verdict != "untrusted" {
					t.Errorf("omission factor %.2f, %s; want above 40, untrusted", f, a.Trust.Verdict)
				}
			} else if f > 1.2 {
				t.Errorf("omission factor %.2f, want about 1", f)
			}
		})
	}
}

// The generator itself stands still for 3 s: it says so, and nothing passes.
func TestGeneratorStandsStill(t *testing.T) {
	t.Parallel()
	url, _ := service(t, "--workers=100", "--service=5ms constant")
	dir, cmd, out := begin(t, steadyPlan(url, "", "20s"))
	freeze(t, cmd.Process, dir, 3*time.Second)
	if code := exitCode(t, cmd.Wait()); code != 0 {
		t.Fatalf("run: exit %d", code)
	}
	a, code := analyze(t, strings.TrimSpace(out.String()))
	if a.Trust.Verdict != "untrusted" || code != 4 {
		t.Errorf("trust %s, exit %d; want untrusted, 4", a.Trust.Verdict, code)
	}
	// 3 s at 100/s: those of the first 2 s left more than 1 s late.
	if n := a.Trust.LateSends.Over1s; n < 180 || n > 210 {
		t.Errorf("%d sends more than 1 s late, want about 200", n)
	}
	if a.Accounting.Scheduled != 2000 || a.Accounting.Sent != 2000 {
		t.Errorf("scheduled %d, sent %d; want 2000 of both", a.Accounting.Scheduled, a.Accounting.Sent)
	}
}

// A run that is ended in its middle leaves readable evidence, never a pass.
func TestSignals(t *testing.T) {
	for _, c := range []struct {
		name string
		sig  syscall.Signal
		code int
	}{
		{"SIGINT", syscall.SIGINT, 130},
		{"SIGTERM", syscall.SIGTERM, 143},
		{"SIGKILL", syscall.SIGKILL, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url, _ := service(t, "--workers=100", "--service=5ms constant")
			dir, cmd, _ := begin(t, steadyPlan(url, "", "60s"))
			freeze(t, cmd.Process, dir, time.Millisecond) // waits until the run is in its middle
			if err := cmd.Process.Signal(c.sig); err != nil {
				t.Fatal(err)
			}
			if code := exitCode(t, cmd.Wait()); code != c.code {
				t.Errorf("exit %d, want %d", code, c.code)
			}
			pattern := "*.db"
			if c.sig == syscall.SIGKILL {
				pattern = "*.part"
			}
			files, _ := filepath.Glob(filepath.Join(dir, pattern))
			if len(files) != 1 {
				t.Fatalf("%d files %s", len(files), pattern)
			}
			a, code := analyze(t, files[0])
			if a.Run.State != "interrupted" || a.Verdict != "inconclusive" || code != 4 || a.Accounting.OK == 0 {
				t.Errorf("state %s, verdict %s, exit %d, %d ok; want interrupted, inconclusive, 4, some", a.Run.State, a.Verdict, code, a.Accounting.OK)
			}
		})
	}
}

func near(t *testing.T, what string, got *float64, low, high float64) {
	t.Helper()
	if got == nil {
		t.Errorf("%s is not known", what)
		return
	}
	if *got < low || *got > high {
		t.Errorf("%s is %.0f µs, want %.0f to %.0f", what, *got, low, high)
	}
}
