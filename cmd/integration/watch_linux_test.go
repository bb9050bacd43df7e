package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// findings runs a plan under a shell's conditions and returns the codes of what
// is said of the run, with the trust verdict and the outcomes.
func findings(t *testing.T, shell, plan string) (codes []string, trust string, errors map[string]uint64) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "plan.yaml")
	if err := os.WriteFile(file, []byte(plan), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", strings.NewReplacer("HEADROOM", binary(t)+" run "+file+" -o "+dir).Replace(shell))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what the shell started beside it
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	path := lines[len(lines)-1]
	if !strings.HasSuffix(path, ".db") {
		t.Skipf("skip: this machine does not permit it: %v\n%s", err, errs.String())
	}
	result, _ := exec.Command(binary(t), "analyze", path, "--format", "json").Output()
	var a struct {
		Trust      struct{ Verdict string }
		Accounting struct {
			ByError map[string]uint64 `json:"by_error"`
		}
		Findings []struct{ Code string }
	}
	if err := json.Unmarshal(result, &a); err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Findings {
		codes = append(codes, f.Code)
	}
	return codes, a.Trust.Verdict, a.Accounting.ByError
}

// Each thing that a generator can lack is made to lack, and found.
func TestTheGeneratorWatchesItself(t *testing.T) {
	if testing.Short() {
		t.Skip("takes the processor away for some seconds")
	}
	slow := func(rate int, length string) string {
		return fmt.Sprintf(`
name: watch
target: {builtin: {workers: 1000, service: 1s constant}}
http: {timeout: 3s}
load: {steady: {rate: %d, length: %s}}
requests: [{class: view, weight: 1, get: /view}]
`, rate, length)
	}
	quick := fmt.Sprintf(`
name: watch
target: {exec: {command: [%q, target, "--listen=127.0.0.1:{port}", --workers=64, "--service=1ms constant"], ready: /truth}}
load: {steady: {rate: 2000, length: 6s}}
requests: [{class: view, weight: 1, get: /view}]
`, binary(t))
	for _, c := range []struct {
		name, shell, plan string
		want              string
		trust             []string
		error             string
	}{
		{"descriptors", "ulimit -n 64; exec HEADROOM", slow(200, "4s"), "generator_errors", []string{"untrusted"}, "descriptors"},
		{
			"local ports", `exec unshare -rn sh -c 'ip link set lo up && echo "40000 40029" > /proc/sys/net/ipv4/ip_local_port_range && exec HEADROOM'`,
			slow(200, "4s"), "generator_errors",
			[]string{"untrusted"},
			"ports",
		},
		{"the service's processors", "exec taskset -c 0 HEADROOM", quick, "shares_cpus", []string{"suspect", "untrusted"}, ""},
		{
			// A real-time task leaves a twentieth of the processor to all others;
			// what ends it has a higher priority than it.
			"no processor", `chrt -f 2 true || exit 1; (sleep 2; exec chrt -f 2 timeout -s KILL 3 taskset -c 0 chrt -f 1 sh -c 'while :; do :; done') >/dev/null 2>&1 & exec taskset -c 0 HEADROOM`,
			quick, "generator_cpu",
			[]string{"untrusted"},
			"",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			codes, trust, errors := findings(t, c.shell, c.plan)
			if !slices.Contains(codes, c.want) || !slices.Contains(c.trust, trust) {
				t.Errorf("trust %s, findings %v; want %v and %s", trust, codes, c.trust, c.want)
			}
			if c.error != "" && errors[c.error] == 0 {
				t.Errorf("errors %v, want some of %s", errors, c.error)
			}
		})
	}
}

// What a run at 1,000 requests per second really sends is a Poisson process.
func TestRealSendsArePoisson(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	const plan = `
name: poisson
target: {builtin: {workers: 64, service: 2ms exponential}}
load: {steady: {rate: 1000, length: 60s}}
requests: [{class: view, weight: 1, get: /view}]
`
	var last string
	for range 3 { // a busy machine stalls the generator, which is found out
		path, code := record(t, plan)
		if code != 0 {
			t.Fatalf("run: exit %d", code)
		}
		result, _ := exec.Command(binary(t), "analyze", path, "--format", "json").Output()
		var a struct {
			Trust struct {
				Arrivals struct {
					Verdict, Reason string
					Dispersion      float64 `json:"dispersion_1s"`
					CV              float64 `json:"gap_cv"`
				}
			}
		}
		if err := json.Unmarshal(result, &a); err != nil {
			t.Fatal(err)
		}
		last = fmt.Sprintf("%+v", a.Trust.Arrivals)
		t.Log(last)
		if a.Trust.Arrivals.Verdict == "accepted" {
			return
		}
		if a.Trust.Arrivals.Reason != "stalled" {
			break
		}
		wait(time.Second)
	}
	t.Errorf("not accepted: %s", last)
}
