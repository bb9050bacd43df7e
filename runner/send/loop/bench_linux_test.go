package loop

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"headroom/runner/send"
	"headroom/runner/send/sendtest"
	"headroom/store/record"
)

// circle sends one request again and again, each when the one before has ended.
type circle struct {
	req    *send.Request
	left   int
	out    bool
	failed int
}

func (c *circle) Due() (int64, bool) { return 0, c.left > 0 && !c.out }

func (c *circle) Fire(now int64) *send.Request {
	c.out = true
	c.req.Due, c.req.Scheduled = now, now
	return c.req
}

func (c *circle) Done(_ *send.Request, r *send.Result) {
	c.out = false
	c.left--
	if r.Err != record.ErrNone {
		c.failed++
	}
}

// poisson is an open schedule of a fixed rate, and what became of it.
type poisson struct {
	rng    *rand.Rand
	gap    float64 // mean, ns
	next   float64
	end    float64
	free   []*send.Request
	lag    []int64
	resp   []int64
	failed int
}

func (p *poisson) Due() (int64, bool) { return int64(p.next), p.next < p.end }

func (p *poisson) Fire(int64) *send.Request {
	var r *send.Request
	if n := len(p.free); n > 0 {
		r, p.free = p.free[n-1], p.free[:n-1]
	} else {
		r = &send.Request{Method: "GET", Path: []byte("/index.html"), Timeout: 2e9}
	}
	r.Due, r.Scheduled = int64(p.next), int64(p.next)
	p.next += p.rng.ExpFloat64() * p.gap
	return r
}

func (p *poisson) Done(r *send.Request, res *send.Result) {
	p.free = append(p.free, r)
	if res.Err != record.ErrNone || res.Status != 200 {
		p.failed++
	}
	p.lag = append(p.lag, res.Sent-r.Due)
	p.resp = append(p.resp, res.Done-r.Scheduled)
}

func quantile(v []int64, q float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return float64(v[min(len(v)-1, int(q*float64(len(v))))]) / 1e3
}

func cpu() time.Duration {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// echoServer runs a server in a process of its own, so that its processor time
// is not ours.
func echoServer(b testing.TB) string {
	b.Helper()
	if addr := os.Getenv("HEADROOM_BENCH_ADDR"); addr != "" {
		return addr
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestServerRole$")
	cmd.Env = append(os.Environ(), "HEADROOM_LOOP_TEST_SERVER=1", "GOMAXPROCS=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	line := make([]byte, 100)
	n, err := out.Read(line)
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(string(line[:n]))
}

// TestServerRole is the server of the benchmarks; without its environment it
// does nothing.
func TestServerRole(t *testing.T) {
	if os.Getenv("HEADROOM_LOOP_TEST_SERVER") == "" {
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString(l.Addr().String() + "\n")
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				buf := make([]byte, 4096)
				for {
					if _, err := c.Read(buf); err != nil {
						return
					}
					if _, err := io.WriteString(c, sendtest.OK); err != nil {
						return
					}
				}
			}()
		}
	}()
	io.Copy(io.Discard, os.Stdin) // ends with the benchmark
	l.Close()
}

// BenchmarkLoop is an open schedule at fixed rates, this engine and net/http in
// one run: processor time per request, lag and response time in µs.
// HEADROOM_BENCH_ADDR names another server, HEADROOM_BENCH_RATES other rates.
func BenchmarkLoop(b *testing.B) {
	addr := echoServer(b)
	rates := []float64{5000, 20000}
	if s := os.Getenv("HEADROOM_BENCH_RATES"); s != "" {
		rates = nil
		for _, f := range strings.Split(s, ",") {
			r, err := strconv.ParseFloat(f, 64)
			if err != nil {
				b.Fatal(err)
			}
			rates = append(rates, r)
		}
	}
	for _, rate := range rates {
		name := strconv.FormatFloat(rate, 'f', -1, 64)
		b.Run("loop/"+name, func(b *testing.B) { benchLoop(b, addr, rate) })
		b.Run("nethttp/"+name, func(b *testing.B) { benchNetHTTP(b, addr, rate) })
	}
}

func benchLoop(b *testing.B, addr string, rate float64) {
	e, err := newEngine(sendtest.Config(addr), time.Now(), true)
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	p := &poisson{rng: rand.New(rand.NewPCG(1, 2)), gap: 1e9 / rate, lag: make([]int64, 0, b.N), resp: make([]int64, 0, b.N)}
	start := e.Now()
	p.next, p.end = float64(start), float64(start)+float64(b.N)/rate*1e9
	used, made := cpu(), mallocs()
	b.ResetTimer()
	if err := e.Drive(context.Background(), p, int64(p.end), false); err != nil {
		b.Fatal(err)
	}
	if err := e.Drive(context.Background(), p, int64(p.end)+5e9, true); err != nil {
		b.Fatal(err)
	}
	used, made = cpu()-used, mallocs()-made
	report(b, used, made, p.lag, p.resp, p.failed)
	b.ReportMetric(float64(e.Stats().Opened), "conns")
}

func report(b *testing.B, used time.Duration, made uint64, lag, resp []int64, failed int) {
	n := float64(max(1, len(resp)))
	if failed > 0 && b.N > 1 {
		b.Errorf("%d of %d failed", failed, len(resp))
	}
	b.ReportMetric(float64(used.Nanoseconds())/1e3/n, "cpu-µs/req")
	b.ReportMetric(float64(made)/n, "objects/req")
	b.ReportMetric(quantile(lag, 0.5), "lag-p50-µs")
	b.ReportMetric(quantile(lag, 0.99), "lag-p99-µs")
	b.ReportMetric(quantile(lag, 0.999), "lag-p999-µs")
	b.ReportMetric(quantile(resp, 0.5), "resp-p50-µs")
	b.ReportMetric(quantile(resp, 0.99), "resp-p99-µs")
	b.ReportMetric(0, "ns/op")
}

// benchNetHTTP is the ordinary way: a goroutine for each request over
// http.Transport, started by a timer.
func benchNetHTTP(b *testing.B, addr string, rate float64) {
	tr := &http.Transport{MaxIdleConnsPerHost: 1000, DisableCompression: true}
	defer tr.CloseIdleConnections()
	rng := rand.New(rand.NewPCG(1, 2))
	var mu sync.Mutex
	var wg sync.WaitGroup
	lag, resp := make([]int64, 0, b.N), make([]int64, 0, b.N)
	failed := 0
	origin := time.Now()
	next := 0.0
	used, made := cpu(), mallocs()
	b.ResetTimer()
	for next < float64(b.N)/rate*1e9 {
		due := int64(next)
		next += rng.ExpFloat64() * 1e9 / rate
		if d := due - int64(time.Since(origin)); d > 0 {
			time.Sleep(time.Duration(d))
		}
		wg.Go(func() {
			sent := int64(time.Since(origin))
			req, err := http.NewRequest("GET", "http://"+addr+"/index.html", nil)
			if err != nil {
				panic(err)
			}
			res, err := tr.RoundTrip(req)
			if err == nil {
				_, err = io.Copy(io.Discard, res.Body)
				res.Body.Close()
			}
			done := int64(time.Since(origin))
			mu.Lock()
			defer mu.Unlock()
			if err != nil || res.StatusCode != 200 {
				failed++
			}
			lag, resp = append(lag, sent-due), append(resp, done-due)
		})
	}
	wg.Wait()
	used, made = cpu()-used, mallocs()-made
	report(b, used, made, lag, resp, failed)
}
