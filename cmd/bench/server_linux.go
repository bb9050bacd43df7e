package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// nginxConfig serves a small answer from memory and never closes a connection.
const nginxConfig = `worker_processes 1;
daemon off;
pid %[1]s/nginx.pid;
error_log %[1]s/error.log error;
events { worker_connections %[3]d; }
http {
  access_log off;
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
  client_body_temp_path %[1]s/body;
  proxy_temp_path %[1]s/proxy;
  fastcgi_temp_path %[1]s/fastcgi;
  uwsgi_temp_path %[1]s/uwsgi;
  scgi_temp_path %[1]s/scgi;
  server {
%[2]s
    location / { default_type text/plain; return 200 "hello from memory, all the same for everybody\n"; }
  }
}
`

// serve starts the server of the comparison on its core.
func (b *bench) serve(ctx context.Context) (*background, string, error) {
	path, err := exec.LookPath("nginx")
	if err != nil {
		if _, statErr := os.Stat("/usr/sbin/nginx"); statErr != nil {
			b.t.note("nginx is not here (apt-get install nginx): the built-in service took its place")
			s, err := b.builtIn(ctx)
			return s, "the built-in service", err
		}
		path = "/usr/sbin/nginx"
	}
	dir := filepath.Join(b.dir, "nginx")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, "", err
	}
	// Its workers may run as another user, who must be let through.
	if err := errors.Join(os.Chmod(b.dir, 0o755), os.Chmod(dir, 0o777)); err != nil {
		return nil, "", err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, "", err
	}
	var listens strings.Builder
	for i := range addresses {
		fmt.Fprintf(&listens, "    listen %s backlog=4096;\n", elsewhere(address, i))
	}
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return nil, "", err
	}
	config := filepath.Join(dir, "nginx.conf")
	text := fmt.Sprintf(nginxConfig, dir, listens.String(), min(files.Max, 65536)*9/10)
	if err := os.WriteFile(config, []byte(text), 0o666); err != nil {
		return nil, "", err
	}
	cmd := exec.CommandContext(ctx, path, "-p", dir, "-c", config, "-e", filepath.Join(dir, "error.log"))
	if err := start(cmd, b.server); err != nil {
		return nil, "", err
	}
	s := &background{url: "http://" + address + "/", cmd: cmd, many: true}
	if err := s.ready(ctx); err != nil {
		s.stop()
		words, _ := os.ReadFile(filepath.Join(dir, "error.log"))
		return nil, "", fmt.Errorf("nginx: %w: %s", err, lastLines(string(words), 2))
	}
	return s, "nginx", nil
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// ready waits until the server answers.
func (s *background) ready(ctx context.Context) error {
	client := http.Client{Timeout: time.Second}
	defer client.CloseIdleConnections()
	var err error
	for range 100 {
		var r *http.Response
		if r, err = client.Get(s.url); err == nil {
			r.Body.Close()
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return fmt.Errorf("it does not answer: %w", err)
}

// addresses is at how many addresses the server listens.
const addresses = 100

// elsewhere is the ith of the addresses, all of them loopback.
func elsewhere(address string, i int) string {
	_, port, _ := strings.Cut(address, ":")
	return fmt.Sprintf("127.0.0.%d:%s", 1+i, port)
}

// next is the server at another address each time: the connections that a
// generator leaves behind hold their ports for a minute, and must not be missed
// by the next one.
func (s *background) next() string {
	if !s.many {
		return s.url
	}
	address := strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/")
	s.turn = (s.turn + 1) % addresses
	return "http://" + elsewhere(address, s.turn) + "/"
}

// builtIn starts headroom target on the server's core.
func (b *bench) builtIn(ctx context.Context, args ...string) (*background, error) {
	// A tenth of a millisecond of work and workers without end: it never queues.
	b.turn = (b.turn + 1) % addresses // see next
	args = append([]string{"target", "--listen", elsewhere(":0", b.turn), "--workers", "1000", "--service", builtInWork + " constant"}, args...)
	return b.listening(ctx, b.headroom, args...)
}

const builtInWork = "100us"

// listening starts a server that prints "listening on URL".
func (b *bench) listening(ctx context.Context, program string, args ...string) (*background, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := start(cmd, b.server); err != nil {
		return nil, err
	}
	s := &background{cmd: cmd}
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok {
		s.stop()
		return nil, fmt.Errorf("%s %s: it said %q, not where it listens: %w", filepath.Base(program), args[0], line, err)
	}
	s.url = url + "/"
	return s, nil
}
