package integration

import (
	"fmt"
	"testing"
)

// nginx lets 500 requests per second through and answers the others with 429
// at once. An independent generator saw 500.3/s of answers at 600 and at 750/s.
func TestNginxRateLimit(t *testing.T) {
	url := nginx(t, `limit_req_zone $binary_remote_addr zone=one:10m rate=500r/s;
  limit_req_status 429;
  server { listen ADDRESS backlog=4096; location / { limit_req zone=one burst=20 nodelay; empty_gif; } }`)
	a := trusted(t, fmt.Sprintf(`
name: nginx
target: {url: %q}
load: {step: {from: 250, factor: 1.2, to: 2000, plateau: 6s, settle: 1s, drain: 3s, stop_after: 2, refine: 2, beyond: [1.5]}}
interval: 500ms
requests: [{class: page, weight: 1, get: /, expect: {status: [200]}, shed: [429]}]
`, url))
	between(t, a, 480, 525)
	if a.Knee.Kind != "policy" && a.Knee.Kind != "shedding" {
		t.Errorf("kind %q, want policy or shedding", a.Knee.Kind)
	}
	past(t, a, 1.5, 0.95)
}

// A Go program with two workers that keep a PostgreSQL connection for 20 ms a
// request: a little under 100/s.
func TestTwoWorkersOnPostgreSQL(t *testing.T) {
	t.Parallel() // 100/s beside the 100/s of the processes that stand still
	dsn := postgres(t)
	shop := goBuild(t, "./testdata/shop")
	a := trusted(t, fmt.Sprintf(`
name: shop
target: {exec: {command: [%q], ready: /healthz, env: {SHOP_DSN: %q, PORT: "{port}"}}}
http: {timeout: 5s}
load: {step: {from: 55, factor: 1.25, to: 300, plateau: 9s, settle: 1s, drain: 6s, stop_after: 2, refine: 1, beyond: [1.5]}}
data: {customers: {zipf: {count: 1000, exponent: 0.9}}}
requests: [{class: orders, weight: 1, get: "/customers/{customers}/orders", expect: {status: [200], json: {"$.customer": "{customers}"}}}]
`, shop, dsn))
	between(t, a, 92, 106)
}

// builtIn is a step plan against the built-in service in a process of its own: 8
// workers, 10 ms on average, 800/s exactly.
func builtIn(builtin, http, load string) string {
	return fmt.Sprintf(`
name: built-in
seed: 3
target: {builtin: {workers: 8, service: 10ms exponential%s}}
http: {timeout: 2s%s}
load: {step: {%s, plateau: 6s, settle: 1s, drain: 4s, stop_after: 2, refine: 2, beyond: [1.5]}}
interval: 500ms
requests: [{class: view, weight: 1, get: /view}]
`, builtin, http, load)
}

func TestBuiltInQueueOf100(t *testing.T) {
	a := trusted(t, builtIn(", queue: 100", "", "from: 450, factor: 1.16, to: 2000"))
	between(t, a, 784, 816)
}

// Clients give up after 2 s, and the service finishes their work all the same:
// past the knee it does little else.
func TestBuiltInCollapse(t *testing.T) {
	a := trusted(t, builtIn(", abandon: false", "", "from: 450, factor: 1.16, to: 2000"))
	if a.Knee.CI95 == nil || a.Knee.CI95[0] > 800 || a.Knee.CI95[1] < 800 {
		t.Errorf("%s %s, interval %v; want one that contains 800", a.Knee.Status, a.Knee.Reason, a.Knee.CI95)
	}
}

func TestBuiltInStoppedAtHalfLoad(t *testing.T) {
	t.Parallel()
	a := trusted(t, builtIn("", "", "from: 200, factor: 1.18, to: 400"))
	if a.Knee.Status != "not_reached" {
		t.Errorf("%s %s, want not_reached", a.Knee.Status, a.Knee.Reason)
	}
}

func TestBuiltInBehindFourConnections(t *testing.T) {
	t.Parallel()
	path, _ := record(t, builtIn("", ", max_connections: 4", "from: 200, factor: 1.3, to: 600"))
	a, code := analyze(t, path)
	if a.Knee.Status != "generator_limited" || a.Knee.RPS != nil || code != 4 {
		t.Errorf("%s, knee %v, exit %d; want generator_limited, none, 4", a.Knee.Status, a.Knee.RPS, code)
	}
}

func between(t *testing.T, a analysis, low, high float64) {
	t.Helper()
	if a.Knee.Status != "found" || a.Knee.RPS == nil {
		t.Fatalf("knee %s %s: %s", a.Knee.Status, a.Knee.Reason, a.Sentence.EN)
	}
	if *a.Knee.RPS < low || *a.Knee.RPS > high {
		t.Errorf("knee %.1f (95 %%: %v), want %g to %g", *a.Knee.RPS, *a.Knee.CI95, low, high)
	}
}

func past(t *testing.T, a analysis, at, least float64) {
	t.Helper()
	for _, p := range a.PostSaturation {
		if p.At == at {
			if p.Ratio == nil || *p.Ratio < least {
				t.Errorf("at %g times the knee: ratio %v, want at least %g", at, p.Ratio, least)
			}
			return
		}
	}
	t.Errorf("nothing is said of %g times the knee", at)
}
