package request

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// call is one request as it was written or recorded.
type call struct {
	method   string
	target   string // scheme://host[:port], or unix:///socket
	path     string // as sent, without the query
	query    []pair
	headers  []pair
	body     string
	mime     string
	bodyFile string
	status   int // 0: unknown
}

// address sets target, path and query from a URL. A user in it becomes a
// header. Places stay what they are.
func (c *call) address(raw string) error {
	raw, _, _ = strings.Cut(raw, "#")
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		scheme, rest = "http", raw
	}
	scheme = strings.ToLower(scheme)
	if scheme != "http" && scheme != "https" {
		return fmt.Errorf("a URL of the scheme %s; a plan sends http and https", before(percent(scheme), ":"))
	}
	at := strings.IndexAny(rest, "/?")
	if at < 0 {
		at = len(rest)
	}
	host, rest := rest[:at], rest[at:]
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
		c.headers = append(c.headers, pair{name: "Authorization", value: "Basic user:password"})
	}
	if places.MatchString(host) {
		return fmt.Errorf("the host comes from the variable %s; write it out", places.FindStringSubmatch(host)[1])
	}
	u, err := url.Parse(scheme + "://" + host)
	if err != nil || u.Hostname() == "" || strings.ContainsFunc(u.Host, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("a URL without a host that a plan can name")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return fmt.Errorf("a URL with a port that is not 1 to 65535")
		}
	}
	host = strings.ToLower(u.Host)
	if scheme == "http" && u.Port() == "80" || scheme == "https" && u.Port() == "443" {
		host = strings.TrimSuffix(host, ":"+u.Port())
	}
	if strings.HasSuffix(host, ":") {
		host = net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[scheme])
	}
	c.target = scheme + "://" + host
	path, query, _ := strings.Cut(rest, "?")
	c.path, c.query = cmp.Or(path, "/"), append(pairs(query), c.query...)
	return nil
}

// group is a class in the making: calls of one method and path template.
type group struct {
	class
	calls    int
	query    []pair
	values   []map[string]int // by place in query: decoded values
	statuses map[int]int
	raw      string // body as it came
	other    int    // calls with another body
}

var graphOperation = regexp.MustCompile(`"operationName"\s*:\s*"([A-Za-z_][A-Za-z0-9_]{0,40})"`)

// group makes classes of calls, all of one target.
func (d *Draft) group(calls []call) {
	var groups []*group
	byKey := map[string]*group{}
	for _, c := range calls {
		path := d.template(c.path)
		names := make([]string, len(c.query))
		for i, p := range c.query {
			names[i] = p.name
		}
		slices.Sort(names)
		operation := ""
		if m := graphOperation.FindStringSubmatch(c.body); m != nil && !secretValue(m[1]) {
			operation = m[1]
		}
		key := strings.Join(append([]string{c.method, path, operation, before(c.mime, ";"), c.bodyFile}, names...), "\x00")
		g := byKey[key]
		if g == nil {
			g = &group{class: class{method: c.method, path: path}, query: c.query, statuses: map[int]int{}, raw: c.body}
			g.values = make([]map[string]int, len(c.query))
			if operation != "" {
				g.name = strings.ToLower(c.method) + "_" + operation
			}
			d.fill(g, c)
			byKey[key] = g
			groups = append(groups, g)
		}
		g.calls++
		g.statuses[c.status]++
		if c.body != g.raw {
			g.other++
		}
		for i, p := range g.query {
			if g.values[i] == nil {
				g.values[i] = map[string]int{}
			}
			if at := slices.IndexFunc(c.query, func(q pair) bool { return q.name == p.name }); at >= 0 {
				g.values[i][c.query[at].value]++
			}
		}
	}
	for _, g := range groups {
		d.close(g)
	}
}

// template folds the identifiers of a path into data sources, and leaves out
// what may be a secret in it.
func (d *Draft) template(path string) string {
	var b strings.Builder
	last := "id"
	for i, raw := range strings.Split(path, "/") {
		if i > 0 {
			b.WriteByte('/')
		}
		segment, _, _ := strings.Cut(raw, ";") // ;jsessionid= and the like
		if places.MatchString(segment) {
			b.WriteString(percentPlaces(segment))
			continue
		}
		text := segment
		if u, err := url.PathUnescape(segment); err == nil {
			text = u
		}
		switch {
		case identifies(text) && !slices.Contains(delicate, strings.ToLower(last)):
			v := d.source(last, b.String())
			v.add(text, 1)
			b.WriteString(source(v.name))
		case identifies(text) && !number.MatchString(text), secretValue(text):
			b.WriteString(d.secrets.leave(last+"_KEY", "a segment of a path after "+last))
		default:
			b.WriteString(strings.ReplaceAll(percent(text), "/", "%2F"))
			if text != "" {
				last = text
			}
		}
	}
	return b.String()
}

// maxBody bounds a body that stands in the plan, in bytes.
const maxBody = 16 << 10

// fill takes headers and body of a group from its first call.
func (d *Draft) fill(g *group, c call) {
	seen := map[string]bool{}
	for _, h := range c.headers {
		lower := strings.ToLower(h.name)
		if isNoise(h.name) || seen[lower] || !headerName.MatchString(h.name) || secretValue(h.name) {
			continue
		}
		seen[lower] = true
		g.headers = append(g.headers, pair{name: h.name, value: d.secrets.header(h.name, control.ReplaceAllString(h.value, " "))})
	}
	g.bodyFile = c.bodyFile
	if c.body == "" {
		return
	}
	text, ok := d.secrets.body(c.body, c.mime)
	if !ok || len(text) > maxBody {
		g.headers = slices.DeleteFunc(g.headers, func(h pair) bool { return strings.EqualFold(h.name, "Content-Type") })
		d.note("%s %s: its body is binary, multipart or longer than 16 kB and is left out; write it to a file and name it as body_file", c.method, shown(g.path))
		return
	}
	g.body = text
}

var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// shown is a text with places, for people.
func shown(s string) string { return comment(written(s, inField)) }

// close makes the class of a group.
func (d *Draft) close(g *group) {
	var parts []string
	for i, p := range g.query {
		repeated := slices.ContainsFunc(slices.Delete(slices.Clone(g.query), i, i+1), func(q pair) bool { return q.name == p.name })
		if len(g.values[i]) < 2 || repeated || p.bare || secretName(p.name) || secretValue(p.name) {
			parts = append(parts, d.secrets.encoded(p, "query parameter "))
			continue
		}
		parts = append(parts, percent(p.name)+"="+d.drawn(g, p.name, g.values[i]))
	}
	if len(parts) > 0 {
		g.path += "?" + strings.Join(parts, "&")
	}
	g.weight = float64(g.calls)
	if g.other > 0 {
		d.note("%s %s: %d of %d bodies differ from the first, which is sent", g.method, shown(g.path), g.other, g.calls)
	}
	g.expected(d)
	d.classes = append(d.classes, g.class)
}

// drawn is the place of a query parameter with several values.
func (d *Draft) drawn(g *group, name string, seen map[string]int) string {
	keys := slices.Sorted(maps.Keys(seen))
	for _, value := range keys {
		if _, kept := (&secrets{}).value(name, value, ""); !kept || places.MatchString(value) {
			return d.secrets.leave(name, "query parameter "+name)
		}
	}
	v := d.source(name, g.method+" "+g.path+"?"+name)
	for _, value := range keys {
		if !environment.MatchString(value) {
			v.add(value, seen[value])
		}
	}
	if len(v.order) == 0 {
		v.add("x", 1)
	}
	return source(v.name)
}

// expected says which statuses are right, as far as the recording tells.
func (g *group) expected(d *Draft) {
	other, failed := []string{}, 0
	for _, code := range slices.Sorted(maps.Keys(g.statuses)) {
		switch {
		case code >= 300 && code < 400 && code != 304:
			other = append(other, strconv.Itoa(code))
		case code >= 400:
			failed += g.statuses[code]
		}
	}
	if len(other) > 0 {
		if len(other) < len(g.statuses) {
			other = append([]string{"2xx"}, other...)
		}
		g.status = other
	}
	if failed == g.calls {
		d.note("%s %s: every answer in the recording was an error; the plan expects 2xx", g.method, shown(g.path))
	}
}
