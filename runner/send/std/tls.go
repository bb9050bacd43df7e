package std

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"headroom/runner/send"
)

const sessionsKept = 64

// tlsConfig is how TLS connections are made. Certificates are verified against
// the CA file where there is one, else against the system's roots.
func tlsConfig(cfg *send.Config) (*tls.Config, error) {
	t := cfg.TLS
	c := &tls.Config{ServerName: t.ServerName, InsecureSkipVerify: t.Insecure}
	if c.ServerName == "" {
		c.ServerName = cfg.Host
		if host, _, err := net.SplitHostPort(cfg.Host); err == nil {
			c.ServerName = host
		}
	}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("http.tls.ca: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errors.New("http.tls.ca: the file holds no certificate in PEM form")
		}
	}
	if t.CertFile != "" || t.KeyFile != "" {
		if t.CertFile == "" || t.KeyFile == "" {
			return nil, errors.New("http.tls: cert and key belong together; give both")
		}
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("http.tls.cert and key: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	if t.Resumption {
		c.ClientSessionCache = tls.NewLRUClientSessionCache(sessionsKept)
	} else {
		c.SessionTicketsDisabled = true
	}
	switch cfg.HTTPVersion {
	case "2":
		c.NextProtos = []string{"h2"}
	case "auto":
		c.NextProtos = []string{"h2", "http/1.1"}
	default:
		c.NextProtos = []string{"http/1.1"}
	}
	return c, nil
}

// shook counts a handshake.
func (e *Engine) shook(a *dial) {
	e.pace(a.shook)
	if a.tls.DidResume {
		e.conns.ResumedHandshakes++
		e.resumedNS += a.shook
		return
	}
	e.conns.FullHandshakes++
	e.fullNS += a.shook
}

// pace sets the gap between two attempts to connect by how long handshakes take.
// They cost a processor a millisecond, ours and the server's; where many at once
// delay the answers that would have returned a connection, still more are asked
// for, and nothing else gets done. So the gap grows while handshakes take much
// longer than the shortest, and shrinks while they do not.
func (e *Engine) pace(ns int64) {
	if e.shortest == 0 || ns < e.shortest {
		e.shortest = ns
	}
	if ns > 2*e.shortest+1e6 {
		e.openGap = min(e.openGap/4*5, shakeMost)
	} else {
		e.openGap = max(e.openGap/10*9, shakeLeast)
	}
}

// negotiated keeps what was agreed with the server.
func (e *Engine) negotiated(a *dial) {
	f := e.facts
	f["protocol"] = "HTTP/1.1"
	if a.conn.h2 {
		f["protocol"] = "HTTP/2"
		f["streams_per_connection"] = strconv.Itoa(a.places)
		if a.tls == nil {
			f["protocol"] = "HTTP/2 without TLS"
		}
	}
	if a.tls != nil {
		f["tls_version"] = tls.VersionName(a.tls.Version)
		f["cipher"] = tls.CipherSuiteName(a.tls.CipherSuite)
	}
}
