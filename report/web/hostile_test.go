package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"headroom/report/web"
	"headroom/store"
)

const token = "correct-horse-battery-staple"

// receiving is a server that receives runs, with a clock that stands still.
func receiving(t testing.TB, change func(*web.Config)) (*web.Server, *shelf) {
	t.Helper()
	lib := newShelf(t)
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	cfg := web.Config{Library: lib, Now: func() time.Time { return now }, Token: []byte(token), MaxUpload: 1 << 20, Hosts: []string{"runs.example.com"}}
	if change != nil {
		change(&cfg)
	}
	return web.New(cfg), lib
}

// contents are the files of a folder.
func contents(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintln(&b, path, info.Size(), info.ModTime())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// stream is a run of the shelf as a stream.
func stream(t testing.TB, lib *shelf, key string) []byte {
	t.Helper()
	run, err := store.Open(filepath.Join(lib.dir, key+".db"))
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	var b bytes.Buffer
	if err := run.Send(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// upload is a POST as push makes it, then changed.
func upload(body io.Reader, change func(*http.Request)) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:8077/api/v1/runs", body)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", web.StreamType)
	if change != nil {
		change(r)
	}
	return r
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func host(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

// Whatever is asked and sent: a clean 4xx with a reason, and nothing is written.
func TestHostileRequests(t *testing.T) {
	s, lib := receiving(t, nil)
	whole := stream(t, lib, "checkout-1")
	get := func(path string) *http.Request {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8077/", nil)
		r.URL.Path, r.URL.RawQuery, _ = strings.Cut(path, "?")
		if u := strings.Index(path, "?"); u >= 0 {
			r.URL.Path, r.URL.RawQuery = path[:u], path[u+1:]
		}
		r.RequestURI = path
		return r
	}
	method := func(m, path string) *http.Request {
		r := get(path)
		r.Method = m
		return r
	}
	type try struct {
		name string
		r    *http.Request
		want int // 0: any 4xx
	}
	var tries []try
	add := func(name string, r *http.Request, want int) { tries = append(tries, try{name, r, want}) }
	post := func(name string, body []byte, change func(*http.Request), want int) {
		add(name, upload(bytes.NewReader(body), change), want)
	}
	// Who asks.
	for _, h := range []string{"evil.example", "evil.example:8077", "127.0.0.1.nip.io", "localhost.evil.example", "runs.example.com.evil.example", "", "a b", "::", "127.0.0.1:8077:1", "[::1", "0x7f.1", "127.1"} {
		if h == "::" {
			continue // an address
		}
		r := get("/en/")
		r.Host = h
		add("host "+h, r, http.StatusMisdirectedRequest)
	}
	post("upload to another host", whole, host("rebound.example"), http.StatusMisdirectedRequest)
	for name, auth := range map[string]string{
		"no token": "", "empty bearer": "Bearer ", "wrong token": "Bearer correct-horse-battery-stapl", "longer token": "Bearer " + token + "x", "another scheme": "Digest " + token,
		"basic of nothing": "Basic ", "basic that is no base64": "Basic !!!", "wrong password": "Basic dXNlcjp3cm9uZw==", "a NUL": "Bearer " + token + "\x00", "case": "Bearer " + strings.ToUpper(token),
	} {
		post(name, whole, func(r *http.Request) {
			r.Header.Set("Authorization", auth)
			r.RemoteAddr = "10.0.0." + fmt.Sprint(len(name)) + ":1"
		}, http.StatusUnauthorized)
	}
	post("a page of another site", whole, func(r *http.Request) {
		r.Header.Set("Origin", "https://evil.example")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
	}, http.StatusForbidden)
	// What is sent.
	for _, kind := range []string{"", "application/json", "text/plain", "multipart/form-data; boundary=x", "application/octet-stream", ";;;", "application/x-www-form-urlencoded"} {
		post("type "+kind, whole, header("Content-Type", kind), http.StatusUnsupportedMediaType)
	}
	for _, enc := range []string{"gzip", "deflate", "br", "zstd", "gzip, identity"} {
		post("encoding "+enc, whole, header("Content-Encoding", enc), http.StatusUnsupportedMediaType)
	}
	post("nothing", nil, nil, http.StatusUnprocessableEntity)
	post("noise", bytes.Repeat([]byte{0xff, 0, 0x7f}, 5000), nil, http.StatusUnprocessableEntity)
	post("a bbolt file", bytes.Repeat([]byte("bolt"), 5000), nil, http.StatusUnprocessableEntity)
	post("HTML", []byte("<html>"), nil, http.StatusUnprocessableEntity)
	post("announced too large", whole, func(r *http.Request) { r.ContentLength = 1 << 40 }, http.StatusRequestEntityTooLarge)
	post("too large", append(bytes.Clone(whole[:40]), make([]byte, 2<<20)...), func(r *http.Request) { r.ContentLength = -1 }, 0)
	for n := 1; n < len(whole); n += len(whole)/15 + 1 {
		post(fmt.Sprintf("cut at %d", n), whole[:n], nil, http.StatusUnprocessableEntity)
	}
	for n := 25; n < len(whole); n += len(whole)/15 + 1 {
		b := bytes.Clone(whole)
		b[n] ^= 0x55
		post(fmt.Sprintf("garbled at %d", n), b, nil, 0)
	}
	post("bytes behind", append(bytes.Clone(whole), 0), nil, http.StatusUnprocessableEntity)
	// What is asked for.
	for _, p := range []string{
		"/en/runs/..%2f..%2fetc%2fpasswd", "/en/runs/....//....//etc/passwd", "/en/runs/%00", "/en/runs/none", "/en/runs/checkout-1.db", "/en/runs/checkout-1/steps/99", "/en/runs/checkout-1/steps/-1",
		"/en/runs/checkout-1/steps/x", "/en/runs/checkout-1/steps/99999999999999999999", "/en/runs/checkout-1/files/passwd", "/en/runs/checkout-1/files/evidence.db",
		"/en/runs/checkout-1/pictures/none.svg", "/en/runs/checkout-1/pictures/knee", "/en/runs/checkout-1/pictures/timeline.svg?from=1", "/en/runs/checkout-1/pictures/timeline.svg?from=NaN&to=NaN",
		"/en/runs/checkout-1/pictures/timeline.svg?from=5&to=5", "/en/runs/checkout-1/pictures/timeline.svg?from=-1&to=5", "/en/runs/checkout-1/pictures/timeline.svg?from=0&to=1e300", "/en/runs/checkout-1/pictures/timeline.svg?from=0&to=Inf",
		"/en/runs/checkout-1?from=x&to=y", "/en/?sort=drop", "/en/?order=up", "/en/?page=0", "/en/?page=-1", "/en/?page=1e9", "/en/?page=99999999999999999999", "/en/?from=yesterday", "/en/?to=2026-13-99", "/en/?name=" + strings.Repeat("x", 500),
		"/en/compare?base=none&new=checkout-1", "/en/compare?base=checkout-1&new=damaged-1", "/en/compare?base=checkout-1&new=now-1", "/en/compare?base=checkout-1&new=checkout-2&metric=none", "/en/compare?" + strings.Repeat("base=checkout-1&", 60) + "new=checkout-2",
		"/en/compare/compare.html", "/en/compare/none.svg?base=checkout-1&new=checkout-2", "/en/trend?name=none", "/en/trend/trend.html", "/en/trend?name=checkout&metric=none", "/en/diff?a=none&b=checkout-1", "/en/diff?a=damaged-1&b=checkout-1",
		"/en/live/none", "/en/runs/damaged-1/files/analysis.json", "/de/", "/static/..%2fserver.go", "/static/none.js", "/static/", "/api/", "/api/v2/runs", "/api/v1/runs/none", "/api/v1/runs/damaged-1/analysis", "/api/v1/runs/now-1/analysis",
		"/api/v1/runs/checkout-1/steps/99", "/api/v1/runs/checkout-1/pictures/none", "/api/v1/runs/checkout-1/pictures/timeline?lang=xx", "/api/v1/compare", "/api/v1/trend", "/api/v1/live/checkout-1", "/api/v1/runs?sort=none", "/.git/config", "/debug/pprof/",
	} {
		add("GET "+clipped(p), get(p), 0)
	}
	for _, m := range []string{http.MethodPut, http.MethodDelete, http.MethodPatch, "TRACE", "PROPFIND", http.MethodOptions} {
		add(m+" of the history", method(m, "/en/"), 0)
		add(m+" of runs", method(m, "/api/v1/runs"), 0)
	}
	add("POST to a page", method(http.MethodPost, "/en/"), 0)
	add("POST to a run", method(http.MethodPost, "/api/v1/runs/checkout-1"), 0)

	if len(tries) < 100 {
		t.Errorf("only %d tries", len(tries))
	}
	before := contents(t, lib.dir)
	for i, c := range tries {
		if c.r.RemoteAddr == "192.0.2.1:1234" { // each from a machine of its own: rates have their own test
			c.r.RemoteAddr = fmt.Sprintf("10.1.%d.%d:1", i/250, i%250)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, c.r)
		if to := w.Header().Get("Location"); w.Code == http.StatusTemporaryRedirect { // the path, tidied up
			w = httptest.NewRecorder()
			s.ServeHTTP(w, get(to+"/none"))
		}
		if c.want != 0 && w.Code != c.want || w.Code < 400 || w.Code > 499 {
			t.Errorf("%s: %d, want %d (0: any 4xx): %s", c.name, w.Code, c.want, clipped(w.Body.String()))
		}
		if strings.HasPrefix(c.r.URL.Path, "/api/") && w.Code != http.StatusMisdirectedRequest {
			var p struct{ Error struct{ Code, Text string } }
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Error.Code == "" || p.Error.Text == "" {
				t.Errorf("%s: no reason: %s", c.name, w.Body)
			}
		}
		if strings.Contains(w.Body.String(), lib.dir) && !strings.Contains(c.name, "damaged") {
			t.Errorf("%s: the answer names the folder: %s", c.name, w.Body)
		}
		if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || len(w.Result().Cookies()) > 0 {
			t.Errorf("%s: policy %q, cookies %v", c.name, csp, w.Result().Cookies())
		}
	}
	if after := contents(t, lib.dir); after != before {
		t.Errorf("something was written:\n%s\nbefore:\n%s", after, before)
	}
	t.Logf("%d tries", len(tries))
}

func clipped(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}

func TestUpload(t *testing.T) {
	s, lib := receiving(t, nil)
	body := stream(t, lib, "checkout-1")
	for i, want := range []int{http.StatusCreated, http.StatusOK} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, upload(bytes.NewReader(body), nil))
		var got web.Receipt
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != want || got.RunID != "checkout-1" || got.Already != (i == 1) {
			t.Errorf("%d: %s", w.Code, w.Body)
		}
	}
}

// Without a token a server is read-only.
func TestReadOnly(t *testing.T) {
	s, lib := receiving(t, func(c *web.Config) { c.Token = nil })
	for _, auth := range []string{"", "Bearer ", "Bearer " + token} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, upload(bytes.NewReader(stream(t, lib, "checkout-1")), header("Authorization", auth)))
		if w.Code != http.StatusForbidden {
			t.Errorf("%q: %d %s", auth, w.Code, w.Body)
		}
	}
}

// Beyond this machine reading wants the token too: as a bearer token, or as the
// password of a browser's log-in. Only the health is free.
func TestReadToken(t *testing.T) {
	s, _ := receiving(t, func(c *web.Config) { c.ReadToken = true })
	for _, path := range []string{"/", "/en/", "/en/runs/checkout-1", "/api/v1/runs", "/metrics", "/static/site.css"} {
		r := httptest.NewRequest(http.MethodGet, "http://runs.example.com"+path, nil)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != http.StatusUnauthorized || !strings.HasPrefix(w.Header().Get("WWW-Authenticate"), "Basic ") {
			t.Errorf("%s without a token: %d", path, w.Code)
		}
		r.SetBasicAuth("anyone", token)
		w = httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code >= 400 {
			t.Errorf("%s with a log-in: %d", path, w.Code)
		}
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://runs.example.com/healthz", nil))
	if w.Code != http.StatusOK {
		t.Errorf("health: %d", w.Code)
	}
}

// Too many wrong tokens, and too many uploads, are refused by address and minute.
func TestRates(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	s, lib := receiving(t, func(c *web.Config) { c.Now = func() time.Time { return now } })
	try := func(addr, auth string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, upload(strings.NewReader("x"), func(r *http.Request) { r.RemoteAddr = addr; r.Header.Set("Authorization", auth) }))
		return w
	}
	for i := range 10 {
		if w := try("10.0.0.1:1", "Bearer wrong"); w.Code != http.StatusUnauthorized {
			t.Fatalf("%d: %d", i, w.Code)
		}
	}
	if w := try("10.0.0.1:2", "Bearer "+token); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
		t.Errorf("after ten wrong tokens the right one: %d", w.Code)
	}
	if w := try("10.0.0.2:1", "Bearer "+token); w.Code != http.StatusUnprocessableEntity {
		t.Errorf("another address: %d", w.Code)
	}
	now = now.Add(time.Minute)
	if w := try("10.0.0.1:3", "Bearer "+token); w.Code != http.StatusUnprocessableEntity {
		t.Errorf("a minute later: %d", w.Code)
	}
	refused := 0
	for range 60 {
		if try("[2001:db8::1]:1", "Bearer "+token).Code == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused != 30 {
		t.Errorf("%d of 60 uploads at once were refused, want 30", refused)
	}
	if w := try("[2001:db8::2]:1", "Bearer "+token); w.Code != http.StatusTooManyRequests {
		t.Errorf("a neighbour in the same network: %d", w.Code)
	}
	_ = lib
}

// A body that stalls is given up with a 408, and nothing of it is left.
func TestSlowBody(t *testing.T) {
	past := time.Now().Add(-time.Hour) // every deadline has passed already
	s, lib := receiving(t, func(c *web.Config) { c.Now = func() time.Time { return past } })
	ts := httptest.NewServer(s)
	defer ts.Close()
	before := contents(t, lib.dir)
	conn, err := net.Dial("tcp", ts.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nContent-Length: 100000\r\n\r\nhead", token, web.StreamType)
	b, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(b), "HTTP/1.1 408 ") {
		t.Errorf("%q, %v", b, err)
	}
	if after := contents(t, lib.dir); after != before {
		t.Errorf("something was written:\n%s", after)
	}
}

// Fifty readers at once are all answered, and see whole pages.
func TestFiftyReaders(t *testing.T) {
	s, _ := receiving(t, nil)
	ts := httptest.NewServer(s)
	defer ts.Close()
	paths := []string{"/en/", "/pt/runs/checkout-1", "/api/v1/runs/checkout-2/analysis", "/en/live/now-1", "/api/v1/runs", "/en/runs/steady-1/pictures/timeline.svg"}
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			for k := range paths {
				res, err := http.Get(ts.URL + paths[(i+k)%len(paths)])
				if err != nil {
					t.Error(err)
					return
				}
				b, err := io.ReadAll(res.Body)
				res.Body.Close()
				if err != nil || res.StatusCode != http.StatusOK || len(b) == 0 {
					t.Errorf("%s: %d, %d bytes, %v", paths[(i+k)%len(paths)], res.StatusCode, len(b), err)
				}
			}
		})
	}
	wg.Wait()
}

// A request that fails inside is answered, counted, and takes nothing down.
func TestPanic(t *testing.T) {
	ts, _ := served(t, panicking{newShelf(t)}, nil)
	for range 2 {
		res, err := http.Get(ts.URL + "/en/live/now-1")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusInternalServerError {
			t.Errorf("%d", res.StatusCode)
		}
	}
	res, err := http.Get(ts.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || !strings.Contains(string(b), "headroom_http_panics_total 2\n") {
		t.Errorf("%v %s", err, b)
	}
}

type panicking struct{ *shelf }

func (panicking) Live(context.Context, web.Entry) (*web.LiveStatus, error) { panic("a fault") }

// FuzzRequest asserts that no address and no query brings a 5xx.
func FuzzRequest(f *testing.F) {
	lib := &shelf{dir: f.TempDir(), live: liveStatus()}
	write(f, lib.dir, simulate(f, fmt.Sprintf(steady, "look", 3), "r", "v2", day))
	s := web.New(web.Config{Library: lib, Now: time.Now})
	for _, seed := range []string{"/en/?page=2", "/en/runs/r?from=1&to=2", "/api/v1/compare?base=r&new=r", "/en/runs/%2e%2e/files/x", "/pt/diff?a=r&b=r", "/en/live/now-1/now"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		if !strings.HasPrefix(address, "/") || strings.ContainsAny(address, " \r\n\x00") {
			return
		}
		r, err := http.NewRequest(http.MethodGet, "http://127.0.0.1"+address, nil)
		if err != nil {
			return
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Errorf("%q: %d %s", address, w.Code, w.Body)
		}
	})
}
