package std

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"headroom/runner/send"
	"headroom/runner/send/sendtest"
	"headroom/store/record"
)

// TestHandshakes: full and resumed handshakes are those that the server saw.
func TestHandshakes(t *testing.T) {
	a := newAuthority(t)
	for _, c := range []struct {
		name          string
		version       string
		max           uint16
		resumption    bool
		full, resumed int64
	}{
		{"TLS 1.3, resumed", "1.1", 0, true, 1, 9},
		{"TLS 1.2, resumed", "1.1", tls.VersionTLS12, true, 1, 9},
		{"not resumed", "1.1", 0, false, 10, 0},
		{"HTTP/2, resumed", "2", 0, true, 1, 9},
		{"HTTP/2, not resumed", "2", 0, false, 10, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := serveHTTP(t, &tls.Config{Certificates: []tls.Certificate{a.pair(time.Hour, "test.example")}, MaxVersion: c.max}, nil, fine)
			cfg := secure(w, a, c.version)
			cfg.MaxPerConn = 1
			cfg.TLS.Resumption = c.resumption
			e := open(t, cfg)
			f := sendtest.Chain(t, e, 10)
			if f.Kinds()[record.ErrNone] != 10 {
				t.Fatalf("%v", f.Kinds())
			}
			st := e.Stats()
			if w.full.Load() != c.full || w.resumed.Load() != c.resumed || int64(st.FullHandshakes) != c.full || int64(st.ResumedHandshakes) != c.resumed {
				t.Errorf("%d full and %d resumed, the server saw %d and %d; want %d and %d",
					st.FullHandshakes, st.ResumedHandshakes, w.full.Load(), w.resumed.Load(), c.full, c.resumed)
			}
			if int64(st.Opened) != w.accepted.Load() || st.Opened != 10 || st.Reused != 0 {
				t.Errorf("%+v, accepted %d", st, w.accepted.Load())
			}
			if st.Negotiated["tls_handshake_full_mean_us"] == "" || (st.Negotiated["tls_handshake_resumed_mean_us"] != "") != c.resumption {
				t.Errorf("%v", st.Negotiated)
			}
			want := "TLS 1.3"
			if c.max != 0 {
				want = "TLS 1.2"
			}
			if st.Negotiated["tls_version"] != want || st.Negotiated["cipher"] == "" {
				t.Errorf("%v", st.Negotiated)
			}
		})
	}
}

// TestCertificates: what is not right fails as TLS, and nothing is sent.
func TestCertificates(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	for _, c := range []struct {
		name   string
		pair   tls.Certificate
		change func(*send.Config)
		kind   record.ErrorKind
	}{
		{"good", a.pair(time.Hour, "test.example"), nil, record.ErrNone},
		{"expired", a.pair(-time.Hour, "test.example"), nil, record.ErrTLS},
		{"another host", a.pair(time.Hour, "other.example"), nil, record.ErrTLS},
		{"another authority", other.pair(time.Hour, "test.example"), nil, record.ErrTLS},
		{"system's authorities", a.pair(time.Hour, "test.example"), func(c *send.Config) { c.TLS.CAFile = "" }, record.ErrTLS},
		{"server_name", a.pair(time.Hour, "other.example"), func(c *send.Config) { c.TLS.ServerName = "other.example" }, record.ErrNone},
		{"insecure", other.pair(-time.Hour, "other.example"), func(c *send.Config) { c.TLS.Insecure = true }, record.ErrNone},
		{"host with a port", a.pair(time.Hour, "test.example"), func(c *send.Config) { c.Host = "test.example:8443" }, record.ErrNone},
	} {
		for _, version := range []string{"1.1", "2", "auto"} {
			t.Run(c.name+" "+version, func(t *testing.T) {
				w := serveHTTP(t, &tls.Config{Certificates: []tls.Certificate{c.pair}}, nil, fine)
				cfg := secure(w, a, version)
				if c.change != nil {
					c.change(&cfg)
				}
				f, st := sendtest.Drive(t, New, cfg, sendtest.Get("/"))
				if got := f.Got[0].Result.Err; got != c.kind {
					t.Errorf("%v, want %v", got, c.kind)
				}
				if c.kind != record.ErrNone {
					if w.requests.Load() != 0 || st.FullHandshakes != 0 || int64(st.Opened) != w.accepted.Load() {
						t.Errorf("%d requests, %+v, %d accepted", w.requests.Load(), st, w.accepted.Load())
					}
					return
				}
				name := cfg.TLS.ServerName
				if name == "" {
					name = "test.example"
				}
				if w.serverNames[name] != 1 {
					t.Errorf("the server was asked for %v, want %s", w.serverNames, name)
				}
			})
		}
	}
}

// TestClientCertificate: it is shown; where it is missing the server's refusal is TLS.
func TestClientCertificate(t *testing.T) {
	a := newAuthority(t)
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	for _, version := range []string{"1.1", "2"} {
		for _, max := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			config := &tls.Config{Certificates: []tls.Certificate{a.pair(time.Hour, "test.example")}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, MaxVersion: max}
			w := serveHTTP(t, config, nil, fine)
			cfg := secure(w, a, version)
			if f, _ := sendtest.Drive(t, New, cfg, sendtest.Get("/")); f.Got[0].Result.Err != record.ErrTLS {
				t.Errorf("HTTP %s, TLS %x, without a certificate: %v", version, max, f.Got[0].Result.Err)
			}
			cfg.TLS.CertFile, cfg.TLS.KeyFile = a.files(a.pair(time.Hour, "client"))
			if f, _ := sendtest.Drive(t, New, cfg, sendtest.Get("/")); f.Got[0].Result.Err != record.ErrNone {
				t.Errorf("HTTP %s, TLS %x, with a certificate: %v", version, max, f.Got[0].Result.Err)
			}
		}
	}
}

// TestHandshakeHangs: a server that says nothing in the handshake.
func TestHandshakeHangs(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	req := sendtest.Get("/")
	req.Timeout = 100e6
	f, _ := sendtest.Drive(t, New, send.Config{Scheme: "https", Address: ln.Addr().String(), HTTPVersion: "auto", KeepAlive: true}, req)
	if f.Got[0].Result.Err != record.ErrConnectTimeout {
		t.Errorf("%v", f.Got[0].Result.Err)
	}
	s := sendtest.Serve(t, func(s *sendtest.Server, c net.Conn, r *bufio.Reader) {
		io.WriteString(c, "HTTP/1.0 400 Bad Request\r\n\r\n")
		sendtest.Hang(s, c, r)
	})
	f, _ = sendtest.Drive(t, New, send.Config{Scheme: "https", Address: s.Addr(), HTTPVersion: "auto", KeepAlive: true}, sendtest.Get("/"))
	if f.Got[0].Result.Err != record.ErrTLS {
		t.Errorf("not TLS: %v", f.Got[0].Result.Err)
	}
}

func TestNewRefuses(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "absent.pem")
	for _, c := range []send.Config{
		{Scheme: "ftp"},
		{Scheme: "http", HTTPVersion: "2"},
		{Scheme: "https", HTTPVersion: "h2c"},
		{Scheme: "http", HTTPVersion: "3"},
		{Scheme: "http", Network: "udp"},
		{Scheme: "https", TLS: send.TLS{CAFile: missing}},
		{Scheme: "https", TLS: send.TLS{CertFile: missing}},
		{Scheme: "https", TLS: send.TLS{CertFile: missing, KeyFile: missing}},
		{Scheme: "http", Network: "unix", SourceAddress: "127.0.0.1"},
		{Scheme: "http", SourceAddress: "192.0.2.1"},
	} {
		c.Address = "127.0.0.1:1"
		if e, err := New(c, time.Now()); err == nil {
			e.Close()
			t.Errorf("%+v is accepted", c)
		}
	}
}
