package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"headroom/runner/plan"
)

// stopGrace is how long a service of ours may take to stop after it was asked.
const stopGrace = 10 * time.Second

// startExec starts the plan's own service, waits until it is ready, and takes
// it down with all its children in the end.
func startExec(ctx context.Context, p *plan.Plan) (*running, error) {
	e := p.Target.Exec
	port, err := freePort()
	if err != nil {
		return nil, fmt.Errorf("target.exec: %w", err)
	}
	number := strconv.Itoa(port)
	fill := func(t plan.Text) string { return strings.ReplaceAll(t.Value(), "{port}", number) }
	var words []string
	if e.CPUs != "" {
		if _, err := exec.LookPath("taskset"); err != nil {
			return nil, errors.New("target.exec: cpus wants the program taskset (package util-linux); install it or leave cpus out")
		}
		words = append(words, "taskset", "-c", e.CPUs)
	}
	for _, w := range e.Command {
		words = append(words, fill(w))
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = os.Environ()
	for _, v := range e.Env {
		cmd.Env = append(cmd.Env, v.Name+"="+fill(v.Value))
	}
	tail := &tailBuffer{}
	cmd.Stdout, cmd.Stderr = tail, tail
	cmd.WaitDelay = time.Second // a child may keep what it prints to open for longer
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("target.exec: %w", err)
	}
	gone := make(chan struct{})
	var exit error
	go func() {
		exit = cmd.Wait()
		close(gone)
	}()
	var once sync.Once
	stop := func() (err error) {
		once.Do(func() { err = stopGroup(cmd, gone, stopGrace) })
		return err
	}
	address := net.JoinHostPort("127.0.0.1", number)
	if err := awaitReady(ctx, address, e.Ready, e.Timeout, gone); err != nil {
		select {
		case <-gone:
			err = fmt.Errorf("it ended before it was ready (%v)", exit)
		default:
		}
		return nil, errors.Join(fmt.Errorf("target.exec: %w; the end of what it printed:\n%s", err, tail.redacted(secretsOf(p))), stop())
	}
	return &running{
		url: plan.URL{Scheme: "http", Network: "tcp", Address: address, Host: address},
		pid: cmd.Process.Pid, what: "a service of our own", end: stop,
	}, nil
}

// freePort asks the system for a free port of the loopback address.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}

// awaitReady waits until the service accepts connections and, where a path is
// given, answers it with 2xx.
func awaitReady(ctx context.Context, address, path string, limit time.Duration, gone <-chan struct{}) error {
	if limit <= 0 {
		limit = 30 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 2 * time.Second}
	pause := time.NewTicker(20 * time.Millisecond)
	defer pause.Stop()
	for {
		if ready(ctx, client, address, path) {
			return nil
		}
		select {
		case <-gone:
			return errors.New("it ended")
		case <-ctx.Done():
			return fmt.Errorf("not ready within %s", limit)
		case <-pause.C:
		}
	}
}

func ready(ctx context.Context, client *http.Client, address, path string) bool {
	if path == "" {
		c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
		if err != nil {
			return false
		}
		return c.Close() == nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return false
	}
	res, err := client.Do(req)
	if err != nil {
		return false
	}
	return res.Body.Close() == nil && res.StatusCode/100 == 2
}

// secretsOf are the values of the service's environment that came from ours.
func secretsOf(p *plan.Plan) []string {
	var all []string
	for _, v := range p.Target.Exec.Env {
		if v.Value.Secret() && v.Value.Value() != "" {
			all = append(all, v.Value.Value())
		}
	}
	return all
}

// tailBuffer keeps the last few kilobytes of what a program prints.
type tailBuffer struct {
	mu  sync.Mutex
	buf []byte
}

const tailLimit = 4096

func (t *tailBuffer) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if n := len(t.buf) - tailLimit; n > 0 {
		t.buf = append(t.buf[:0], t.buf[n:]...)
	}
	return len(p), nil
}

func (t *tailBuffer) redacted(secrets []string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := bytes.ToValidUTF8(t.buf, []byte("?"))
	for _, s := range secrets {
		out = bytes.ReplaceAll(out, []byte(s), []byte("[redacted]"))
	}
	return string(out)
}
