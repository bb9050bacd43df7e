package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"headroom/report/web"
	"headroom/store"
)

func pushCommand(std IO) *cli.Command {
	return &cli.Command{
		Name: "push", Usage: "send a run to an analysis server; sending it again changes nothing", ArgsUsage: "RUN URL",
		Flags: commonFlags(
			&cli.StringFlag{Name: "token-file", Usage: "`FILE` with the server's token"},
			&cli.StringFlag{Name: "cacert", Usage: "`FILE` with the certificate of the server's authority, in place of the system's"},
			&cli.BoolFlag{Name: "insecure", Usage: "send the token without TLS to another machine"},
		),
		Action: func(c *cli.Context) error {
			if c.NArg() != 2 {
				return usagef("push wants two arguments, the evidence file and the server's address; it got %d", c.NArg())
			}
			p, err := newPush(c)
			if err != nil {
				return err
			}
			run, err := openEvidence(c.Args().First())
			if err != nil {
				return err
			}
			defer run.Close()
			s := watchStops(c.Context)
			defer s.release()
			got, err := p.send(s.soft, run)
			if code := s.code(); code != 0 {
				return exit(code)
			}
			if err != nil {
				return err
			}
			if !c.Bool("quiet") {
				word := "received"
				if got.Already {
					word = "was there already"
				}
				fmt.Fprintf(std.Err, "run %s %s, SHA-256 %s\n", got.RunID, word, got.Digest)
			}
			_, err = fmt.Fprintln(std.Out, p.base+"/en/runs/"+url.PathEscape(got.RunID))
			return err
		},
	}
}

// push is where a run goes.
type push struct {
	base   string
	token  []byte
	client *http.Client
}

func newPush(c *cli.Context) (*push, error) {
	p := &push{}
	u, err := url.Parse(c.Args().Get(1))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || strings.Trim(u.Path, "/") != "" {
		return nil, usagef("%q is not the address of a server, as in https://runs.example.com", c.Args().Get(1))
	}
	p.base = u.Scheme + "://" + u.Host
	if p.token, err = readToken(c.String("token-file")); err != nil {
		return nil, err
	}
	ip := net.ParseIP(u.Hostname())
	here := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if p.token != nil && u.Scheme == "http" && !here && !c.Bool("insecure") {
		return nil, usagef("the token would travel in the clear to %s; use https, or say --insecure", u.Host)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if file := c.String("cacert"); file != "" {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(b) {
			return nil, usagef("--cacert %s: there is no certificate in it", file)
		}
	}
	p.client = &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSClientConfig: config, ForceAttemptHTTP2: true,
			ResponseHeaderTimeout: 5 * time.Minute, TLSHandshakeTimeout: 10 * time.Second,
		},
		// A token is for one server only.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return p, nil
}

// tries is how often a push that may yet succeed is tried.
const tries = 4

// send sends a run, again where the server was busy or the connection failed.
func (p *push) send(ctx context.Context, run *store.Run) (web.Receipt, error) {
	if !run.Sealed() {
		return web.Receipt{}, fmt.Errorf("%s is not sealed; `headroom recover` seals what a killed recorder left", run.Path())
	}
	if got, ok := p.already(ctx, run); ok {
		return got, nil
	}
	var last error
	for try := range tries {
		got, wait, err := p.once(ctx, run)
		if err == nil || wait < 0 {
			return got, err
		}
		last = err
		if try == tries-1 {
			break
		}
		select {
		case <-ctx.Done():
			return got, ctx.Err()
		case <-time.After(max(wait, time.Second<<try)):
		}
	}
	return web.Receipt{}, fmt.Errorf("tried %d times: %w", tries, last)
}

// already asks whether the server has the run, so that it is not sent in vain.
func (p *push) already(ctx context.Context, run *store.Run) (web.Receipt, bool) {
	res, err := p.do(ctx, http.MethodGet, "/api/v1/runs/"+url.PathEscape(run.Header().RunID), nil)
	if err != nil {
		return web.Receipt{}, false
	}
	defer res.Body.Close()
	var there struct {
		RunID  string `json:"run_id"`
		Digest string `json:"digest"`
	}
	err = json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&there)
	ok := err == nil && res.StatusCode == http.StatusOK && there.Digest == run.Digest()
	return web.Receipt{RunID: there.RunID, Digest: there.Digest, Already: true}, ok
}

func (p *push) do(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, p.base+path, body)
	if err != nil {
		return nil, err
	}
	if p.token != nil {
		req.Header.Set("Authorization", "Bearer "+string(p.token))
	}
	if body != nil {
		req.Header.Set("Content-Type", store.StreamType)
	}
	return p.client.Do(req)
}

// once sends the run once. A wait of at least 0 says that it may be tried again.
func (p *push) once(ctx context.Context, run *store.Run) (got web.Receipt, wait time.Duration, err error) {
	r, w := io.Pipe()
	sent := make(chan error, 1)
	go func() {
		err := run.Send(w)
		w.CloseWithError(err)
		sent <- err
	}()
	res, err := p.do(ctx, http.MethodPost, "/api/v1/runs", r)
	_ = r.Close() // a server that answered early does not want the rest
	sending := <-sent
	if err != nil {
		if sending != nil && !errors.Is(sending, io.ErrClosedPipe) {
			return got, -1, sending // our own evidence can't be read
		}
		return got, 0, fmt.Errorf("sending to %s: %w", p.base, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return got, 0, fmt.Errorf("sending to %s: %w", p.base, err)
	}
	if res.StatusCode == http.StatusOK || res.StatusCode == http.StatusCreated {
		if err := json.Unmarshal(b, &got); err != nil || got.Digest != run.Digest() {
			return got, -1, fmt.Errorf("%s answers %s, but not that it has the run: is it an analysis server?", p.base, res.Status)
		}
		return got, -1, nil
	}
	var said struct {
		Error struct{ Code, Text string }
	}
	text := res.Status
	if json.Unmarshal(b, &said) == nil && said.Error.Text != "" {
		text = said.Error.Text
	}
	wait = -1
	if res.StatusCode == http.StatusTooManyRequests || res.StatusCode >= 500 {
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
		wait = min(time.Duration(seconds)*time.Second, 30*time.Second)
	}
	return got, wait, fmt.Errorf("%s refuses the run: %s", p.base, text)
}
