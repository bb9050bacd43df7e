package std

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"headroom/runner/send"
)

// userAgent is sent where the request has no User-Agent of its own.
const userAgent = "headroom"

// newRequest makes the request of net/http; last ends its connection. The
// fields are those of req, as they are written there; Content-Length is always
// our own.
func (e *Engine) newRequest(req *send.Request, last bool) (*http.Request, *payload) {
	r := &http.Request{
		Method: req.Method, URL: target(e.scheme, e.cfg.Host, string(req.Path)), Host: e.cfg.Host,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: make(http.Header, len(req.Fields)+1), Close: last,
	}
	values := make([]string, len(req.Fields)+1)
	agent := userAgent
	for i := range req.Fields {
		f := &req.Fields[i]
		value := string(f.Value)
		switch len(f.Name) {
		case len("Host"):
			if strings.EqualFold(f.Name, "Host") {
				r.Host = value
				continue
			}
		case len("User-Agent"): // and Connection
			if strings.EqualFold(f.Name, "User-Agent") {
				agent = value
				continue
			}
			if strings.EqualFold(f.Name, "Connection") && strings.EqualFold(strings.TrimSpace(value), "close") {
				r.Close = true
				continue
			}
		case len("Content-Length"):
			if strings.EqualFold(f.Name, "Content-Length") {
				continue
			}
		}
		if old := r.Header[f.Name]; old != nil {
			r.Header[f.Name] = append(old, value)
			continue
		}
		values[i] = value
		r.Header[f.Name] = values[i : i+1 : i+1]
	}
	values[len(req.Fields)] = agent
	r.Header["User-Agent"] = values[len(req.Fields):]
	if len(req.Body) == 0 {
		return r, nil
	}
	p := &payload{rest: req.Body}
	r.Body, r.ContentLength = p, int64(len(req.Body))
	return r, p
}

// target is a URL that net/http writes as the given path and query.
func target(scheme, host, path string) *url.URL {
	u := &url.URL{Scheme: scheme, Host: host}
	if !strings.HasPrefix(path, "//") {
		u.Opaque = path
		return u
	}
	// An opaque part like this would be taken for a host. Bytes that a URL may
	// not have are escaped on this road, and only on this one.
	u.RawPath, u.RawQuery, u.ForceQuery = path, "", strings.HasSuffix(path, "?")
	if i := strings.IndexByte(path, '?'); i >= 0 {
		u.RawPath, u.RawQuery = path[:i], path[i+1:]
	}
	u.Path = u.RawPath
	if p, err := url.PathUnescape(u.RawPath); err == nil {
		u.Path = p
	}
	return u
}

// payload is the body of a request on its way out.
type payload struct {
	mu   sync.Mutex
	rest []byte
	out  int64
}

func (p *payload) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.rest)
	p.rest, p.out = p.rest[n:], p.out+int64(n)
	return n, nil
}

func (p *payload) Close() error { return nil }

// stop says how many bytes went out, and lets go of the rest: the feed may use
// it again.
func (p *payload) stop() int64 {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rest = nil
	return p.out
}

// left reports whether some of it is still to go out.
func (p *payload) left() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.rest) > 0
}
