package sim

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func start(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func newClient(t *testing.T) *http.Client {
	tr := &http.Transport{MaxIdleConnsPerHost: 1000, DisableCompression: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func get(t *testing.T, c *http.Client, url string) (int, string) {
	t.Helper()
	res, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// hammer sends from users that each wait for their answer, until length has
// passed, and counts the answers by status.
func hammer(t *testing.T, c *http.Client, url string, users int, length time.Duration) map[int]int {
	t.Helper()
	var mu sync.Mutex
	counts := map[int]int{}
	var wg sync.WaitGroup
	stop := time.Now().Add(length)
	for u := range users {
		wg.Go(func() {
			for time.Now().Before(stop) {
				res, err := c.Get(fmt.Sprintf("%s/users/%d", url, u))
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := io.Copy(io.Discard, res.Body); err != nil {
					t.Error(err)
				}
				res.Body.Close()
				mu.Lock()
				counts[res.StatusCode]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return counts
}

// 400 requests that came during a freeze take 400 / capacity after it by the
// queue's clock, to the nanosecond, however late the machine is, and the
// service's counters are the client's.
func TestServerCapacity(t *testing.T) {
	for _, h2c := range []bool{false, true} {
		t.Run(fmt.Sprintf("h2c %v", h2c), func(t *testing.T) {
			t.Parallel()
			s := start(t, Options{
				Workers: 8, Service: Service{Mean: 20 * time.Millisecond, Shape: Constant},
				Freezes: []Freeze{{0, 2 * time.Second}}, H2C: h2c,
			})
			c := newClient(t)
			var wg sync.WaitGroup
			var answers atomic.Int64
			sent := time.Now()
			for i := range 400 {
				wg.Go(func() {
					res, err := c.Get(fmt.Sprintf("%s/users/%d", s.URL, i))
					if err != nil {
						t.Error(err)
						return
					}
					res.Body.Close()
					if res.StatusCode == 200 {
						answers.Add(1)
					}
				})
			}
			wg.Wait()
			wall := time.Since(sent)
			tr, err := ReadTruth(t.Context(), c, s.URL)
			if err != nil {
				t.Fatal(err)
			}
			n := tr.Counters
			if n.Received != 400 || n.Departed != 400 || n.MaxWaiting != 392 || answers.Load() != 400 || n.Check() != nil || tr.CapacityRPS != 400 {
				t.Errorf("client counted %d, the service %+v", answers.Load(), tr)
			}
			if span := time.Duration(tr.LastNS - tr.BegunNS); span != 3*time.Second || span > wall {
				t.Errorf("the queue took %s, the client %s, for a freeze of 2 s and 1 s of work", span, wall)
			}
		})
	}
}

func TestServerRefuses(t *testing.T) {
	for _, h2c := range []bool{false, true} {
		s := start(t, Options{Workers: 1, Service: Service{Mean: 20 * time.Millisecond, Shape: Constant}, Queue: 2, H2C: h2c})
		counts := hammer(t, newClient(t), s.URL, 10, 300*time.Millisecond)
		c := s.Truth().Counters
		if uint64(counts[200]) != c.Departed || uint64(counts[503]) != c.RefusedFull || counts[503] == 0 || c.MaxWaiting != 2 {
			t.Errorf("client counted %v, the service %+v", counts, c)
		}
	}
}

func TestServerDocument(t *testing.T) {
	for _, o := range []Options{{}, {H2C: true}} {
		o.Workers, o.Service = 4, Service{Mean: time.Millisecond, Shape: Constant}
		s := start(t, o)
		tests := map[string]map[string]string{
			"/customers/42/orders?limit=20": {"id": "42", "method": "GET", "path": "/customers/42/orders", "customer": "42", "limit": "20"},
			"/":                             {"id": "", "method": "GET", "path": "/"},
			"/health":                       {"id": "health", "method": "GET", "path": "/health"},
			"/carts/a%20b%22/lines/7":       {"id": "7", "method": "GET", "path": "/carts/a b\"/lines/7", "cart": "a b\"", "line": "7"},
			"/a/b?q=x+y&z":                  {"id": "b", "method": "GET", "path": "/a/b", "a": "b", "q": "x y", "z": ""},
		}
		for path, want := range tests {
			status, body := get(t, newClient(t), s.URL+path)
			var got map[string]string
			if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %d %s, want %v, %v", path, status, body, want, err)
			}
		}
	}
	s := start(t, Options{Wrong: 1, Service: Service{Mean: time.Millisecond, Shape: Constant}})
	if _, body := get(t, newClient(t), s.URL+"/customers/42"); strings.Contains(body, "42") || !strings.Contains(body, `"customer":"wrong"`) {
		t.Errorf("a wrong answer is %s", body)
	}
}

// exchange writes raw bytes and returns what comes back until the server closes.
func exchange(t *testing.T, s *Server, raw string) string {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, raw); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(c)
	if err != nil {
		t.Errorf("%q: %v", raw, err)
	}
	return string(b)
}

func TestServerPlainHTTP(t *testing.T) {
	s := start(t, Options{Workers: 4, Service: Service{Mean: time.Millisecond, Shape: Constant}})
	const last = "Connection: close\r\n\r\n"
	tests := []struct {
		name, raw string
		statuses  []int
		bodies    string // all contained, in order, | between
	}{
		{"close", "GET /a/1 HTTP/1.1\r\nHost: x\r\n" + last, []int{200}, `"a":"1"`},
		{"pipelined", "GET /a/1 HTTP/1.1\r\n\r\nGET /a/2 HTTP/1.1\r\n\r\nGET /a/3 HTTP/1.1\r\n" + last, []int{200, 200, 200}, `"a":"1"|"a":"2"|"a":"3"`},
		{"body", "POST /a/1 HTTP/1.1\r\nContent-Length: 5\r\n\r\nhelloGET /a/2 HTTP/1.1\r\n" + last, []int{200, 200}, `"method":"POST"|"a":"2"`},
		{"long body", "POST /a/1 HTTP/1.1\r\nContent-Length: 300000\r\n\r\n" + strings.Repeat("x", 300_000) + "GET /a/2 HTTP/1.1\r\n" + last, []int{200, 200}, `"a":"1"|"a":"2"`},
		{"chunked", "POST /a/1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\nA\r\n0123456789\r\n0\r\nT: x\r\n\r\nGET /a/2 HTTP/1.1\r\n" + last, []int{200, 200}, `"a":"1"|"a":"2"`},
		{"1.0", "GET /a/1 HTTP/1.0\r\n\r\n", []int{200}, `"a":"1"`},
		{"absolute", "GET http://x/a/1 HTTP/1.1\r\n" + last, []int{200}, `"path":"/a/1"`},
		{"continue", "POST /a/1 HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhiGET /a/2 HTTP/1.1\r\n" + last, []int{100, 200, 200}, `"a":"1"|"a":"2"`},
		{"garbage", "hello\r\n\r\n", []int{400}, ""},
		{"length", "GET / HTTP/1.1\r\nContent-Length: -4\r\n\r\n", []int{400}, ""},
		{"head too long", "GET / HTTP/1.1\r\nX: " + strings.Repeat("x", 70_000), []int{400}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := exchange(t, s, tt.raw)
			r := bufio.NewReader(strings.NewReader(got))
			var bodies strings.Builder
			for _, want := range tt.statuses {
				res, err := http.ReadResponse(r, &http.Request{Method: "GET"})
				if err != nil {
					t.Fatalf("%v in %q", err, got)
				}
				b, _ := io.ReadAll(res.Body)
				bodies.Write(b)
				if res.StatusCode != want {
					t.Errorf("status %d, want %d", res.StatusCode, want)
				}
			}
			rest := bodies.String()
			for part := range strings.SplitSeq(tt.bodies, "|") {
				_, after, ok := strings.Cut(rest, part)
				if !ok {
					t.Errorf("no %s in %q", part, got)
				}
				rest = after
			}
			if r.Buffered() > 0 {
				t.Errorf("more than wanted: %q", got)
			}
		})
	}
}

// Clients that leave: their queued work is dropped, or done for nobody.
func TestServerClientsLeave(t *testing.T) {
	for _, o := range []Options{{}, {KeepWorking: true}, {H2C: true}, {H2C: true, KeepWorking: true}} {
		t.Run(fmt.Sprintf("keep %v h2c %v", o.KeepWorking, o.H2C), func(t *testing.T) {
			o.Workers, o.Service = 1, Service{Mean: 300 * time.Millisecond, Shape: Constant}
			s := start(t, o)
			ctx, cancel := context.WithCancel(t.Context())
			c := newClient(t)
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					req, _ := http.NewRequestWithContext(ctx, "GET", s.URL, nil)
					if res, err := c.Do(req); err == nil {
						res.Body.Close()
						t.Error("answered too early")
					}
				})
			}
			until(t, func() bool { return s.Truth().Counters.Received == 4 })
			cancel()
			wg.Wait()
			get(t, c, s.URL) // waits for those before it
			n := s.Truth().Counters
			if o.KeepWorking && (n.Departed != 5 || n.Abandoned != 0) || !o.KeepWorking && (n.Departed != 2 || n.Abandoned != 3) {
				t.Errorf("%+v", n)
			}
		})
	}
}

// until waits, at most 10 s, for something that other goroutines bring about.
func until(t *testing.T, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("did not happen within 10 s")
		}
	}
}

func TestServerTLS(t *testing.T) {
	ca := filepath.Join(t.TempDir(), "ca.pem")
	s := start(t, Options{TLS: true, CAFile: ca, Service: Service{Mean: time.Millisecond, Shape: Constant}})
	text, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		t.Fatal("no certificate in the file")
	}
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	defer tr.CloseIdleConnections()
	res, err := (&http.Client{Transport: tr}).Get(s.URL + "/a/1")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.ProtoMajor != 2 || res.StatusCode != 200 {
		t.Errorf("%s %s", res.Proto, res.Status)
	}
	if res, err := newClient(t).Get(s.URL); err == nil {
		res.Body.Close()
		t.Error("accepted by a client that does not know the certificate")
	}
}

// A worker waits for the dependency: the dependency's limit is the service's.
func TestServerDepends(t *testing.T) {
	var inside, most, asked atomic.Int64
	var down atomic.Bool
	dep := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		n := inside.Add(1)
		defer inside.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		if down.Load() {
			w.WriteHeader(500)
		}
	}))
	defer dep.Close()
	s := start(t, Options{Workers: 2, Service: Service{Mean: time.Millisecond, Shape: Constant}, Depends: dep.URL})
	counts := hammer(t, newClient(t), s.URL, 10, 200*time.Millisecond)
	n := s.Truth().Counters
	if counts[200] == 0 || int64(counts[200]) != asked.Load() || n.Departed != uint64(counts[200]) || most.Load() > 2 {
		t.Errorf("client %v, service %+v, dependency asked %d times, by %d at once", counts, n, asked.Load(), most.Load())
	}
	down.Store(true)
	if status, _ := get(t, newClient(t), s.URL); status != 502 {
		t.Errorf("status %d with the dependency down, want 502", status)
	}
}

func TestServerLog(t *testing.T) {
	file := filepath.Join(t.TempDir(), "arrivals.log")
	s, err := Start(Options{Log: file, Service: Service{Mean: time.Millisecond, Shape: Constant}})
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t)
	for i := range 5 {
		get(t, c, fmt.Sprintf("%s/a/%d", s.URL, i))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(lines) != 6 || lines[0][0] != '#' {
		t.Fatalf("log:\n%s", b)
	}
	var before int64
	for i, line := range lines[1:] {
		var at int64
		var number, conn int
		var method, target string
		if _, err := fmt.Sscan(line, &at, &number, &conn, &method, &target); err != nil || number != i || conn != 1 || method != "GET" || target != fmt.Sprintf("/a/%d", i) || at <= before {
			t.Errorf("line %q: %v", line, err)
		}
		before = at
	}
}

func TestServerLeaks(t *testing.T) {
	for leak, of := range map[string]func(Truth) int64{
		"2000/s":  func(tr Truth) int64 { return tr.LeakedConnections },
		"50MiB/s": func(tr Truth) int64 { return tr.LeakedBytes },
	} {
		l, err := ParseLeak(leak)
		if err != nil {
			t.Fatal(err)
		}
		s := start(t, Options{Leak: l, Service: Service{Mean: time.Millisecond, Shape: Constant}})
		if n := of(s.Truth()); n != 0 {
			t.Errorf("%s: %d leaked before the first request", leak, n)
		}
		get(t, newClient(t), s.URL)
		until(t, func() bool { return of(s.Truth()) > 100 })
	}
}
