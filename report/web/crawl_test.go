package web_test

import (
	"context"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"headroom/report/web"
)

// served is a server whose summaries are known.
func served(t testing.TB, lib web.Library, change func(*web.Config)) (*httptest.Server, *web.Server) {
	t.Helper()
	cfg := web.Config{Library: lib, Now: time.Now, Version: "test", Log: func(format string, args ...any) { t.Logf(format, args...) }}
	if change != nil {
		change(&cfg)
	}
	s := web.New(cfg)
	s.WarmOnce(context.Background())
	ts := httptest.NewServer(s)
	t.Cleanup(ts.Close)
	return ts, s
}

// wellFormed reads a page as XML: every element is closed, every attribute is
// quoted, every reference is known. It returns the addresses in it and the ids.
func wellFormed(t testing.TB, where, kind string, body []byte) (links []string, ids map[string]bool) {
	t.Helper()
	ids = map[string]bool{}
	d := xml.NewDecoder(strings.NewReader(string(body)))
	d.Strict, d.Entity = true, xml.HTMLEntity
	depth := 0
	for {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Errorf("%s: not well-formed: %v", where, err)
			return links, ids
		}
		switch e := tok.(type) {
		case xml.StartElement:
			depth++
			for _, a := range e.Attr {
				switch a.Name.Local {
				case "href", "src", "action", "data-hover", "data-now":
					links = append(links, a.Value)
				case "id":
					if ids[a.Value] {
						t.Errorf("%s: id %q twice", where, a.Value)
					}
					ids[a.Value] = true
				case "style":
					if kind != "image/svg+xml" { // pictures have a policy of their own
						t.Errorf("%s: attribute style, which the policy forbids", where)
					}
				case "onclick", "onload", "onerror":
					t.Errorf("%s: attribute %s, which the policy forbids", where, a.Name.Local)
				}
			}
			if e.Name.Local == "script" && !slices.ContainsFunc(e.Attr, func(a xml.Attr) bool { return a.Name.Local == "src" }) || e.Name.Local == "style" {
				t.Errorf("%s: an inline %s, which the policy forbids", where, e.Name.Local)
			}
		case xml.EndElement:
			depth--
		}
	}
	if depth != 0 {
		t.Errorf("%s: %d elements are not closed", where, depth)
	}
	return links, ids
}

// A crawler follows every link, in both languages: each answers 200, each page
// is well-formed, each fragment is there.
func TestCrawl(t *testing.T) {
	ts, _ := served(t, newShelf(t), nil)
	base, err := url.Parse(ts.URL)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	pages := map[string]map[string]bool{} // ids of pages
	var fragments [][3]string
	queue := []string{"/en/", "/pt/", "/healthz", "/metrics", "/api/v1/openapi.json"}
	from := map[string]string{}
	kinds := map[string]int{}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if seen[at] {
			continue
		}
		seen[at] = true
		if expensive(at) {
			continue
		}
		if len(seen) > 4000 {
			t.Fatal("the site has no end")
		}
		res, err := http.Get(ts.URL + at)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("%s (linked from %s): %s %v %s", at, from[at], res.Status, err, body)
			continue
		}
		kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
		kinds[kind]++
		switch kind {
		case "text/html":
			if res.Header.Get("Content-Disposition") != "" {
				break // a report: it has its own test
			}
			links, ids := wellFormed(t, at, kind, body)
			pages[res.Request.URL.RequestURI()] = ids
			here := res.Request.URL
			for _, l := range links {
				u, err := here.Parse(l)
				if err != nil {
					t.Errorf("%s: %q is not an address", at, l)
					continue
				}
				if u.Host != base.Host {
					t.Errorf("%s leads elsewhere: %s", at, l)
					continue
				}
				next := u.RequestURI()
				if u.Fragment != "" {
					fragments = append(fragments, [3]string{at, next, u.Fragment})
				}
				if from[next] == "" {
					from[next] = at
				}
				queue = append(queue, next)
			}
		case "image/svg+xml":
			wellFormed(t, at, kind, body)
		}
	}
	for _, f := range fragments {
		if ids, ok := pages[f[1]]; ok && !ids[f[2]] {
			t.Errorf("%s leads to #%s of %s, which is not there", f[0], f[2], f[1])
		}
	}
	t.Logf("%d addresses: %v", len(seen), kinds)
	for _, want := range []string{"/en/runs/checkout-1", "/pt/runs/checkout-1", "/en/live/now-1", "/en/runs/left-2", "/en/trend?name=checkout"} {
		if !seen[want] {
			t.Errorf("%s was not found by following links", want)
		}
	}
	for _, ext := range []string{".html", ".md", ".json", ".csv", ".xml", ".svg", ".png"} {
		if !slices.ContainsFunc(queueKeys(seen), func(s string) bool { return strings.Contains(s, "/files/") && path.Ext(s) == ext }) {
			t.Errorf("no download of a %s file", ext)
		}
	}
}

// expensive are pictures of runs that look like others: drawing takes most of
// the time.
func expensive(at string) bool {
	return (strings.Contains(at, "checkout-2") || strings.Contains(at, "checkout-3")) && (strings.Contains(at, "/pictures/") || strings.Contains(at, "/files/")) ||
		strings.Contains(at, ".png") && !strings.HasPrefix(at, "/en/runs/checkout-1")
}

func queueKeys(m map[string]bool) []string {
	var all []string
	for k := range m {
		all = append(all, k)
	}
	return all
}
