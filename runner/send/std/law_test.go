package std

import (
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"headroom/runner/send/sendtest"
)

// chaos does over HTTP/2 what a server of raw connections does over HTTP/1.1 in the suite.
func chaos(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/large" {
		io.Copy(io.Discard, r.Body) // only then a server hears that the client is gone
	}
	switch r.URL.Path {
	case "/slow":
		time.Sleep(3 * time.Millisecond)
	case "/reset":
		panic(http.ErrAbortHandler)
	case "/truncated":
		w.Header().Set("Content-Length", "9")
		io.WriteString(w, "abc")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	case "/hang":
		<-r.Context().Done()
		return
	case "/hang-body":
		io.WriteString(w, "abc")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return
	case "/goaway":
		w.Header().Set("Connection", "close")
	case "/large":
		io.WriteString(w, strings.Repeat("z", 300000))
	}
	fine(w, r)
}

// TestLawH2: the same law over HTTP/2, with few streams, with and without TLS.
func TestLawH2(t *testing.T) {
	a := newAuthority(t)
	pair := a.pair(time.Hour, "test.example")
	paths := []string{"/ok", "/ok", "/ok", "/slow", "/reset", "/truncated", "/hang", "/hang-body", "/goaway", "/goaway", "/large", "/bad path"}
	rapid.Check(t, func(rt *rapid.T) {
		var config *tls.Config
		if rapid.Bool().Draw(rt, "tls") {
			config = &tls.Config{Certificates: []tls.Certificate{pair}}
		}
		streams := rapid.SampledFrom([]int{1, 3, 100}).Draw(rt, "streams")
		w := serveHTTP(t, config, func(s *http.Server) { s.HTTP2.MaxConcurrentStreams = streams }, chaos)
		defer w.server.Close()
		cfg := h2c(w)
		if config != nil {
			cfg = secure(w, a, rapid.SampledFrom([]string{"2", "auto", "1.1"}).Draw(rt, "version"))
		}
		sendtest.DrawLimits(rt, &cfg)
		sendtest.Law(t, rt, New, cfg, sendtest.Draw(rt, 80, paths), 0, w.requests.Load)
	})
}
