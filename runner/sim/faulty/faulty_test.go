package faulty

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// ask sends one request on a connection of its own and returns all that comes.
func ask(t *testing.T, s *Server, path string) (string, error) {
	t.Helper()
	c, err := net.Dial("tcp", s.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path)
	b, err := io.ReadAll(c)
	return string(b), err
}

func TestAnswers(t *testing.T) {
	s := start(t, Options{})
	tests := []struct {
		path, body string
		status     int
		badHead    bool
		badBody    bool
	}{
		{path: "/ok", status: 200, body: document},
		{path: "/anything/else", status: 200, body: document},
		{path: "/status/404", status: 404, body: document},
		{path: "/status/204", status: 204},
		{path: "/error", status: 500, body: "error number 1 of this server\n"},
		{path: "/error", status: 500, body: "error number 2 of this server\n"},
		{path: "/large/100000", status: 200, body: strings.Repeat("x", 100_000)},
		{path: "/slow/5", status: 200, body: document},
		{path: "/slow-head/100", status: 200, body: document},
		{path: "/chunked", status: 200, body: document},
		{path: "/http10", status: 200, body: document},
		{path: "/until-close", status: 200, body: document},
		{path: "/redirect/0", status: 200, body: document},
		{path: "/redirect/3", status: 302},
		{path: "/extra", status: 200, body: document},
		{path: "/truncate", status: 200, body: "0123456789", badBody: true},
		{path: "/cut-chunk", status: 200, body: "only a part", badBody: true},
		{path: "/close", badHead: true},
		{path: "/garbage", badHead: true},
		{path: "/lengths", badHead: true},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			text, err := ask(t, s, tt.path)
			if err != nil {
				t.Fatal(err)
			}
			res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(text)), nil)
			if tt.badHead != (err != nil) {
				t.Fatalf("%q: %v", text, err)
			}
			if err != nil {
				return
			}
			body, err := io.ReadAll(res.Body)
			if res.StatusCode != tt.status || string(body) != tt.body || tt.badBody != (err != nil) {
				t.Errorf("%d %q %v", res.StatusCode, body, err)
			}
		})
	}
	c := s.Counts()
	if c.Requests != len(tests) || c.Connections != len(tests) || c.ByKind["error"] != 2 || c.ByKind["ok"] != 2 {
		t.Errorf("%d requests were made: %+v", len(tests), c)
	}
	if text, _ := ask(t, s, "/continue"); !strings.HasPrefix(text, "HTTP/1.1 100 ") || !strings.Contains(text, "HTTP/1.1 103 ") || !strings.HasSuffix(text, document) {
		t.Errorf("/continue: %q", text)
	}
	if text, _ := ask(t, s, "/huge-head"); len(text) < 1<<20 {
		t.Errorf("/huge-head: %d bytes", len(text))
	}
	for _, path := range []string{"/reset", "/reset-body"} {
		if _, err := ask(t, s, path); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: %v, want a reset", path, err)
		}
	}
}

func TestHang(t *testing.T) {
	s := start(t, Options{})
	for path, want := range map[string]string{"/hang": "", "/hang-body": partial} {
		c, err := net.Dial("tcp", s.Address)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path)
		if err := c.SetReadDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(c)
		if nerr, ok := err.(net.Error); string(b) != want || !ok || !nerr.Timeout() {
			t.Errorf("%s: %q %v", path, b, err)
		}
		c.Close()
	}
}

func TestRefused(t *testing.T) {
	addr, err := Refused()
	if err != nil {
		t.Fatal(err)
	}
	if c, err := net.Dial("tcp", addr); err == nil {
		c.Close()
		t.Error("connected")
	}
}

func TestCloses(t *testing.T) {
	for _, o := range []Options{{CloseAfter: 3}, {CloseAfter: 3, Silently: true}, {CloseIdle: 20 * time.Millisecond}} {
		s := start(t, o)
		c, err := net.Dial("tcp", s.Address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(c)
		for i := range 3 {
			fmt.Fprint(c, "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n")
			res, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, res.Body); err != nil {
				t.Fatal(err)
			}
			if announced := o.CloseAfter > 0 && !o.Silently && i == 2; res.Close != announced {
				t.Errorf("%+v, answer %d: close announced %v", o, i, res.Close)
			}
		}
		if _, err := r.ReadByte(); err != io.EOF {
			t.Errorf("%+v: %v, want the server to close", o, err)
		}
		if n := s.Counts(); n.Requests != 3 || n.Connections != 1 {
			t.Errorf("%+v", n)
		}
	}
}

func TestGoAway(t *testing.T) {
	s, err := StartH2(50)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tr := &http.Transport{Protocols: new(http.Protocols)}
	tr.Protocols.SetUnencryptedHTTP2(true)
	defer tr.CloseIdleConnections()
	for range 200 {
		res, err := tr.RoundTrip(httptest.NewRequest("GET", s.URL+"/ok", nil))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil || res.ProtoMajor != 2 {
			t.Fatal(err, res.Proto)
		}
		res.Body.Close()
	}
	if conns, requests := s.Counts(); requests != 200 || conns != 4 {
		t.Errorf("%d requests on %d connections, want 200 on 4", requests, conns)
	}
}

func TestMute(t *testing.T) {
	s := start(t, Options{Mute: true})
	c, err := net.Dial("tcp", s.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(c, "anything")
	b, err := io.ReadAll(c)
	if nerr, ok := err.(net.Error); len(b) > 0 || !ok || !nerr.Timeout() {
		t.Errorf("%q %v", b, err)
	}
}
