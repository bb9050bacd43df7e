package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fileDigest stands for a file's content in the digests.
type fileDigest struct{ name, sum string }

func digestFile(name string, content []byte) fileDigest {
	sum := sha256.Sum256(content)
	return fileDigest{name, hex.EncodeToString(sum[:])}
}

// form says what a canonical form is for.
type form int

const (
	whole    form = iota // everything: parses again to the same plan
	likeForm             // without release, target address and seed
	public               // without addresses, paths, header values, bodies, keys, commands
)

const leftOut = "left out"

// Canonical is the plan in its frozen form, which Parse reads as the same plan.
// What came from the environment stands in it as ${NAME}; what the plan itself
// says, addresses and header values included, is there.
func (p *Plan) Canonical() []byte { return p.print(whole) }

// Public is the canonical form for evidence: without addresses, paths, header
// values, bodies, keys, file names and commands. It is for people to read and
// does not parse.
func (p *Plan) Public() string { return string(p.print(public)) }

// Digest is the SHA-256 of the canonical form and of the files that Load read,
// in hexadecimal.
func (p *Plan) Digest() string { return p.digest(whole) }

// ComparableKey is Digest without release label, target address and seed: runs
// with the same key may be compared.
func (p *Plan) ComparableKey() string { return p.digest(likeForm) }

func (p *Plan) digest(f form) string {
	h := sha256.New()
	h.Write(p.print(f))
	files := slices.Clone(p.files)
	slices.SortFunc(files, func(a, b fileDigest) int { return strings.Compare(a.name, b.name) })
	for _, file := range slices.Compact(files) {
		h.Write([]byte("# " + file.name + " " + file.sum + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (p *Plan) print(f form) []byte {
	var b strings.Builder
	emit(&b, p.tree(f), "")
	return []byte(b.String())
}

// hidden is a value that does not belong into evidence.
func (f form) hidden(s string) string {
	if f == public && s != "" {
		return leftOut
	}
	return s
}

func (p *Plan) tree(f form) branch {
	var b branch
	b.add("name", p.Name)
	if f != likeForm {
		b.some("release", p.Release)
		b.add("seed", plain(strconv.FormatUint(p.Seed, 10)))
	}
	b.add("target", p.Target.tree(f))
	b.sub("http", p.HTTP.tree(f, p.usualVersion()))
	p.Arrivals.tree(&b, f)
	b.add("load", p.Load.tree())
	if w := p.Warmup; w != nil {
		v := branch{{"length", text(w.Length)}}
		v.real("rate", w.Rate, 0)
		b.add("warmup", v)
	}
	normal := time.Second
	if p.Load.Soak != nil {
		normal = 10 * time.Second
	}
	b.span("interval", p.Interval, normal)
	b.sub("data", p.dataTree(f))
	if p.MixFile != "" {
		mix := branch{{"from_profile", f.hidden(p.MixFile)}}
		if methods := []any{}; !slices.Equal(p.MixMethods, []string{"GET", "HEAD"}) {
			for _, m := range p.MixMethods {
				methods = append(methods, m)
			}
			mix.add("methods", methods)
		}
		b.sub("requests", mix)
	} else {
		b.list("requests", p.requestTree(f))
	}
	b.sub("retries", p.Retries.tree())
	p.worldTree(&b, f)
	if v := p.Production; v != nil {
		if v.Profile != "" {
			t := branch{{"profile", f.hidden(v.Profile)}}
			t.span("resolution", v.Resolution, time.Minute)
			b.add("production", t)
		}
	}
	if v := p.Production; v != nil && v.Profile == "" {
		t := branch{{"peak", plain(number(v.Peak))}}
		t.span("window", v.Window, 90*day)
		t.span("resolution", v.Resolution, time.Second)
		t.some("taken", v.Taken)
		t.some("source", v.Source)
		t.some("daily", f.hidden(v.Daily))
		b.add("production", t)
	}
	var gates, abort []any
	for _, g := range p.Gates {
		gates = append(gates, g.Rule)
	}
	for _, a := range p.Abort {
		abort = append(abort, a.Rule)
	}
	b.list("gates", gates)
	b.list("abort", abort)
	return b
}

func (t *Target) tree(f form) branch {
	var b branch
	switch {
	case t.URL != nil:
		url := f.hidden(t.URL.Text.plain)
		if f == likeForm {
			url = ""
		}
		b.add("url", url)
	case t.BuiltIn != nil:
		var v branch
		for _, s := range t.BuiltIn.written {
			switch _, isNumber := decimal(s.value); {
			case s.name == "depends" || s.name == "log":
				v.add(s.name, f.hidden(s.value))
			case isNumber:
				v.add(s.name, plain(s.value))
			default:
				v.add(s.name, s.value)
			}
		}
		b.add("builtin", v)
	case t.Exec != nil:
		v := branch{{"command", texts(f, t.Exec.Command)}}
		v.some("ready", f.hidden(t.Exec.Ready))
		var env branch
		for _, e := range t.Exec.Env {
			env.add(e.Name, f.hidden(e.Value.plain))
		}
		v.sub("env", env)
		v.some("cpus", t.Exec.CPUs)
		v.span("timeout", t.Exec.Timeout, 30*time.Second)
		b.add("exec", v)
	}
	return b
}

func texts(f form, all []Text) []any {
	out := []any{}
	for _, t := range all {
		out = append(out, f.hidden(t.plain))
	}
	return out
}

func (h *HTTP) tree(f form, version string) (b branch) {
	if h.Version != version {
		b.add("version", h.Version)
	}
	b.span("timeout", h.Timeout, 2*time.Second)
	b.span("deadline", h.Deadline, h.Timeout)
	b.flag("keepalive", h.KeepAlive, true)
	b.count("max_connections", int64(h.MaxConns), 0)
	b.count("max_requests_per_connection", int64(h.MaxPerConn), 0)
	b.count("max_in_flight", int64(h.MaxInFlight), 20000)
	b.span("idle_timeout", h.IdleTimeout, 90*time.Second)
	b.some("source_address", f.hidden(h.SourceAddress))
	b.sub("headers", headerTree(f, h.Headers))
	var t branch
	t.some("ca", f.hidden(h.TLS.CA.plain))
	t.some("cert", f.hidden(h.TLS.Cert.plain))
	t.some("key", f.hidden(h.TLS.Key.plain))
	t.some("server_name", f.hidden(h.TLS.ServerName))
	t.flag("insecure", h.TLS.Insecure, false)
	t.flag("resumption", h.TLS.Resumption, true)
	b.sub("tls", t)
	var names branch
	for _, r := range h.Resolve {
		if f != public {
			names.add(r.From.value, r.To.plain)
		}
	}
	b.sub("resolve", names)
	return b
}

// headerTree lists headers by name.
func headerTree(f form, all []Header) (b branch) {
	for _, h := range all {
		b.add(h.Name, f.hidden(h.Value.plain))
	}
	slices.SortStableFunc(b, func(x, y entry) int { return strings.Compare(strings.ToLower(x.key), strings.ToLower(y.key)) })
	return b
}

func (a *Arrivals) tree(b *branch, f form) {
	switch a.Kind {
	case "constant":
		b.add("arrivals", a.Kind)
	case "trace":
		v := branch{{"trace", f.hidden(a.File)}}
		v.real("scale", a.Scale, 0)
		b.add("arrivals", v)
	case "poisson", "bursty":
		if a.Profile {
			v := branch{{"profile", f.hidden(a.File)}}
			v.flag("curve", a.Shaped, false)
			b.add("arrivals", v)
			return
		}
		if a.Kind == "poisson" {
			return
		}
		b.add("arrivals", branch{{"bursty", branch{{"dispersion", plain(number(a.Dispersion))}}}})
	}
}

func (l *Shape) tree() branch {
	var b branch
	switch {
	case l.Step != nil:
		return branch{{"step", l.Step.tree()}}
	case l.Burst != nil:
		b.add("base", plain(number(l.Burst.Base)))
		b.add("factor", plain(number(l.Burst.Factor)))
		b.add("length", text(l.Burst.Length))
		b.add("before", text(l.Burst.Before))
		b.add("after", text(l.Burst.After))
		return branch{{"burst", b}}
	case l.Soak != nil:
		if l.Soak.OfKnee > 0 {
			// Rate is what the caller made of it, and not the plan's.
			b.add("of_knee", plain(number(l.Soak.OfKnee)))
			b.add("knee_from", l.Soak.KneeFrom)
		} else {
			b.add("rate", plain(number(l.Soak.Rate)))
		}
		b.add("length", text(l.Soak.Length))
		return branch{{"soak", b}}
	case l.Chaos != nil:
		return branch{{"chaos", l.Chaos.tree()}}
	case l.Steady != nil:
		return branch{{"steady", l.Steady.tree()}}
	case l.Closed != nil:
		c := l.Closed
		b.add("users", plain(strconv.Itoa(c.Users)))
		if c.Pacing > 0 {
			b.add("pacing", text(c.Pacing))
		} else {
			b.add("think", text(c.Think))
		}
		b.add("length", text(c.Length))
		b.count("by", int64(c.By), 0)
		b.count("to", int64(c.To), 0)
		return branch{{"closed", b}}
	case l.Ramp != nil:
		b.add("from", plain(number(l.Ramp.From)))
		b.add("to", plain(number(l.Ramp.To)))
		b.add("length", text(l.Ramp.Length))
		return branch{{"ramp", b}}
	}
	return b
}

func (s *SteadyLoad) tree() branch {
	var b branch
	b.real("rate", s.Rate, 0)
	b.add("length", text(s.Length))
	return b
}

func (s *StepLoad) tree() (b branch) {
	if s.Auto {
		b.add("from", "auto")
	} else {
		b.add("from", plain(number(s.From)))
	}
	b.real("by", s.By, 0)
	b.real("factor", s.Factor, 0)
	b.real("to", s.To, 0)
	if s.Within > 0 {
		b.add("within", text(s.Within))
	} else {
		b.add("plateau", text(s.Plateau))
		b.add("settle", text(s.Settle))
	}
	b.add("drain", text(s.Drain))
	b.add("stop_after", plain(strconv.Itoa(s.StopAfter)))
	b.add("refine", plain(strconv.Itoa(s.Refine)))
	beyond := []any{}
	for _, m := range s.Beyond {
		beyond = append(beyond, plain(number(m)))
	}
	b.add("beyond", beyond)
	return b
}

func (p *Plan) dataTree(f form) (b branch) {
	for _, s := range p.Data {
		if s.implied {
			continue // requests says so
		}
		var v branch
		switch s.Kind {
		case "choice":
			var c branch
			for _, choice := range s.Choices {
				if f != public {
					c.add(choice.Value, plain(number(choice.Weight)))
				}
			}
			slices.SortStableFunc(c, func(x, y entry) int { return strings.Compare(x.key, y.key) })
			v.add("choice", c)
		case "zipf":
			z := branch{{"count", plain(strconv.FormatUint(s.Count, 10))}, {"exponent", plain(number(s.Exponent))}}
			z.count("first", int64(s.First), 1)
			v.add("zipf", z)
		case "file":
			v.add("file", f.hidden(s.File))
			if s.Order != "random" {
				v.add("order", s.Order)
			}
		case "range":
			v.add("range", []any{plain(strconv.FormatInt(s.From, 10)), plain(strconv.FormatInt(s.To, 10))})
		case "profile":
			v.add("profile", f.hidden(s.File))
			v.some("route", f.hidden(s.Route))
			v.some("at", f.hidden(s.At))
			v.count("first", int64(s.First), 1)
			v.some("values", f.hidden(s.Values))
		}
		b.add(s.Name, v)
	}
	slices.SortFunc(b, func(x, y entry) int { return strings.Compare(x.key, y.key) })
	return b
}
