package std

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"headroom/runner/send"
	"headroom/runner/send/sendtest"
)

// authority signs certificates for tests.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, file: filepath.Join(t.TempDir(), "ca.pem")}
	a.key = newKey(t)
	der := a.sign(&x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, NotAfter: time.Now().Add(time.Hour)}, &a.key.PublicKey)
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	a.cert = cert
	writePEM(t, a.file, "CERTIFICATE", der)
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func (a *authority) sign(c *x509.Certificate, key any) []byte {
	c.SerialNumber = big.NewInt(time.Now().UnixNano())
	c.NotBefore = time.Now().Add(-2 * time.Hour)
	c.Subject = pkix.Name{CommonName: "test"}
	parent := a.cert
	if parent == nil {
		parent = c
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	return der
}

// pair is a certificate for the names, valid for so long from now.
func (a *authority) pair(valid time.Duration, names ...string) tls.Certificate {
	key := newKey(a.t)
	der := a.sign(&x509.Certificate{
		DNSNames: names, NotAfter: time.Now().Add(valid),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, &key.PublicKey)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func (a *authority) files(c tls.Certificate) (cert, key string) {
	dir := a.t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePEM(a.t, cert, "CERTIFICATE", c.Certificate[0])
	der, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		a.t.Fatal(err)
	}
	writePEM(a.t, key, "PRIVATE KEY", der)
	return cert, key
}

func writePEM(t *testing.T, file, kind string, der []byte) {
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// web is an HTTP server that counts what reaches it.
type web struct {
	addr        string
	server      *http.Server
	accepted    atomic.Int64
	requests    atomic.Int64
	full        atomic.Int64
	resumed     atomic.Int64
	mu          sync.Mutex
	perConn     map[string]int
	serverNames map[string]int
	protos      map[string]int
}

type counting struct {
	net.Listener
	n *atomic.Int64
}

func (l counting) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.n.Add(1)
	}
	return c, err
}

// serveHTTP starts one; config nil serves without TLS.
func serveHTTP(t testing.TB, config *tls.Config, change func(*http.Server), handle http.HandlerFunc) *web {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &web{addr: ln.Addr().String(), perConn: map[string]int{}, serverNames: map[string]int{}, protos: map[string]int{}}
	w.server = &http.Server{
		ErrorLog: log.New(io.Discard, "", 0),
		HTTP2:    &http.HTTP2Config{},
		Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			w.requests.Add(1)
			w.mu.Lock()
			w.perConn[r.RemoteAddr]++
			w.protos[r.Proto]++
			w.mu.Unlock()
			handle(rw, r)
		}),
		Protocols: new(http.Protocols),
	}
	w.server.Protocols.SetHTTP1(true)
	w.server.Protocols.SetHTTP2(true)
	w.server.Protocols.SetUnencryptedHTTP2(true)
	if config != nil {
		config.VerifyConnection = func(s tls.ConnectionState) error {
			if s.DidResume {
				w.resumed.Add(1)
			} else {
				w.full.Add(1)
			}
			w.mu.Lock()
			w.serverNames[s.ServerName]++
			w.mu.Unlock()
			return nil
		}
		w.server.TLSConfig = config
	}
	if change != nil {
		change(w.server)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if config != nil {
			_ = w.server.ServeTLS(counting{ln, &w.accepted}, "", "")
		} else {
			_ = w.server.Serve(counting{ln, &w.accepted})
		}
	}()
	t.Cleanup(func() {
		w.server.Close()
		<-done
	})
	return w
}

func fine(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("X-Test", "yes")
	_, _ = io.WriteString(w, "ok")
}

func secure(w *web, a *authority, version string) send.Config {
	return send.Config{
		Scheme: "https", Address: w.addr, Host: "test.example", HTTPVersion: version, KeepAlive: true,
		TLS: send.TLS{CAFile: a.file, Resumption: true},
	}
}

func h2c(w *web) send.Config {
	return send.Config{Scheme: "http", Address: w.addr, Host: "test.example", HTTPVersion: "h2c", KeepAlive: true}
}

// open makes an engine that the test can look into.
func open(t *testing.T, cfg send.Config) *Engine {
	t.Helper()
	return sendtest.Open(t, New, cfg).(*Engine)
}

// paused lets handlers wait until they may answer, or the test is over.
type paused struct{ ch chan struct{} }

func pause(t *testing.T) (*paused, func(context.Context)) {
	p := &paused{make(chan struct{})}
	t.Cleanup(p.release)
	return p, func(ctx context.Context) {
		select {
		case <-p.ch:
		case <-ctx.Done():
		}
	}
}

func (p *paused) release() {
	select {
	case <-p.ch:
	default:
		close(p.ch)
	}
}
