package live

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"headroom/store/record"
)

// ServeHTTP answers GET /live.json (with ?rows=0 without the intervals),
// /metrics in the text format of Prometheus, and /healthz.
func (f *Feed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	switch r.URL.Path {
	case "/live.json":
		b, err := f.encoded(r.URL.Query().Get("rows") != "0")
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(b)
	case "/metrics":
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write(f.metrics())
	case "/healthz":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("ok\n"))
	default:
		http.NotFound(w, r)
	}
}

// bounds of the exported histograms, in seconds.
var bounds = []float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}

// cumulative is a histogram of Prometheus.
type cumulative struct {
	at    [18]uint64 // in the bucket of bounds[i], not cumulated
	n     uint64
	sumNS uint64
}

func (c *cumulative) add(h *record.Histogram) {
	c.n += h.Count()
	c.sumNS += h.SumNS()
	for b := range h.Each {
		_, high := record.BucketRange(b.Index)
		if i, _ := slices.BinarySearch(bounds, float64(high)/1e6); i < len(c.at) {
			c.at[i] += b.Count
		}
	}
}

// text writes metrics one by one.
type text struct{ bytes.Buffer }

func (t *text) head(name, kind, help string) {
	fmt.Fprintf(t, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

var labelEscape = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// value writes a sample; labels are names and values in turn.
func (t *text) value(name string, v float64, labels ...string) {
	t.WriteString(name)
	for i := 0; i+1 < len(labels); i += 2 {
		t.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
		fmt.Fprintf(t, `%s="%s"`, labels[i], labelEscape.Replace(strings.ToValidUTF8(labels[i+1], "\uFFFD")))
	}
	if len(labels) > 0 {
		t.WriteByte('}')
	}
	t.WriteByte(' ')
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		t.WriteString(strconv.FormatFloat(v, 'f', 0, 64))
	} else {
		t.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
	}
	t.WriteByte('\n')
}

func (t *text) histogram(name string, c *cumulative, labels ...string) {
	var sum uint64
	for i, b := range bounds {
		sum += c.at[i]
		t.value(name+"_bucket", float64(sum), append(slices.Clone(labels), "le", strconv.FormatFloat(b, 'g', -1, 64))...)
	}
	t.value(name+"_bucket", float64(c.n), append(slices.Clone(labels), "le", "+Inf")...)
	t.value(name+"_sum", float64(c.sumNS)/1e9, labels...)
	t.value(name+"_count", float64(c.n), labels...)
}

// metrics is the run in the text format of Prometheus. Counters are of closed
// intervals.
func (f *Feed) metrics() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	tick := f.tick.Load()
	var t text
	t.head("headroom_build_info", "gauge", "The version that records this run.")
	t.value("headroom_build_info", 1, "version", f.h.ToolVersion)
	t.head("headroom_run_info", "gauge", "The run that is recorded.")
	t.value("headroom_run_info", 1, "run_id", f.h.RunID, "name", f.h.Name, "release", f.h.Release, "format", f.h.Format)
	t.head("headroom_phase_info", "gauge", "The phase that the run is in.")
	t.value("headroom_phase_info", 1, "kind", string(tick.Phase.Kind), "step", strconv.Itoa(tick.Phase.Step))
	t.head("headroom_target_rps", "gauge", "The rate of the phase, in requests per second.")
	t.value("headroom_target_rps", tick.Phase.TargetRPS)
	t.head("headroom_elapsed_seconds", "gauge", "Time since the run's origin.")
	t.value("headroom_elapsed_seconds", float64(tick.AtNS)/1e9)
	t.head("headroom_inflight", "gauge", "Requests that were sent and have not ended.")
	t.value("headroom_inflight", float64(tick.InFlight))
	t.head("headroom_scheduled_total", "counter", "Requests scheduled, by class.")
	for i, c := range f.h.Classes {
		t.value("headroom_scheduled_total", float64(f.classes[i].Scheduled), "class", c.Name)
	}
	t.head("headroom_requests_total", "counter", "Requests that ended, by class and outcome.")
	for i, c := range f.h.Classes {
		for _, o := range record.Outcomes() {
			t.value("headroom_requests_total", float64(f.classes[i].By[o]), "class", c.Name, "outcome", o.String())
		}
	}
	t.head("headroom_attempts_total", "counter", "Attempts made, retries included.")
	t.value("headroom_attempts_total", float64(f.total.Attempts))
	t.head("headroom_dropped_total", "counter", "Requests that the generator never sent.")
	t.value("headroom_dropped_total", float64(f.total.By[record.Dropped]), "reason", "in_flight_limit")
	t.value("headroom_dropped_total", float64(f.total.Unsent), "reason", "generator_error")
	t.head("headroom_request_duration_seconds", "histogram", "Durations of requests on both clocks.")
	t.histogram("headroom_request_duration_seconds", &f.clocks[0], "clock", "response")
	t.histogram("headroom_request_duration_seconds", &f.clocks[1], "clock", "service")
	t.head("headroom_dispatch_lag_seconds", "histogram", "How late the generator sent.")
	t.histogram("headroom_dispatch_lag_seconds", &f.clocks[2])
	return t.Bytes()
}
