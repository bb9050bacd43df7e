package plan

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Quick is a plan of one request, for those who have no plan yet.
type Quick struct {
	Name    string        // "" is quick
	URL     string        // whole URL of the request, query included, or unix:///socket
	Load    string        // value of load in YAML's short form, such as {steady: {rate: 10, length: 10s}}
	Timeout time.Duration // 0: the default
	// Interval is the width of an interval; 0: the default.
	Interval time.Duration
	Peak     float64 // production peak in requests per second; 0: unknown
	Gates    []string
}

// Plan writes the plan, which Parse reads. The error is one of the URL or the
// rate; that of the load comes from Parse.
func (q Quick) Plan() ([]byte, error) {
	target, path := q.URL, "/"
	if !strings.HasPrefix(q.URL, "unix:") {
		u, err := url.Parse(q.URL)
		if err != nil || u.Host == "" {
			return nil, errors.New("the URL is none; write http://host:port/path, https://host/path or unix:///path")
		}
		path = u.EscapedPath()
		if path == "" {
			path = "/"
		}
		if u.RawQuery != "" {
			path += "?" + u.RawQuery
		}
		u.Path, u.RawPath, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = "", "", "", false, "", ""
		target = u.String()
	}
	if _, wrong := parseURL(Literal(target)); wrong != "" {
		return nil, fmt.Errorf("the URL %s", wrong)
	}
	if q.Peak != 0 && (q.Peak < minRate || q.Peak > maxRate) {
		return nil, fmt.Errorf("a production peak of %v; write 0.001 to 10000000 requests per second", q.Peak)
	}
	path = strings.NewReplacer("{", "{{", "}", "}}").Replace(path)
	var b strings.Builder
	name := q.Name
	if name == "" {
		name = "quick"
	}
	fmt.Fprintf(&b, "name: %s\ntarget:\n  url: %s\n", name, word(Literal(target).plain))
	if q.Timeout > 0 {
		fmt.Fprintf(&b, "http:\n  timeout: %s\n", text(q.Timeout))
	}
	fmt.Fprintf(&b, "load: %s\n", q.Load)
	if q.Interval > 0 {
		fmt.Fprintf(&b, "interval: %s\n", text(q.Interval))
	}
	fmt.Fprintf(&b, "requests:\n  - class: all\n    get: %s\n", word(path))
	if q.Peak > 0 {
		fmt.Fprintf(&b, "production:\n  peak: %s\n", number(q.Peak))
	}
	if len(q.Gates) > 0 {
		b.WriteString("gates:\n")
		for _, g := range q.Gates {
			b.WriteString("  - " + word(g) + "\n")
		}
	}
	return []byte(b.String()), nil
}
