package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"headroom/store/record"
)

// unread are the keys that are not read at all; all others are, in these tests.
func unread() map[string]bool {
	return map[string]bool{"target.docker": true}
}

func mustParse(t *testing.T, text string) *Plan {
	t.Helper()
	p, err := parse("p.yaml", []byte(text), environ, unread(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// checkout is the plan that the contract prints, as it stands there.
func checkout(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "checkout.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("${REPORT_DSN}", "${DSN}", "${SOURCE_DSN}", "${DSN}").Replace(string(data))
}

func TestDefaults(t *testing.T) {
	p := mustParse(t, base)
	if p.Seed != 1 || p.Interval != time.Second || p.Arrivals.Kind != "poisson" || p.Warmup != nil || p.Retries.Max != 0 {
		t.Errorf("seed %d, interval %s, arrivals %s, warmup %v, retries %d", p.Seed, p.Interval, p.Arrivals.Kind, p.Warmup, p.Retries.Max)
	}
	want := HTTP{
		Version: "1.1", Timeout: 2 * time.Second, Deadline: 2 * time.Second, KeepAlive: true,
		MaxInFlight: 20000, IdleTimeout: 90 * time.Second, TLS: TLS{Resumption: true},
	}
	if diff := cmp.Diff(want, p.HTTP, cmp.Comparer(func(a, b Text) bool { return a == b })); diff != "" {
		t.Errorf("http (-want +got):\n%s", diff)
	}
	s := p.Requests[0].Steps[0]
	if len(s.Expect.Status) != 100 || s.Expect.Status[0] != 200 || s.Expect.Status[99] != 299 || !slices.Equal(s.Shed, []int{429, 503}) || s.Method != "GET" {
		t.Errorf("request %+v", s)
	}
	soak := mustParse(t, changed("load: {steady: {rate: 10, length: 10s}}", "load: {soak: {rate: 840, length: 4h}}"))
	if soak.Interval != 10*time.Second {
		t.Errorf("interval of a soak is %s", soak.Interval)
	}
}

// The built-in service is asked for what it was told to speak, unless the plan
// says otherwise.
func TestUsualVersion(t *testing.T) {
	url := "target: {url: \"http://127.0.0.1:1\"}"
	for _, c := range []struct{ target, http, want string }{
		{url, "", "1.1"},
		{"target: {builtin: {workers: 8, service: 20ms}}", "", "1.1"},
		{"target: {builtin: {workers: 8, service: 20ms, tls: true}}", "", "1.1"},
		{"target: {builtin: {workers: 8, service: 20ms, h2c: true}}", "", "h2c"},
		{"target: {builtin: {workers: 8, service: 20ms, h2c: true}}", "\nhttp: {timeout: 1s}", "h2c"},
		{"target: {builtin: {workers: 8, service: 20ms, h2c: true}}", "\nhttp: {version: \"1.1\"}", "1.1"},
		{"target: {builtin: {workers: 8, service: 20ms, h2c: true}}", "\nhttp: {version: auto}", "auto"},
		{"target: {builtin: {workers: 8, service: 20ms, h2c: true}}", "\nhttp: {keepalive: false}", "1.1"},
	} {
		if p := mustParse(t, changed(url, c.target+c.http)); p.HTTP.Version != c.want {
			t.Errorf("%s%s: version %s, want %s", c.target, c.http, p.HTTP.Version, c.want)
		}
	}
}

func TestDeadlineFollowsTimeout(t *testing.T) {
	p := mustParse(t, changed("", "http: {timeout: 40s}"))
	if p.HTTP.Deadline != 40*time.Second {
		t.Errorf("deadline %s", p.HTTP.Deadline)
	}
	if h := p.Header(); h.MaxUS != 80_000_000 {
		t.Errorf("max_us %d; a response may take the timeout and as long again", h.MaxUS)
	}
}

// The contract's own plan is read to the last key, and is refused only for
// what is not there yet.
func TestCheckout(t *testing.T) {
	p := mustParse(t, checkout(t))
	if len(p.Neighbours) != 2 || len(p.Dependencies) != 1 || len(p.Faults) != 3 || len(p.Observe) != 4 || len(p.Limits) != 2 || len(p.Gates) != 7 || len(p.Data) != 4 {
		t.Errorf("%d neighbours, %d dependencies, %d faults, %d observed, %d limits, %d gates, %d data", len(p.Neighbours), len(p.Dependencies),
			len(p.Faults), len(p.Observe), len(p.Limits), len(p.Gates), len(p.Data))
	}
	h := p.Header()
	wantClasses := []record.Class{
		{Name: "view", Weight: 80},
		{Name: "export", Weight: 1},
		{Name: "buy", Weight: 5, Flow: true},
		{Name: "buy/1", Step: "buy"},
		{Name: "buy/2", Step: "buy"},
	}
	if diff := cmp.Diff(wantClasses, h.Classes); diff != "" {
		t.Errorf("classes (-want +got):\n%s", diff)
	}
	for i, q := range p.Requests {
		if h.Classes[q.Index].Name != q.Class {
			t.Errorf("request %d: index %d is %s", i, q.Index, h.Classes[q.Index].Name)
		}
		for _, s := range q.Steps {
			if h.Classes[s.Index].Name != s.Name {
				t.Errorf("step %s: index %d is %s", s.Name, s.Index, h.Classes[s.Index].Name)
			}
		}
	}
	want := record.Load{
		FromRPS: 100, ByRPS: 100, ToRPS: 3000, PlateauNS: 300e9, SettleNS: 10e9, DrainNS: 10e9,
		StopAfter: 3, Refine: 3, Beyond: []float64{1.25, 1.5},
	}
	if diff := cmp.Diff(want, h.Load); diff != "" {
		t.Errorf("load (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]record.Threshold{{Name: "response<=150ms", Clock: record.Response, LimitNS: 150e6}}, h.Thresholds); diff != "" {
		t.Errorf("thresholds (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&record.Production{PeakRPS: 450, WindowDays: 90, ResolutionS: 1, Taken: "2026-11-20", Source: "edge counter"}, h.Production); diff != "" {
		t.Errorf("production (-want +got):\n%s", diff)
	}
	if h.Format != "step" || h.Model != record.Open || h.Seed != 7 || h.Limits["pg.connections"] != 100 {
		t.Errorf("header %+v", h)
	}

	_, err := Parse("p.yaml", []byte(checkout(t)), environ)
	var problems Errors
	if !errors.As(err, &problems) {
		t.Fatalf("error %v", err)
	}
	for _, q := range problems {
		if !strings.Contains(q.Text, "is not supported yet by this version") {
			t.Errorf("%s", q)
		}
	}
}

// Every key of the table is refused as not yet, and would be read otherwise.
func TestNotYet(t *testing.T) {
	for key := range notYet() {
		if slices.ContainsFunc(badPlans, func(c struct {
			name, old, new string
			want           []string
		},
		) bool {
			return slices.ContainsFunc(c.want, func(s string) bool {
				return strings.Contains(s, "not supported yet") && strings.Contains(s, key[strings.LastIndexByte(key, '.')+1:])
			})
		}) {
			continue
		}
		t.Errorf("no bad plan has %s", key)
	}
}

func TestThresholdsOnce(t *testing.T) {
	p := mustParse(t, changed("", `gates: [response(p99) <= 150ms, class(a).response(p50) <= 0.15s, service(p99) <= 150ms, response(p99) < 150ms, omission <= 2]`))
	var names []string
	for _, th := range p.Header().Thresholds {
		names = append(names, th.Name)
	}
	if diff := cmp.Diff([]string{"response<=150ms", "service<=150ms", "response<150ms"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestURL(t *testing.T) {
	for _, tt := range []struct{ url, scheme, network, address, host, base string }{
		{"http://127.0.0.1:8080", "http", "tcp", "127.0.0.1:8080", "127.0.0.1:8080", ""},
		{"http://shop.example/api/v1/", "http", "tcp", "shop.example:80", "shop.example", "/api/v1"},
		{"https://shop.example", "https", "tcp", "shop.example:443", "shop.example", ""},
		{"https://[::1]:8443", "https", "tcp", "[::1]:8443", "[::1]:8443", ""},
		{"http://[::1]", "http", "tcp", "[::1]:80", "[::1]", ""},
		{"unix:///run/shop.sock", "http", "unix", "/run/shop.sock", "localhost", ""},
	} {
		u, wrong := parseURL(Literal(tt.url))
		if wrong != "" {
			t.Errorf("%s: %s", tt.url, wrong)
			continue
		}
		if u.Scheme != tt.scheme || u.Network != tt.network || u.Address != tt.address || u.Host != tt.host || u.Base != tt.base {
			t.Errorf("%s: %s %s %s %s %s", tt.url, u.Scheme, u.Network, u.Address, u.Host, u.Base)
		}
	}
}

func TestLoadFiles(t *testing.T) {
	path := filepath.Join("testdata", "files.yaml")
	p, err := Load(path, environ)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{0, 250e6, 250e6, 1500e6}, p.Arrivals.Instants); diff != "" {
		t.Errorf("trace (-want +got):\n%s", diff)
	}
	if got := string(p.Data[0].Content); got != "ten\ntwenty\nthirty\n" {
		t.Errorf("data %q", got)
	}
	got := string(p.Requests[0].Steps[0].Body.Append(nil, func(string) string { return "ten" }))
	if want := "{\"coupon\": \"ten\", \"cart\": {\"items\": {}}}\n"; got != want {
		t.Errorf("body %q, want %q", got, want)
	}
	if diff := cmp.Diff([]float64{612, 598, 640.5}, p.Header().Production.DailyPeaks); diff != "" {
		t.Errorf("daily peaks, oldest first (-want +got):\n%s", diff)
	}
	without, err := Parse(path, mustRead(t, path), environ)
	if err != nil {
		t.Fatal(err)
	}
	if without.Digest() == p.Digest() {
		t.Errorf("the content of the files is not in the digest")
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The files of http.tls are looked for beside the plan, and what the plan is
// called by its digest does not depend on where it lies.
func TestLoadTLSPaths(t *testing.T) {
	text := "name: t\ntarget: {url: \"https://127.0.0.1:1\"}\nhttp: {tls: {ca: ca.pem, cert: /etc/own.pem, key: keys/own.key}}\n" +
		"load: {steady: {rate: 1, length: 1s}}\nrequests: [{class: a, get: /}]\n"
	digests := map[string]bool{}
	for range 2 {
		dir := t.TempDir()
		path := filepath.Join(dir, "p.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := Load(path, environ)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ got, want string }{
			{p.HTTP.TLS.CA.Value(), filepath.Join(dir, "ca.pem")},
			{p.HTTP.TLS.Cert.Value(), "/etc/own.pem"},
			{p.HTTP.TLS.Key.Value(), filepath.Join(dir, "keys", "own.key")},
			{p.HTTP.TLS.CA.String(), "ca.pem"},
		} {
			if c.got != c.want {
				t.Errorf("path %q, want %q", c.got, c.want)
			}
		}
		digests[p.Digest()] = true
	}
	if len(digests) != 1 {
		t.Errorf("one plan in two folders has %d digests", len(digests))
	}
}

func TestLoadBadFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("empty", "\n\n")
	write("back", "1\n0.5\n")
	write("words", "date,peak\nyesterday,1\n")
	write("twice", "date,peak\n2026-01-01,1\n2026-01-01,2\n")
	plan := write("plan.yaml", changed("", `arrivals: {trace: back}
data: {a: {file: empty}, b: {file: nowhere}}
production: {peak: 1, daily: twice}`))
	_, err := Load(plan, environ)
	var problems Errors
	if !errors.As(err, &problems) || len(problems) != 4 {
		t.Fatalf("error %v, want four problems", err)
	}
	for i, want := range []string{
		"arrivals.trace: line 2 of the trace is before the one that precedes it; sort it",
		"data.a.file: has no values; write one on each line",
		"data.b.file: stat ",
		"production.daily: has 2026-01-01 twice; keep one line a day",
	} {
		if got := problems[i].Key + ": " + problems[i].Text; !strings.HasPrefix(got, want) {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
	if _, err := Load(filepath.Join(dir, "none.yaml"), environ); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a plan that is not there: %v", err)
	}
	if _, err := Load(dir, environ); err == nil {
		t.Errorf("a folder was read as a plan")
	}
}

func TestInitParses(t *testing.T) {
	if _, err := Parse("init.yaml", Init(), environ); err != nil {
		t.Error(err)
	}
}

// secretPlan takes from the environment wherever that is allowed.
const secretPlan = `name: t
target: {url: "http://${HOST}:1/${TOKEN}"}
http:
  headers: {Authorization: "Bearer ${TOKEN}", X-Plain: hidden-by-habit}
  tls: {ca: "${TOKEN}"}
  resolve: {"a:1": "${HOST}:2"}
load: {steady: {rate: 10, length: 10s}}
requests:
  - class: a
    post: /p/${TOKEN}
    headers: {Cookie: "${TOKEN}"}
    body: '{"k": "${TOKEN}"}'
    expect: {json: {"$.a": "${TOKEN}"}, body_contains: "${TOKEN}"}
observe: [{prometheus: "http://${HOST}/m"}, {postgres: "${DSN}"}]
`

func secretEnv(name string) (string, bool) {
	return map[string]string{"HOST": "s3cret.example", "TOKEN": "s3cret", "DSN": "postgres://s3cret"}[name], true
}

// What came from the environment is used, and never printed.
func TestSecrets(t *testing.T) {
	p, err := Parse("p.yaml", []byte(secretPlan), secretEnv)
	if err != nil {
		t.Fatal(err)
	}
	s := p.Requests[0].Steps[0]
	if got := string(s.Path.Append(nil, nil)); got != "/p/s3cret" {
		t.Errorf("path %q", got)
	}
	if got := string(s.Body.Append(nil, nil)); got != `{"k": "s3cret"}` {
		t.Errorf("body %q", got)
	}
	if p.Target.URL.Address != "s3cret.example:1" || !p.Target.URL.Text.Secret() {
		t.Errorf("url %+v", p.Target.URL)
	}
	header, err := json.Marshal(p.Header())
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"canonical form": string(p.Canonical()),
		"public form":    p.Public(),
		"header":         string(header),
		"JSON":           string(asJSON),
		"%v":             fmt.Sprintf("%v", p),
		"%+v":            fmt.Sprintf("%+v", *p),
		"%+v of a step":  fmt.Sprintf("%+v %v", s, p.HTTP),
	} {
		if strings.Contains(text, "s3cret") {
			t.Errorf("the %s has the secret:\n%s", name, text)
		}
	}
	if public := p.Public(); strings.Contains(public, "hidden-by-habit") || strings.Contains(public, "Bearer") || strings.Contains(public, "/p/") {
		t.Errorf("the public form has header values or paths:\n%s", public)
	}
	other, err := Parse("p.yaml", []byte(secretPlan), func(string) (string, bool) { return "other", true })
	if err != nil {
		t.Fatal(err)
	}
	if p.Digest() != other.Digest() || p.ComparableKey() != other.ComparableKey() {
		t.Errorf("the digests depend on the environment's values")
	}
}

// What parses, its canonical form parses again to the same digest.
func TestCanonicalParses(t *testing.T) {
	all := []string{base, checkout(t), secretPlan, string(Init())}
	for _, tt := range variations {
		all = append(all, changed(tt[0], tt[1]))
	}
	for _, text := range all {
		p, err := parse("p.yaml", []byte(text), secretEnv, unread(), nil)
		if err != nil {
			t.Errorf("%v\n%s", err, text)
			continue
		}
		q, err := parse("c.yaml", p.Canonical(), secretEnv, unread(), nil)
		if err != nil {
			t.Errorf("%v\n%s", err, p.Canonical())
			continue
		}
		if diff := cmp.Diff(string(p.Canonical()), string(q.Canonical())); diff != "" {
			t.Errorf("(-first +second):\n%s", diff)
		}
		if p.ComparableKey() != q.ComparableKey() {
			t.Errorf("comparable keys differ")
		}
	}
}

// variations are good plans, each with another meaning than base.
var variations = [][2]string{
	{"rate: 10", "rate: 11"},
	{"length: 10s", "length: 11s"},
	{"load: {steady: {rate: 10, length: 10s}}", "load: {step: {from: 10, factor: 1.25, to: 200, plateau: 5s}}"},
	{"load: {steady: {rate: 10, length: 10s}}", "load: {step: {from: auto, plateau: 5s, beyond: []}}"},
	{"load: {steady: {rate: 10, length: 10s}}", "load: {step: {from: auto, within: 6m, refine: 1}}"},
	{"load: {steady: {rate: 10, length: 10s}}", "load: {burst: {base: 300, factor: 4, length: 30s, before: 60s, after: 210s}}"},
	{"load: {steady: {rate: 10, length: 10s}}", "load: {soak: {rate: 840, length: 4h}}"},
	{"load: {steady: {rate: 10, length: 10s}}", "load: {soak: {of_knee: 0.7, knee_from: runs/a.db, length: 4h}}"},
	{"load: {steady: {rate: 10, length: 10s}}", "load: {closed: {users: 200, pacing: 400ms, length: 5m, by: 50, to: 400}}"},
	{"load: {steady: {rate: 10, length: 10s}}", "load: {closed: {users: 200, think: 0s, length: 5m}}"},
	{"load: {steady: {rate: 10, length: 10s}}", "load: {chaos: {rate: 10, length: 10s}}"},
	{"load: {steady: {rate: 10, length: 10s}}", "load: {ramp: {from: 10, to: 100, length: 1m}}"},
	{"target: {url: \"http://127.0.0.1:1\"}", "target: {builtin: {workers: 8, service: 20ms  lognormal(0.5), queue: 200, shed-after: 1s, abandon: false, freeze: [10s, 2s], leak: 2/s, slow: \"0.01,30\"}}"},
	{"target: {url: \"http://127.0.0.1:1\"}", "target: {exec: {command: [./server, -p, \"{port}\"], ready: /healthz, env: {A: \"${TOKEN}\"}, cpus: \"0\"}}"},
	{"", "http: {version: h2c, timeout: 1500ms, deadline: 1s, max_connections: 4, max_requests_per_connection: 9, max_in_flight: 10, idle_timeout: 1s, source_address: 127.0.0.2}"},
	{"", "http: {keepalive: false}"},
	{"target: {url: \"http://127.0.0.1:1\"}", "target: {builtin: {workers: 8, service: 20ms, h2c: true}}"},
	{"target: {url: \"http://127.0.0.1:1\"}", "target: {builtin: {workers: 8, service: 20ms, h2c: true}}\nhttp: {version: \"1.1\"}"},
	{"target: {url: \"http://127.0.0.1:1\"}", "target: {builtin: {workers: 8, service: 20ms, h2c: true}}\nhttp: {keepalive: false}"},
	{"", "http: {headers: {Accept: a}, tls: {ca: a, cert: b, key: c, server_name: d, resumption: false}, resolve: {\"a:1\": \"b:2\"}}"},
	{"", "arrivals: constant"},
	{"", "arrivals: {trace: t.txt}"},
	{"load: {steady: {rate: 10, length: 10s}}", "load: {steady: {length: 10s}}\narrivals: {trace: t.txt, scale: 2}"},
	{"load: {steady: {rate: 10, length: 10s}}", "load: {steady: {length: 10s}}\narrivals: {trace: t.txt}"},
	{"", "arrivals: {bursty: {dispersion: 5}}"},
	{"", "warmup: {length: 30s, rate: 5}"},
	{"", "warmup: {length: 30s}"},
	{"", "interval: 2s"},
	{"", "data: {a: {choice: [x, y]}, b: {range: {from: -5, to: 5}}, c: {file: f, order: sequential}, d: {zipf: {count: 5, exponent: 0.8, first: 100}}, e: {profile: p, route: /r}}"},
	{"", "data: {e: {profile: p, route: /r, at: segment 2}}"},
	{"", "data: {e: {profile: p, first: 100}}"},
	{"", "data: {e: {profile: p, values: ids.txt}}"},
	{"", "arrivals: {profile: p}"},
	{"", "arrivals: {profile: p, curve: true}"},
	{"", "production: {profile: p}"},
	{"", "production: {profile: p, resolution: 1s}"},
	{"requests:\n  - {class: a, get: /}", "requests: {from_profile: p}"},
	{"requests:\n  - {class: a, get: /}", "requests: {from_profile: p, methods: [GET]}"},
	{"{class: a, get: /}", "{class: b, get: /}"},
	{"{class: a, get: /}", "{class: a, weight: 2.5, get: /}"},
	{"{class: a, get: /}", "{class: a, get: /b}"},
	{"{class: a, get: /}", "{class: a, delete: /}"},
	{"{class: a, get: /}", "{class: a, method: OPTIONS, path: \"/{{x}}\"}"},
	{"{class: a, get: /}", "{class: a, post: /, headers: {A: \"x: {{}}\"}, body: \"a\\n{b: {}}\\u0001\\U0001F600\\u2028 $${TOKEN}\"}"},
	{"{class: a, get: /}", "{class: a, get: /, expect: {status: [2xx, 304, 500..502], max_bytes: 1MiB}, shed: []}"},
	{"{class: a, get: /}", "{class: a, get: /, expect: {json: {\"$.a['b c'][3].d\": \"true\"}, body_contains: x, oracle: o}}"},
	{"{class: a, get: /}", "{class: a, headers: {A: b}, shed: 503, flow: [{post: /c, capture: {id: header Location, n: 'regex n=(\\d+)'}}, {get: \"/{id}/{n}\", think: 1s, headers: {a: c}}]}"},
	{"", "retries: {max: 3, on: [timeout, 5xx, shed], backoff: 100ms, factor: 1.5, jitter: none, budget: 10%}"},
	{"", "neighbours: [{name: a, every: 30s, sql: x, dsn: \"${DSN}\"}, {name: b, at: 0s, command: [c, d]}]"},
	{"", "dependencies: {d: {listen: \"127.0.0.1:1\", upstream: \"127.0.0.1:2\"}}\nfaults: [{on: d, kind: latency, delay: 0s}, {on: d, kind: down, at: 1m, for: 1s}, {on: db, kind: pause}]\ngates: [degraded(d down) >= 0.5]"},
	{"", "observe:\n- {process: target}\n- {docker: owned}\n- limits: {process.open_fds: 1024}"},
	{"", "observe: {limits: {a b: 1.5}}"},
	{"", "production: {peak: 450, window: 30d, resolution: 1m, taken: 2026-11-20, source: edge, daily: p.csv}\ngates: [margin >= 2]"},
	{"", "gates: [response(p99) <= 150ms]"},
	{"", "abort: [\"response(p99) > 1s for 10s\", target dead]"},
}

// Release, address and seed change the digest and not the comparable key; any
// other change changes both.
func TestDigestLaws(t *testing.T) {
	p := mustParse(t, base)
	for _, tt := range [][2]string{
		{"", "release: v2"},
		{"", "seed: 2"},
		{"http://127.0.0.1:1", "https://other.example/base"},
	} {
		q := mustParse(t, changed(tt[0], tt[1]))
		if q.Digest() == p.Digest() {
			t.Errorf("%s: same digest", tt[1])
		}
		if q.ComparableKey() != p.ComparableKey() {
			t.Errorf("%s: another comparable key", tt[1])
		}
	}
	seen := map[string]string{p.ComparableKey(): "base"}
	for _, tt := range variations {
		q, err := parse("p.yaml", []byte(changed(tt[0], tt[1])), secretEnv, unread(), nil)
		if err != nil {
			t.Error(err)
			continue
		}
		if q.Digest() == p.Digest() {
			t.Errorf("%s: same digest", tt[1])
		}
		if other, twice := seen[q.ComparableKey()]; twice {
			t.Errorf("%s: same comparable key as %s", tt[1], other)
		}
		seen[q.ComparableKey()] = tt[1]
	}
}

// The same plan in other words has the same digest.
func TestDigestIgnoresWording(t *testing.T) {
	p := mustParse(t, base)
	for _, text := range []string{
		"# a comment\n" + base,
		changed("length: 10s", "length: 10000ms"),
		changed("rate: 10", "rate: 600/m"),
		changed("rate: 10", "rate: 1e1"),
		changed("", "seed: 1\nhttp: {timeout: 2s, version: 1.1, keepalive: true}\narrivals: poisson\ninterval: 1s"),
		changed("{class: a, get: /}", "{class: a, weight: 1, method: GET, path: /, expect: {status: [200..299]}, shed: [503, 429]}"),
		strings.ReplaceAll(base, "\n", "\r\n"),
		"\ufeff" + base,
		string(p.Canonical()),
	} {
		if q := mustParse(t, text); q.Digest() != p.Digest() {
			t.Errorf("another digest:\n%s\nis\n%s", text, q.Canonical())
		}
	}
}

// The digest of a plan is the same for ever.
func TestDigestIsFrozen(t *testing.T) {
	p := mustParse(t, checkout(t))
	const digest, key = "30ab03334e31d85f6dfb75e11934113f0bc9249b5514ca0cfd1dec99a9a03afc", "c5a0bf22e030a9bf41062c1832d066be06c6a72dc4726bfffacef893c8d67f52"
	if p.Digest() != digest || p.ComparableKey() != key {
		t.Errorf("digest %s, comparable key %s\n%s", p.Digest(), p.ComparableKey(), p.Canonical())
	}
}

func FuzzParse(f *testing.F) {
	f.Add(base)
	f.Add(secretPlan)
	f.Add(string(Init()))
	for _, tt := range variations {
		f.Add(changed(tt[0], tt[1]))
	}
	for _, tt := range badPlans {
		f.Add(changed(tt.old, tt.new))
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parse("p.yaml", []byte(text), secretEnv, unread(), nil)
		if err != nil {
			var problems Errors
			if !errors.As(err, &problems) || len(problems) == 0 || err.Error() == "" {
				t.Fatalf("error %#v", err)
			}
			return
		}
		first := p.Canonical()
		q, err := parse("c.yaml", first, secretEnv, unread(), nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, first)
		}
		if diff := cmp.Diff(string(first), string(q.Canonical())); diff != "" {
			t.Fatalf("(-first +second):\n%s", diff)
		}
		if p.Digest() != q.Digest() {
			t.Fatal("digests differ")
		}
		if h := p.Header(); strings.Contains(h.Plan, "s3cret") && !strings.Contains(text, "s3cret") {
			t.Fatalf("secret in the header:\n%s", h.Plan)
		}
	})
}
