package web

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"time"

	"headroom/report"
)

// Config is what a server needs.
type Config struct {
	Library Library
	Now     func() time.Time
	Version string
	// Hosts are the names by which this server is called, beside localhost and
	// its addresses.
	Hosts []string
	// Token is what uploads must show; without one there are none.
	Token []byte
	// ReadToken says that reading wants the token as well.
	ReadToken bool
	// MaxUpload bounds an upload, in bytes; 0: 2 GiB.
	MaxUpload int64
	// Extra are further addresses, by path, behind the same checks.
	Extra map[string]http.Handler
	// Log takes what goes wrong inside the server; nil: nobody.
	Log func(format string, args ...any)
}

// Server is the analysis server. It is an http.Handler.
type Server struct {
	cfg      Config
	mux      *http.ServeMux
	cross    *http.CrossOriginProtection
	analyses *cache[*analysed]
	pictures *cache[*pictureSet]
	digests  *cache[*summary] // what the history says of a run
	uploads  *limiter
	wrong    *limiter // tokens
	receive  chan struct{}
	kick     chan struct{}
	count    counters
}

// counters are for the metrics.
type counters struct {
	requests [6]atomic.Uint64 // by the first digit of the status
	uploads  [4]atomic.Uint64 // received, already, refused, failed
	panics   atomic.Uint64
}

const (
	analysesCost = 64 << 20 // bytes, about
	picturesCost = 128 << 20
	summaries    = 50_000
	// atOnce is how many runs are read at the same time.
	atOnce = 2
	// uploadsAtOnce is how many runs are received at the same time.
	uploadsAtOnce = 4
)

//go:embed static
var static embed.FS

// New returns a server.
func New(cfg Config) *Server {
	if cfg.MaxUpload <= 0 {
		cfg.MaxUpload = 2 << 30
	}
	if cfg.Log == nil {
		cfg.Log = func(string, ...any) {}
	}
	busy := make(chan struct{}, atOnce)
	s := &Server{
		cfg: cfg, mux: http.NewServeMux(), cross: http.NewCrossOriginProtection(),
		analyses: newCache[*analysed](analysesCost, busy), pictures: newCache[*pictureSet](picturesCost, busy),
		digests: newCache[*summary](summaries, busy),
		uploads: newLimiter(60, 30), wrong: newLimiter(10, 10),
		receive: make(chan struct{}, uploadsAtOnce), kick: make(chan struct{}, 1),
	}
	s.routes()
	return s
}

func (s *Server) routes() {
	for _, l := range languages {
		base := "GET /" + l.path
		s.page(base+"/{$}", l, s.history)
		s.page(base+"/runs/{id}", l, s.runPage)
		s.page(base+"/runs/{id}/steps/{step}", l, s.stepPage)
		s.page(base+"/runs/{id}/pictures/{file}", l, s.picture)
		s.page(base+"/runs/{id}/files/{file}", l, s.file)
		s.page(base+"/compare", l, s.comparePage)
		s.page(base+"/trend", l, s.trendPage)
		s.page(base+"/compare/{file}", l, s.compareFile)
		s.page(base+"/trend/{file}", l, s.trendFile)
		s.page(base+"/diff", l, s.diffPage)
		s.page(base+"/live/{id}", l, s.livePage)
		s.page(base+"/live/{id}/now", l, s.liveNow)
		s.page(base+"/live/{id}/timeline.svg", l, s.liveTimeline)
		s.page(base+"/api", l, s.apiPage)
	}
	s.mux.HandleFunc("GET /{$}", s.welcome)
	s.mux.HandleFunc("GET /static/{file}", s.staticFile)
	s.mux.HandleFunc("GET /healthz", s.healthz)
	if s.cfg.Extra["/metrics"] == nil {
		s.mux.HandleFunc("GET /metrics", s.metrics)
	}
	for path, h := range s.cfg.Extra {
		s.mux.Handle("GET "+path, h)
	}
	s.apiRoutes()
}

// handlerOf answers a request for a page in a language; an error becomes a page
// that says it.
type handlerOf func(w http.ResponseWriter, r *http.Request, p *pageOf) error

func (s *Server) page(pattern string, l *language, h handlerOf) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		p := &pageOf{s: s, L: l, W: l.words, Say: report.In(l.lang), r: r}
		if err := h(w, r, p); err != nil {
			s.failed(w, r, p, err)
		}
	})
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rec := &answer{ResponseWriter: w}
	defer func() {
		if v := recover(); v != nil {
			if v == http.ErrAbortHandler { //nolint:errorlint // compared by identity, as net/http does
				panic(v)
			}
			s.count.panics.Add(1)
			s.cfg.Log("%s %s: %v\n%s", r.Method, r.URL.Path, v, debug.Stack())
			if rec.status == 0 {
				http.Error(rec, "this page can't be made; the server's log says why", http.StatusInternalServerError)
			}
		}
		if k := rec.status / 100; k >= 1 && k < len(s.count.requests) {
			s.count.requests[k].Add(1)
		}
	}()
	safeHeaders(rec.Header())
	if !s.knownHost(r) {
		http.Error(rec, fmt.Sprintf("this server is not called %q; start it with --host NAME if it is", clip(r.Host, 80)), http.StatusMisdirectedRequest)
		return
	}
	if r.URL.Path != "/healthz" && s.cfg.ReadToken && !s.admitted(rec, r) {
		return
	}
	s.mux.ServeHTTP(rec, r)
}

// admitted checks the token, and answers where it is missing or wrong.
func (s *Server) admitted(w http.ResponseWriter, r *http.Request) bool {
	who, now := address(r), s.cfg.Now()
	if s.wrong.exhausted(who, now) {
		w.Header().Set("Retry-After", "10")
		s.deny(w, r, http.StatusTooManyRequests, "too_many_wrong_tokens", "too many wrong tokens from this address; wait a minute")
		return false
	}
	token, shown := tokenOf(r)
	if sameToken(token, s.cfg.Token) {
		return true
	}
	if shown {
		s.wrong.take(who, now)
	}
	w.Header().Set("WWW-Authenticate", `Basic realm="headroom: any name, the token as password", charset="UTF-8"`)
	s.deny(w, r, http.StatusUnauthorized, "unauthorized", "this server wants its token: as `Authorization: Bearer TOKEN`, or as the password of a log-in with any name")
	return false
}

// answer remembers the status.
type answer struct {
	http.ResponseWriter
	status int
}

func (a *answer) WriteHeader(code int) {
	if a.status == 0 {
		a.status = code
	}
	a.ResponseWriter.WriteHeader(code)
}

func (a *answer) Write(b []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	return a.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func clip(s string, n int) string {
	if len(s) > n {
		return s[:n] + "…"
	}
	return s
}

// problem is an error with a status of HTTP and a stable code.
type problem struct {
	status int
	code   string
	text   string
}

func (p *problem) Error() string { return p.text }

func notFound(text string) error { return &problem{http.StatusNotFound, "not_found", text} }

func badRequest(format string, args ...any) error {
	return &problem{http.StatusBadRequest, "bad_request", fmt.Sprintf(format, args...)}
}

// asProblem classifies an error.
func asProblem(err error) *problem {
	var p *problem
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, ErrNoFeed):
		return &problem{http.StatusNotFound, "no_feed", err.Error()}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &problem{http.StatusServiceUnavailable, "cancelled", "the request took too long or was given up"}
	}
	return &problem{http.StatusUnprocessableEntity, "unreadable", err.Error()}
}

// welcome leads to the pages of the reader's language.
func (s *Server) welcome(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Accept-Language")
	http.Redirect(w, r, "/"+preferred(r.Header.Get("Accept-Language")).path+"/", http.StatusFound)
}

func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n"))
}

func (s *Server) staticFile(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "private, max-age=3600")
	name := r.PathValue("file")
	if name == "report.css" {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		_, _ = w.Write([]byte(report.Stylesheet()))
		return
	}
	kind, known := staticTypes[name]
	if !known {
		http.NotFound(w, r)
		return
	}
	b, err := static.ReadFile("static/" + name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(b)
}

var staticTypes = map[string]string{
	"site.css": "text/css; charset=utf-8", "site.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml",
}
