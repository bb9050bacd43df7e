package live_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"headroom/runner/live"
	"headroom/store/record"
)

const second = 1_000_000_000

var header = record.Header{
	RunID: "r1", Name: `a "plan"`, Release: "v1", Format: "step", Model: record.Open, IntervalNS: second, MaxUS: record.DefaultMaxUS,
	TimeoutNS: 2 * second, Classes: []record.Class{{Name: "view"}, {Name: "buy\n"}},
}

// interval has n good answers of 10 ms and one that was shed, 1 ms late.
func interval(i, n int) *record.Interval {
	c := record.Cell{
		Class: 1, OKResponse: record.NewHistogram(record.DefaultMaxUS), OtherResponse: record.NewHistogram(record.DefaultMaxUS),
		Service: record.NewHistogram(record.DefaultMaxUS), Lag: record.NewHistogram(record.DefaultMaxUS),
	}
	for range n {
		c.OKResponse.Record(10_000_000)
		c.Service.Record(9_000_000)
		c.Lag.Record(1_000_000)
	}
	c.OtherResponse.Record(2_000_000)
	c.Service.Record(1_000_000)
	c.Lag.Record(1_000_000)
	c.Counts.Scheduled, c.Counts.Sent, c.Counts.Attempts = uint64(n+1), uint64(n+1), uint64(n+1)
	c.Counts.By[record.OK], c.Counts.By[record.Shed] = uint64(n), 1
	return &record.Interval{
		Phase: 0, Index: i, StartNS: int64(i) * second, WidthNS: second, Cells: []record.Cell{c},
		Moment: record.Moment{InFlight: 3, Waiting: 2},
	}
}

func put(t testing.TB, sink record.Sink, from, to, n int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := sink.PutInterval(interval(i, n)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStatus(t *testing.T) {
	f := live.New(header)
	m := &record.Memory{H: header}
	sink := f.Through(m)
	p := record.Phase{Index: 0, Kind: record.Step, Step: 0, TargetRPS: 100, EndNS: 60 * second}
	if err := sink.PutPhase(p); err != nil {
		t.Fatal(err)
	}
	put(t, sink, 0, 20, 99)  // 100 a second
	put(t, sink, 20, 30, 49) // 50 a second: all of what is recent
	f.Tick(live.Tick{AtNS: 30 * second, Phase: p, InFlight: 7})
	s := f.Status()
	if len(m.Iv) != 30 || len(m.P) != 1 {
		t.Fatalf("the sink got %d intervals and %d phases", len(m.Iv), len(m.P))
	}
	if s.Recent.WindowS != 10 || s.Recent.OfferedRPS != 50 || s.Recent.GoodputRPS != 49 || s.Recent.Outcomes["shed"] != 10 {
		t.Errorf("recent %+v", s.Recent)
	}
	if s.Total.Scheduled != 20*100+10*50 || s.Total.Outcomes["ok"] != 20*99+10*49 {
		t.Errorf("total %+v", s.Total)
	}
	near := func(v *float64, want float64) bool { return v != nil && *v >= want && *v < want*1.001+1 }
	if !near(s.Recent.ResponseP99US, 10000) || !near(s.Recent.ServiceP99US, 9000) || !near(s.Recent.LagP99US, 1000) {
		t.Errorf("clocks %+v", s.Recent)
	}
	if s.InFlight != 7 || s.Waiting != 2 || s.ElapsedS != 30 || s.State != "recording" || s.Phase.Step != 0 || len(s.Rows) != 30 {
		t.Errorf("status %+v", s)
	}
	f.End(record.End{State: record.Interrupted})
	if got := f.Status().State; got != "interrupted" {
		t.Errorf("state %s", got)
	}
}

// A soak of any length keeps bounded rows.
func TestRowsAreBounded(t *testing.T) {
	f := live.New(header)
	put(t, f.Through(&record.Memory{H: header}), 0, 700, 1)
	if s := f.Status(); len(s.Rows) != 600 || s.Rows[0].StartS != 100 {
		t.Errorf("%d rows from %g s", len(s.Rows), s.Rows[0].StartS)
	}
}

func get(t testing.TB, f *live.Feed, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	f.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w
}

func TestServe(t *testing.T) {
	f := live.New(header)
	put(t, f.Through(&record.Memory{H: header}), 0, 3, 9)
	var got live.Status
	if err := json.Unmarshal(get(t, f, "GET", "/live.json").Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(f.Status(), got, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
	if err := json.Unmarshal(get(t, f, "GET", "/live.json?rows=0").Body.Bytes(), &got); err != nil || len(got.Rows) != 0 {
		t.Errorf("%d rows, %v", len(got.Rows), err)
	}
	text := get(t, f, "GET", "/metrics").Body.String()
	for _, want := range []string{
		"# TYPE headroom_requests_total counter\n",
		`headroom_requests_total{class="buy\n",outcome="ok"} 27` + "\n",
		`headroom_run_info{run_id="r1",name="a \"plan\"",release="v1",format="step"} 1` + "\n",
		`headroom_request_duration_seconds_bucket{clock="response",le="0.005"} 3` + "\n",
		`headroom_request_duration_seconds_bucket{clock="response",le="0.025"} 30` + "\n",
		`headroom_request_duration_seconds_bucket{clock="response",le="+Inf"} 30` + "\n",
		`headroom_request_duration_seconds_count{clock="service"} 30` + "\n",
		"headroom_dispatch_lag_seconds_sum 0.03\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("metrics lack %q", want)
		}
	}
	for _, c := range []struct {
		method, path string
		want         int
	}{{"GET", "/healthz", 200}, {"GET", "/", 404}, {"POST", "/live.json", 405}, {"GET", "/../etc/passwd", 404}} {
		if w := get(t, f, c.method, c.path); w.Code != c.want {
			t.Errorf("%s %s: %d, want %d", c.method, c.path, w.Code, c.want)
		}
	}
}

// Fifty readers see a run that only grows, while it is recorded.
func TestReadersWhileRecording(t *testing.T) {
	f := live.New(header)
	sink := f.Through(&record.Memory{H: header})
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 50 {
		wg.Go(func() {
			var last uint64
			for {
				var s live.Status
				if err := json.Unmarshal(get(t, f, "GET", "/live.json").Body.Bytes(), &s); err != nil {
					t.Error(err)
					return
				}
				var ended uint64
				for _, n := range s.Total.Outcomes {
					ended += n
				}
				if s.Total.Scheduled < last || ended != s.Total.Scheduled {
					t.Errorf("%d scheduled after %d, %d ended", s.Total.Scheduled, last, ended)
					return
				}
				last = s.Total.Scheduled
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for i := range 100 {
		put(t, sink, i, i+1, 20)
		f.Tick(live.Tick{AtNS: int64(i+1) * second})
	}
	close(stop)
	wg.Wait()
	if got := f.Status().Total.Scheduled; got != 2100 {
		t.Errorf("%d scheduled", got)
	}
}

func TestAnnouncement(t *testing.T) {
	dir := t.TempDir()
	remove, err := live.Announce(dir, "r1", "http://127.0.0.1:8078")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "r1"+live.Suffix)
	a, err := live.ReadAnnouncement(path)
	if err != nil || a.RunID != "r1" || a.URL != "http://127.0.0.1:8078" || a.PID != os.Getpid() {
		t.Errorf("%+v, %v", a, err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if err := remove(); err != nil {
		t.Errorf("removed twice: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%v was left", left)
	}
	for _, u := range []string{
		"http://example.com:80", "http://10.0.0.1:80", "https://127.0.0.1:80", "http://u:p@127.0.0.1:80", "http://127.0.0.1:80/x",
		"http://127.0.0.1:80?x", "file:///etc/passwd", "http://127.0.0.1", "http://localhost:80", "http://169.254.169.254:80", "",
	} {
		text := fmt.Sprintf(`{"schema":"headroom.announcement/1","run_id":"r","url":%q}`, u)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := live.ReadAnnouncement(path); err == nil {
			t.Errorf("%q was believed", u)
		}
	}
}

func BenchmarkStatus(b *testing.B) {
	f := live.New(header)
	put(b, f.Through(&record.Memory{H: header}), 0, 600, 1500)
	for i := range b.N {
		f.Tick(live.Tick{AtNS: int64(i)})
		w := httptest.NewRecorder()
		f.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/live.json?rows=0", nil))
	}
}
