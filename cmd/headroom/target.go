package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"headroom/runner/observe"
	"headroom/runner/plan"
	"headroom/runner/send"
	"headroom/runner/sim"
)

func targetCommand(std IO) *cli.Command {
	return &cli.Command{
		Name: "target", Usage: "serve the built-in service of known capacity, until stopped",
		Description:     "The capacity is workers / mean service time exactly. GET /truth answers the parameters, the\ntrue capacity and exact counters as JSON; every other path is work.\n\n" + sim.Usage(),
		SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			for len(args) > 0 && args[0] == "--" {
				args = args[1:]
			}
			for _, a := range args {
				if a == "-h" || a == "--help" {
					return cli.ShowSubcommandHelp(c)
				}
			}
			o, err := sim.ParseOptions(args)
			if err != nil {
				return &exitError{exitUsage, err}
			}
			s := watchStops(c.Context)
			defer s.release()
			observe.Precede()
			return sim.Serve(s.soft, o, std.Out)
		},
	}
}

// running is the service under test, as far as a run knows it.
type running struct {
	url   plan.URL
	pid   int    // 0: not ours, or unknown
	ca    string // file of the certificate that signs its own; "" the plan's
	what  string
	facts map[string]string
	end   func() error
}

func (t *running) stop() error {
	if t.end == nil {
		return nil
	}
	return t.end()
}

// loopback reports whether the target is on this machine.
func (t *running) loopback() bool {
	host, _, err := net.SplitHostPort(t.url.Address)
	if err != nil {
		return t.url.Network == "unix"
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// factArgs are the options of the built-in service that say what it is, files
// and addresses left out.
func factArgs(o sim.Options) []string {
	o.Log, o.CAFile, o.Depends, o.Listen, o.WithParent = "", "", "", "", false
	return o.Args()
}

func (t *running) describe() string { return t.what }

// config is what an engine needs to reach the target.
func (t *running) config(p *plan.Plan) send.Config {
	h := p.HTTP
	c := send.Config{
		Scheme: t.url.Scheme, Network: t.url.Network, Address: t.url.Address, Host: t.url.Host,
		HTTPVersion: h.Version, KeepAlive: h.KeepAlive, MaxConns: h.MaxConns, MaxPerConn: h.MaxPerConn,
		SourceAddress: h.SourceAddress, IdleTimeout: int64(h.IdleTimeout),
		TLS: send.TLS{
			CAFile: h.TLS.CA.Value(), CertFile: h.TLS.Cert.Value(), KeyFile: h.TLS.Key.Value(),
			ServerName: h.TLS.ServerName, Insecure: h.TLS.Insecure, Resumption: h.TLS.Resumption,
		},
	}
	if c.TLS.CAFile == "" {
		c.TLS.CAFile = t.ca
	}
	for _, r := range h.Resolve {
		if r.From.Value() == c.Address {
			c.Address = r.To.Value()
		}
	}
	return c
}

// startTarget starts the service where the plan owns one. A first stop ends the
// waiting for it; once it runs, it lives until the run's requests are drained.
func startTarget(stops *stops, p *plan.Plan) (*running, error) {
	switch {
	case p.Target.BuiltIn != nil:
		return startBuiltIn(stops, builtInOptions(p.Target.BuiltIn.Options, p.Seed))
	case p.Target.Exec != nil:
		return startExec(stops.soft, p)
	}
	u := *p.Target.URL
	return &running{url: u, what: u.Scheme + " service at the plan's address"}, nil
}

func startBuiltIn(stops *stops, o sim.Options) (*running, error) {
	self, err := selfPath()
	if err != nil {
		return nil, err
	}
	clean := func() error { return nil }
	if o.TLS && o.CAFile == "" {
		dir, err := os.MkdirTemp("", "headroom-")
		if err != nil {
			return nil, fmt.Errorf("built-in service: %w", err)
		}
		o.CAFile = filepath.Join(dir, "ca.pem")
		clean = func() error { return os.RemoveAll(dir) }
	}
	// The context given here ends the process, not only its start.
	life, cancel := context.WithCancel(stops.hard)
	end := func() error { cancel(); return clean() }
	keep := context.AfterFunc(stops.soft, cancel)
	proc, err := sim.StartProcess(life, self, o)
	keep()
	if err != nil {
		return nil, errors.Join(err, end())
	}
	u, err := url.Parse(proc.URL)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("built-in service: %w", err), proc.Stop(), end())
	}
	return &running{
		ca:  o.CAFile,
		url: plan.URL{Scheme: u.Scheme, Network: "tcp", Address: u.Host, Host: u.Host},
		pid: proc.PID, what: "the built-in service", end: func() error { return errors.Join(proc.Stop(), end()) },
		facts: map[string]string{"builtin": strings.Join(factArgs(o), " ")},
	}, nil
}

// builtInOptions completes the plan's options of the built-in service. The seed
// of the run is that of the service times as well, unless the plan has another.
func builtInOptions(o sim.Options, seed uint64) sim.Options {
	if o.Seed == 0 {
		o.Seed = seed
	}
	return o
}

// selfPath is the program to start for a process of our own.
func selfPath() (string, error) {
	if strings.ContainsRune(os.Args[0], filepath.Separator) {
		return filepath.Abs(os.Args[0])
	}
	if p, err := exec.LookPath(os.Args[0]); err == nil {
		return filepath.Abs(p)
	}
	return os.Executable()
}
