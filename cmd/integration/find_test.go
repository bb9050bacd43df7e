package integration

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// find runs `headroom find URL` with no flag but the folder, and returns what
// it concluded and how long it took.
func find(t *testing.T, url string) (analysis, time.Duration) {
	t.Helper()
	dir := t.TempDir()
	var out, errs bytes.Buffer
	cmd := exec.Command(binary(t), "find", url, "-o", dir)
	cmd.Stdout, cmd.Stderr = &out, &errs
	began := time.Now()
	code := exitCode(t, cmd.Run())
	took := time.Since(began)
	reports, _ := filepath.Glob(filepath.Join(dir, "*", "analysis.json"))
	if len(reports) != 1 {
		t.Fatalf("exit %d, %d reports: %s", code, len(reports), errs.String())
	}
	b, err := os.ReadFile(reports[0])
	if err != nil {
		t.Fatal(err)
	}
	var a analysis
	if err := json.Unmarshal(b, &a); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %s; trust %s %v", took.Round(time.Second), a.Sentence.EN, a.Trust.Verdict, a.Trust.Reasons)
	return a, took
}

// The knee of a service of which nothing is known lies in the interval that find
// gives after at most six minutes. HEADROOM_FIND=1 asks for it: with the tries that
// a busy machine needs it can take an hour.
func TestFind(t *testing.T) {
	if os.Getenv("HEADROOM_FIND") == "" {
		t.Skip("skip: takes six minutes for each service; set HEADROOM_FIND=1")
	}
	for _, c := range []struct {
		name     string
		capacity float64
		url      func() string
	}{
		{"100/s", 100, func() string {
			url, _ := service(t, "--workers=2", "--service=20ms exponential", "--queue=100")
			return url
		}},
		{"800/s", 800, func() string {
			url, _ := service(t, "--workers=8", "--service=10ms exponential", "--queue=100")
			return url
		}},
		{"5000/s", 5000, func() string {
			url, _ := service(t, "--workers=10", "--service=2ms exponential", "--queue=200")
			return url
		}},
		{"nginx at 500/s", 500, func() string {
			return nginx(t, `limit_req_zone $binary_remote_addr zone=one:10m rate=500r/s;
  limit_req_status 429;
  server { listen ADDRESS backlog=4096; location / { limit_req zone=one burst=20 nodelay; empty_gif; } }`)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := c.url()
			for range 3 {
				a, took := find(t, url)
				if took > 6*time.Minute {
					t.Errorf("it took %s", took)
				}
				if a.Trust.Verdict == "untrusted" { // the machine's doing
					continue
				}
				if a.Knee.Status != "found" || a.Knee.CI95[0] > c.capacity || a.Knee.CI95[1] < c.capacity {
					t.Errorf("%s %s %v, want an interval with %g", a.Knee.Status, a.Knee.Reason, a.Knee.CI95, c.capacity)
				}
				return
			}
			t.Skip("skip: this machine is too busy: three runs that can't be trusted")
		})
	}
}
