package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"headroom/report/web"
	"headroom/store"
)

func serveCommand(std IO) *cli.Command {
	return &cli.Command{
		Name: "serve", Usage: "serve the runs in a folder to people and programs, until stopped", ArgsUsage: "DIR",
		Description: "On this machine it serves without more ado, and receives no runs unless there is a token. Beyond it\n" +
			"it wants --token-file and TLS; without them only with --insecure. The token goes into `headroom push\n" +
			"--token-file`, into an Authorization header (Bearer), or into the password of the browser's log-in.",
		Flags: commonFlags(
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:8077", Usage: "`ADDRESS` to listen on"},
			&cli.StringFlag{Name: "token-file", Usage: "`FILE` with the token that uploads, and reading from elsewhere, must show"},
			&cli.StringFlag{Name: "tls-cert", Usage: "`FILE` with the certificate chain"},
			&cli.StringFlag{Name: "tls-key", Usage: "`FILE` with its key"},
			&cli.BoolFlag{Name: "insecure", Usage: "serve beyond this machine without a token or without TLS"},
			&cli.StringSliceFlag{Name: "host", Usage: "a `NAME` by which this server is called; may be given several times"},
			&cli.StringSliceFlag{Name: "live", Usage: "`URL` of the feed of a run that is recorded elsewhere with --ui; may be given several times"},
			&cli.Int64Flag{Name: "max-upload", Value: 2 << 30, Usage: "the largest upload, in `BYTES`"},
		),
		Action: func(c *cli.Context) error {
			dir, err := oneArgument(c, "the folder")
			if err != nil {
				return err
			}
			return serve(c, std, dir)
		},
	}
}

// minToken is how short a token may be, in bytes.
const minToken = 16

func readToken(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("token: %w", err)
	}
	b = bytes.TrimSpace(b)
	if len(b) < minToken || bytes.ContainsAny(b, " \t\r\n") {
		return nil, usagef("token: %s must hold one word of at least %d characters; `head -c 32 /dev/urandom | base64` makes one", path, minToken)
	}
	return b, nil
}

// onThisMachine reports whether an address to listen on can only be reached from
// this machine.
func onThisMachine(address string) (bool, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false, usagef("--listen %s: it is an address and a port, as in 127.0.0.1:8077", address)
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback(), nil
}

// exposure checks that what is reachable from elsewhere is meant to be.
func exposure(c *cli.Context, std IO, token []byte) (here bool, err error) {
	address := c.String("listen")
	here, err = onThisMachine(address)
	if err != nil {
		return false, err
	}
	certs := c.String("tls-cert") != ""
	if certs != (c.String("tls-key") != "") {
		return false, usagef("--tls-cert and --tls-key belong together")
	}
	if here || token != nil && certs {
		return here, nil
	}
	var lacks []string
	if token == nil {
		lacks = append(lacks, "everyone who reaches it reads every run (no --token-file)")
	}
	if !certs {
		lacks = append(lacks, "what is read and the token travel in the clear (no --tls-cert)")
	}
	if !c.Bool("insecure") {
		return false, usagef("--listen %s can be reached from other machines: %s; give --token-file, --tls-cert and --tls-key, or say --insecure", address, strings.Join(lacks, ", and "))
	}
	fmt.Fprintf(std.Err, "INSECURE: %s can be reached from other machines; %s\n", address, strings.Join(lacks, ", and "))
	return false, nil
}

func serve(c *cli.Context, std IO, dir string) error {
	token, err := readToken(c.String("token-file"))
	if err != nil {
		return err
	}
	here, err := exposure(c, std, token)
	if err != nil {
		return err
	}
	if info, err := os.Stat(dir); err != nil {
		return fmt.Errorf("folder of runs: %w", err)
	} else if !info.IsDir() {
		return usagef("%s is not a folder", dir)
	}
	lib := newFolder(dir, c.StringSlice("live"))
	if token != nil {
		lim := store.DefaultLimits()
		lim.Bytes = c.Int64("max-upload")
		if lib.inbox, err = store.OpenInbox(dir, lim); err != nil {
			return err
		}
	}
	hosts := c.StringSlice("host")
	var config *tls.Config
	if c.String("tls-cert") != "" {
		pair, err := tls.LoadX509KeyPair(c.String("tls-cert"), c.String("tls-key"))
		if err != nil {
			return fmt.Errorf("TLS: %w", err)
		}
		config = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
		if leaf, err := x509.ParseCertificate(pair.Certificate[0]); err == nil {
			hosts = append(hosts, leaf.DNSNames...)
		}
	}
	site := web.New(web.Config{
		Library: lib, Now: time.Now, Version: version, Hosts: hosts, Token: token, ReadToken: token != nil && !here,
		MaxUpload: c.Int64("max-upload"),
		Log: func(format string, args ...any) {
			if !c.Bool("quiet") {
				fmt.Fprintf(std.Err, "%s "+format+"\n", append([]any{time.Now().UTC().Format(time.RFC3339)}, args...)...)
			}
		},
	})
	s := watchStops(c.Context)
	defer s.release()
	warm, cool := context.WithCancel(s.soft)
	defer cool()
	done := make(chan struct{})
	go func() {
		defer close(done)
		site.Warm(warm)
	}()
	err = listenAndServe(s, std, c.String("listen"), config, site)
	cool()
	<-done
	return err
}

// shutdownWait is how long open requests have when the server is stopped.
const shutdownWait = 10 * time.Second

// newHTTPServer has limits on everything that a far side could draw out.
// Uploads extend the time for reading while they make progress.
func newHTTPServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 16 * time.Minute,
		IdleTimeout: 60 * time.Second, MaxHeaderBytes: 32 << 10, ErrorLog: nil,
	}
}

// listenAndServe serves until stopped; the first line on stdout is the address.
func listenAndServe(s *stops, std IO, address string, config *tls.Config, h http.Handler) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listening: %w; give another address with --listen", err)
	}
	scheme := "http"
	if config != nil {
		l, scheme = tls.NewListener(l, config), "https"
	}
	server := newHTTPServer(h)
	server.TLSConfig = config
	fmt.Fprintf(std.Out, "%s://%s/\n", scheme, l.Addr())
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-s.soft.Done():
	}
	ctx, cancel := context.WithTimeout(s.hard, shutdownWait)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		_ = server.Close() // those that were given time and did not end
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
