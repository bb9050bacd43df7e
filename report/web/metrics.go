package web

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
)

// metrics answers what the server counts, in the text format of Prometheus.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	head := func(name, kind, help string) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	}
	head("headroom_build_info", "gauge", "The version of this server.")
	fmt.Fprintf(&b, "headroom_build_info{version=%q} 1\n", strings.ToValidUTF8(s.cfg.Version, ""))
	head("headroom_http_requests_total", "counter", "Requests answered, by class of status.")
	for i := 1; i < len(s.count.requests); i++ {
		fmt.Fprintf(&b, "headroom_http_requests_total{status=\"%dxx\"} %d\n", i, s.count.requests[i].Load())
	}
	head("headroom_http_panics_total", "counter", "Requests that failed inside the server.")
	fmt.Fprintf(&b, "headroom_http_panics_total %d\n", s.count.panics.Load())
	head("headroom_uploads_total", "counter", "Uploads, by what became of them.")
	for i, name := range uploadNames {
		fmt.Fprintf(&b, "headroom_uploads_total{result=%q} %d\n", name, s.count.uploads[i].Load())
	}
	head("headroom_cache_hits_total", "counter", "Values that were there already, by cache.")
	ah, am, ac, an := s.analyses.counts()
	ph, pm, pc, pn := s.pictures.counts()
	_, sm, _, sn := s.digests.counts()
	fmt.Fprintf(&b, "headroom_cache_hits_total{cache=\"analyses\"} %d\nheadroom_cache_hits_total{cache=\"pictures\"} %d\n", ah, ph)
	head("headroom_cache_misses_total", "counter", "Values that had to be made, by cache.")
	fmt.Fprintf(&b, "headroom_cache_misses_total{cache=\"analyses\"} %d\nheadroom_cache_misses_total{cache=\"pictures\"} %d\nheadroom_cache_misses_total{cache=\"summaries\"} %d\n", am, pm, sm)
	head("headroom_cache_bytes", "gauge", "About how much memory a cache holds.")
	fmt.Fprintf(&b, "headroom_cache_bytes{cache=\"analyses\"} %d\nheadroom_cache_bytes{cache=\"pictures\"} %d\n", ac, pc)
	head("headroom_cache_entries", "gauge", "Values in a cache.")
	fmt.Fprintf(&b, "headroom_cache_entries{cache=\"analyses\"} %d\nheadroom_cache_entries{cache=\"pictures\"} %d\nheadroom_cache_entries{cache=\"summaries\"} %d\n", an, pn, sn)
	if rows, _, err := s.rows(r); err == nil {
		states := map[string]int{"complete": 0, "interrupted": 0, "failed": 0, "recording": 0, "refused": 0}
		for i := range rows {
			states[rows[i].state()]++
		}
		head("headroom_runs", "gauge", "Runs in the folder, by state.")
		for _, st := range []string{"complete", "interrupted", "failed", "recording", "refused"} {
			fmt.Fprintf(&b, "headroom_runs{state=%q} %d\n", st, states[st])
		}
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(b.Bytes())
}
