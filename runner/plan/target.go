package plan

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	yaml "go.yaml.in/yaml/v4"
)

func (o *object) seed(dst *uint64) {
	n, path := o.get("seed")
	if n == nil {
		return
	}
	s, ok := o.r.number(n, path, "7")
	if !ok {
		return
	}
	v, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		o.r.problem(n, path, "%q is not a seed; write a whole number from 0 to 18446744073709551615", excerpt(s))
		return
	}
	*dst = v
}

func (r *reader) target(parent *object, t *Target) {
	n, path := parent.get("target")
	if n == nil {
		return
	}
	o := r.object(n, path, "url", "builtin", "exec", "docker")
	o.one("url", "builtin", "exec", "docker")
	if n, path := o.get("url"); n != nil {
		if text, ok := r.text(n, path); ok {
			u, wrong := parseURL(text)
			if wrong != "" {
				r.problem(n, path, "%s", wrong)
			}
			t.URL = u
		}
	}
	if n, path := o.get("builtin"); n != nil {
		t.BuiltIn = r.builtIn(n, path)
	}
	if n, path := o.get("exec"); n != nil {
		t.Exec = r.exec(n, path)
	}
}

// parseURL says what is wrong without repeating the address, which may be secret.
func parseURL(text Text) (u *URL, wrong string) {
	const form = "; write http://host:port, https://host or unix:///path"
	raw := text.Value()
	parsed, err := url.Parse(raw)
	if err != nil || strings.ContainsAny(raw, " \t\r\n") {
		return nil, "is not a URL" + form
	}
	u = &URL{Text: text, Scheme: parsed.Scheme, Network: "tcp"}
	switch {
	case parsed.User != nil:
		return nil, "has a user in it; delete it, and give http.headers an Authorization"
	case parsed.RawQuery != "" || parsed.ForceQuery || parsed.Fragment != "":
		return nil, "has a query or a fragment; these belong to the requests' paths"
	case parsed.Scheme == "unix":
		if parsed.Host != "" || !strings.HasPrefix(parsed.Path, "/") || len(parsed.Path) > 107 {
			return nil, "is not the path of a socket; write unix:///path of at most 107 characters"
		}
		u.Scheme, u.Network, u.Address, u.Host = "http", "unix", parsed.Path, "localhost"
		return u, ""
	case parsed.Scheme != "http" && parsed.Scheme != "https":
		return nil, "has not the scheme http, https or unix" + form
	case parsed.Hostname() == "":
		return nil, "names no host" + form
	}
	port := parsed.Port()
	own := map[string]string{"http": "80", "https": "443"}[parsed.Scheme]
	if port == "" {
		port = own
	}
	if v, err := strconv.Atoi(port); err != nil || v < 1 || v > 65535 {
		return nil, "has a port that is not 1 to 65535"
	}
	u.Address = net.JoinHostPort(parsed.Hostname(), port)
	u.Host = u.Address
	if port == own {
		u.Host = strings.TrimSuffix(u.Address, ":"+port)
	}
	if strings.ContainsFunc(u.Host, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return nil, "has a host with other than ASCII characters; write it in punycode"
	}
	u.Base = strings.TrimRight(parsed.EscapedPath(), "/")
	return u, ""
}

// builtInKeys are the options that a plan may set; the others belong to the run.
var builtInKeys = []string{
	"workers", "service", "queue", "shed_after", "abandon", "freeze", "leak", "slow", "wrong", "noise", "seed", "depends", "tls", "h2c", "log",
}

func (r *reader) builtIn(n *yaml.Node, path string) *BuiltIn {
	known := append([]string{"shed-after"}, builtInKeys...)
	o := r.object(n, path, known...)
	b := &BuiltIn{}
	o.conflict("shed-after", "shed_after", "they are the same; keep one")
	for _, key := range known {
		n, path := o.get(key)
		if n == nil {
			continue
		}
		var words []string
		if n.Kind == yaml.SequenceNode && (key == "freeze" || key == "slow") {
			items, _ := r.list(n, path)
			for i, item := range items {
				if s, ok := r.fixed(item, at(path, i)); ok {
					words = append(words, s)
				}
			}
		} else if s, ok := r.fixed(n, path); ok {
			words = append(words, s)
		}
		if len(words) == 0 {
			continue
		}
		s := setting{strings.ReplaceAll(key, "-", "_"), strings.Join(strings.Fields(strings.Join(words, ",")), " ")}
		if err := b.Options.Set(s.name, s.value); err != nil {
			r.problem(n, path, "%s", strings.TrimPrefix(err.Error(), fmt.Sprintf("%s %q: ", strings.ReplaceAll(s.name, "_", "-"), s.value)))
			continue
		}
		b.written = append(b.written, s)
	}
	if err := b.Options.Check(); err != nil && !o.broken {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			key, _, _ := strings.Cut(line, " ")
			where, path := o.get(strings.ReplaceAll(key, "-", "_"))
			if where == nil {
				r.problem(n, o.path, "%s", line)
				continue
			}
			r.problem(where, path, "%s", strings.TrimPrefix(line, key+" "))
		}
	}
	slices.SortStableFunc(b.written, func(x, y setting) int {
		return slices.Index(builtInKeys, x.name) - slices.Index(builtInKeys, y.name)
	})
	return b
}

var (
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	cpuList      = regexp.MustCompile(`^\d{1,4}(-\d{1,4})?(,\d{1,4}(-\d{1,4})?)*$`)
)

func (r *reader) exec(n *yaml.Node, path string) *Exec {
	o := r.object(n, path, "command", "ready", "env", "cpus", "timeout")
	e := &Exec{Timeout: 30 * time.Second}
	o.require("command")
	e.Command = o.command("command")
	if n, path := o.get("ready"); n != nil {
		if s, ok := r.fixed(n, path); ok {
			if !strings.HasPrefix(s, "/") || !pathBytes(s) {
				r.problem(n, path, "%q is not a path; write one such as /healthz", excerpt(s))
			}
			e.Ready = s
		}
	}
	if n, path := o.get("env"); n != nil {
		env := r.object(n, path)
		for _, key := range env.order {
			if !variableName.MatchString(key) {
				r.problem(env.keys[key], join(path, key), "is not the name of a variable; use letters, digits and _")
			}
			v := Variable{Name: key}
			env.text(key, &v.Value)
			e.Env = append(e.Env, v)
		}
	}
	if n, path := o.get("cpus"); n != nil {
		if s, ok := r.fixed(n, path); ok {
			if !cpuList.MatchString(s) {
				r.problem(n, path, "%q is not a list of processors; write \"0\", \"0-1\" or \"0,2\"", excerpt(s))
			}
			e.CPUs = s
		}
	}
	o.duration("timeout", &e.Timeout, time.Second, time.Hour)
	return e
}

// command reads a list of words.
func (o *object) command(key string) (words []Text) {
	n, path := o.get(key)
	if n == nil {
		return nil
	}
	items, ok := o.r.list(n, path)
	for i, item := range items {
		if t, ok := o.r.text(item, at(path, i)); ok {
			words = append(words, t)
		}
	}
	if ok && len(items) == 0 {
		o.r.problem(n, path, "is empty; write the program and its arguments")
	}
	return words
}

func (r *reader) http(parent *object, p *Plan) {
	h := &p.HTTP
	*h = HTTP{
		Timeout: 2 * time.Second, KeepAlive: true, MaxInFlight: 20000,
		IdleTimeout: 90 * time.Second, TLS: TLS{Resumption: true},
	}
	defer func() {
		if h.Deadline == 0 {
			h.Deadline = h.Timeout
		}
	}()
	h.Version = p.usualVersion()
	n, path := parent.get("http")
	if n == nil {
		return
	}
	o := r.object(n, path, "version", "timeout", "deadline", "keepalive", "max_connections", "max_requests_per_connection",
		"max_in_flight", "idle_timeout", "source_address", "redirects", "headers", "tls", "resolve")
	o.duration("timeout", &h.Timeout, time.Millisecond, 12*time.Hour)
	o.duration("deadline", &h.Deadline, time.Millisecond, 12*time.Hour)
	o.boolean("keepalive", &h.KeepAlive)
	h.Version = p.usualVersion()
	o.choice("version", &h.Version, "1.1", "2", "h2c", "auto")
	o.integer("max_connections", &h.MaxConns, 0, 1_000_000)
	o.integer("max_requests_per_connection", &h.MaxPerConn, 0, 1<<30)
	o.integer("max_in_flight", &h.MaxInFlight, 1, 10_000_000)
	o.duration("idle_timeout", &h.IdleTimeout, 10*time.Millisecond, day)
	redirects := 0
	if o.integer("redirects", &redirects, 0, 100) && redirects > 0 {
		n, path := o.get("redirects")
		r.problem(n, path, "following redirects is not supported yet by this version; write 0 and list the status under expect")
	}
	if n, path := o.get("source_address"); n != nil {
		if s, ok := r.fixed(n, path); ok {
			if _, err := netip.ParseAddr(s); err != nil {
				r.problem(n, path, "%q is not an IP address of this machine", excerpt(s))
			}
			h.SourceAddress = s
		}
	}
	if n, path := o.get("headers"); n != nil {
		h.Headers = r.headers(n, path, p.names())
	}
	if n, path := o.get("tls"); n != nil {
		r.tls(n, path, &h.TLS)
	}
	if n, path := o.get("resolve"); n != nil {
		h.Resolve = r.resolves(n, path)
	}
	r.httpConflicts(o, p)
}

// usualVersion is the HTTP version where the plan names none: 1.1, and h2c for a
// built-in service that was told to speak it, if connections are kept.
func (p *Plan) usualVersion() string {
	if b := p.Target.BuiltIn; b != nil && b.Options.H2C && p.HTTP.KeepAlive {
		return "h2c"
	}
	return "1.1"
}

func (r *reader) httpConflicts(o *object, p *Plan) {
	h := &p.HTTP
	if !h.KeepAlive && h.MaxPerConn > 1 {
		o.conflict("max_requests_per_connection", "keepalive", "without keepalive there is one request per connection; keep one of the two")
	}
	if u := p.Target.URL; u != nil && o.has("version") {
		n, path := o.get("version")
		switch {
		case h.Version == "2" && u.Scheme == "http":
			r.problem(n, path, "contradicts target.url: HTTP/2 without TLS is h2c; write h2c, or an https URL")
		case h.Version == "h2c" && u.Scheme == "https":
			r.problem(n, path, "contradicts target.url: h2c is without TLS; write 2, or an http URL")
		}
	}
	if !h.KeepAlive && (h.Version == "2" || h.Version == "h2c") {
		o.conflict("keepalive", "version", "HTTP/2 connections are kept; write version: \"1.1\", or keepalive: true")
	}
	if b := p.Target.BuiltIn; b != nil && o.has("version") {
		n, path := o.get("version")
		switch {
		case h.Version == "2" && !b.Options.TLS:
			r.problem(n, path, "contradicts target.builtin: it speaks HTTP/2 over TLS; add tls: true to it")
		case h.Version == "h2c" && !b.Options.H2C:
			r.problem(n, path, "contradicts target.builtin: it speaks h2c when told to; add h2c: true to it")
		}
	}
}

func (r *reader) tls(n *yaml.Node, path string, t *TLS) {
	o := r.object(n, path, "ca", "cert", "key", "server_name", "insecure", "resumption")
	o.text("ca", &t.CA)
	o.text("cert", &t.Cert)
	o.text("key", &t.Key)
	if n, path := o.get("server_name"); n != nil {
		if s, ok := r.fixed(n, path); ok {
			if strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c > '~' }) {
				r.problem(n, path, "%q is not a host name", excerpt(s))
			}
			t.ServerName = s
		}
	}
	o.boolean("insecure", &t.Insecure)
	o.boolean("resumption", &t.Resumption)
	if written(o.get("cert")) != written(o.get("key")) {
		r.problem(n, path, "has only one of cert and key; give both, or none")
	}
	if t.Insecure && written(o.get("ca")) {
		o.conflict("ca", "insecure", "insecure: true verifies nothing; keep one of the two")
	}
}

// written reports whether a text that may be empty is not.
func written(n *yaml.Node, _ string) bool { return n != nil && n.Value != "" }

func (r *reader) resolves(n *yaml.Node, path string) (all []Resolve) {
	o := r.object(n, path)
	for _, key := range o.order {
		v, at := o.get(key)
		to, ok := r.text(v, at)
		if !ok {
			continue
		}
		if !hostPort(key) || !hostPort(to.Value()) {
			r.problem(o.keys[key], at, "is not \"host:port\": \"host:port\"; write both with their ports")
			continue
		}
		all = append(all, Resolve{From: Literal(key), To: to})
	}
	return all
}

func hostPort(s string) bool {
	host, port, err := net.SplitHostPort(s)
	if err != nil || host == "" {
		return false
	}
	v, err := strconv.Atoi(port)
	return err == nil && v >= 1 && v <= 65535
}
