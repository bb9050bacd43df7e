package sim

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"time"
)

// full serves the core through net/http, for TLS, HTTP/2 and dependencies.
type full struct {
	*core
	client *http.Client
}

type visit chan *Job

func (v visit) depart(j *Job) bool { v <- j; return true }

func (f *full) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path == "/truth" {
		_, _ = w.Write(f.truthJSON()) // the client's loss
		return
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		http.Error(w, "the body could not be read", http.StatusBadRequest)
		return
	}
	number, _ := r.Context().Value(connKey{}).(uint64)
	v := make(visit, 1)
	target := []byte(r.URL.RequestURI())
	j, why := f.admit(v, number, r.Method, target)
	if why != Admitted {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, refusedBody) // the client's loss
		return
	}
	gone := r.Context().Done()
	select {
	case <-v:
	case <-f.done:
		panic(http.ErrAbortHandler)
	case <-gone:
		f.cancel(j)
		if f.o.Depends != "" && !f.takenBack(j) {
			go f.await(v, j)
		}
		return
	}
	if f.o.Depends != "" {
		err := f.ask(r.Context())
		f.release(j)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			_, _ = io.WriteString(w, "{\"error\":\"dependency\"}\n") // the client's loss
			return
		}
	}
	_, _ = w.Write(appendDocument(nil, r.Method, target, j.Wrong)) // the client's loss
}

// takenBack reports whether j left the queue before its service.
func (f *full) takenBack(j *Job) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return j.state == gone
}

// await frees the worker of a job whose client left during its service.
func (f *full) await(v visit, j *Job) {
	select {
	case <-v:
		f.release(j)
	case <-f.done:
	}
}

// ask asks the dependency.
func (f *full) ask(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.o.Depends, nil)
	if err != nil {
		return err
	}
	res, err := f.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	if res.StatusCode >= 400 {
		return fmt.Errorf("the dependency answered %d", res.StatusCode)
	}
	return nil
}

type connKey struct{}

// server is the net/http server around f.
func (f *full) server() (*http.Server, error) {
	s := &http.Server{
		Handler:           f,
		ReadHeaderTimeout: time.Minute,
		Protocols:         new(http.Protocols),
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, uint64(f.opened.Add(1)))
		},
		ConnState: func(_ net.Conn, s http.ConnState) {
			switch s {
			case http.StateNew:
				f.open.Add(1)
			case http.StateClosed, http.StateHijacked:
				f.open.Add(-1)
			}
		},
		ErrorLog: discardLog,
	}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(f.o.H2C)
	if f.o.TLS {
		s.Protocols.SetHTTP2(true)
		cert, err := selfSigned(f.o.CAFile)
		if err != nil {
			return nil, err
		}
		s.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert}}
	}
	return s, nil
}

// selfSigned makes a certificate for the loopback that is its own authority,
// and writes it to caFile unless that is "".
func selfSigned(caFile string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(now.UnixNano()),
		Subject:               pkix.Name{CommonName: "headroom target"},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(30 * 24 * time.Hour),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
		DNSNames:              []string{"localhost"},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	if caFile != "" {
		text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
		if err := os.WriteFile(caFile, text, 0o644); err != nil {
			return tls.Certificate{}, fmt.Errorf("built-in service: certificate: %w", err)
		}
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
