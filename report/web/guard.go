package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// knownHost reports whether a request names this server. Addresses are always
// ours: a page elsewhere can make a name of its own point here, but not an
// address (DNS rebinding).
func (s *Server) knownHost(r *http.Request) bool {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		host = host[1 : len(host)-1]
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || net.ParseIP(host) != nil {
		return true
	}
	for _, h := range s.cfg.Hosts {
		if strings.EqualFold(h, host) {
			return true
		}
	}
	return false
}

// tokenOf is what a request shows: a bearer token, or the password of HTTP's own
// log-in, which is how a browser shows it.
func tokenOf(r *http.Request) (token string, shown bool) {
	if t, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return strings.TrimSpace(t), true
	}
	if _, p, ok := r.BasicAuth(); ok {
		return p, true
	}
	return "", false
}

// sameToken compares in constant time, also for tokens of different lengths.
func sameToken(got string, want []byte) bool {
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256(want)
	return len(want) > 0 && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// limiter allows so many events per address and minute.
type limiter struct {
	perMinute, burst float64

	mu   sync.Mutex
	seen map[string]*bucket
}

type bucket struct {
	left float64
	at   time.Time
}

func newLimiter(perMinute, burst float64) *limiter {
	return &limiter{perMinute: perMinute, burst: burst, seen: map[string]*bucket{}}
}

// most is how many addresses a limiter remembers.
const most = 10_000

// take reports whether one more event is allowed, and how long to wait if not.
func (l *limiter) take(who string, now time.Time) (wait time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.filled(who, now)
	if b.left < 1 {
		return time.Duration((1 - b.left) / l.perMinute * float64(time.Minute)), false
	}
	b.left--
	return 0, true
}

// exhausted reports whether nothing is left, without taking anything.
func (l *limiter) exhausted(who string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.filled(who, now).left < 1
}

func (l *limiter) filled(who string, now time.Time) *bucket {
	b := l.seen[who]
	if b == nil {
		if len(l.seen) >= most {
			for k, old := range l.seen { // those that are full again are forgotten
				if l.refill(old, now); old.left >= l.burst {
					delete(l.seen, k)
				}
			}
			if len(l.seen) >= most {
				clear(l.seen)
			}
		}
		b = &bucket{left: l.burst, at: now}
		l.seen[who] = b
	}
	l.refill(b, now)
	return b
}

func (l *limiter) refill(b *bucket, now time.Time) {
	if d := now.Sub(b.at); d > 0 {
		b.left = min(l.burst, b.left+d.Minutes()*l.perMinute)
		b.at = now
	}
}

// address is the far side of a request without its port. IPv6 counts by its
// network, since one machine has many addresses there.
func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	if ip := net.ParseIP(host); ip != nil && ip.To4() == nil {
		return ip.Mask(net.CIDRMask(64, 128)).String()
	}
	return host
}

const contentPolicy = "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// filePolicy is for reports and pictures, which carry their own style and
// nothing else.
const filePolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

func safeHeaders(h http.Header) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "private, no-cache")
}
