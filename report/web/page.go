package web

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"headroom/report"
	"headroom/store/record"
)

//go:embed templates
var templates embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"plain": plain, "list": func(v ...any) []any { return v },
}).ParseFS(templates, "templates/*.tmpl"))

// plain takes characters that XML has not out of text that came from a plan.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' && r != '\t' || r == 0x7f || r >= 0xfffe && r <= 0xffff {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// pageOf is what every page has: its language and the request.
type pageOf struct {
	s      *Server
	L      *language
	W      *words
	Say    report.Speech
	r      *http.Request
	Title  string
	Where  string // which entry of the menu this is
	Data   any
	Script bool
	// Refresh is how often the page wants to be loaded again where there is no
	// script, in seconds; 0: never.
	Refresh int
}

// show renders a page completely before a byte of it is sent.
func (p *pageOf) show(w http.ResponseWriter, name string, status int) error {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, p); err != nil {
		return fmt.Errorf("page %s: %w", name, err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Language", p.L.lang)
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
	return nil
}

// failed says an error as a page.
func (s *Server) failed(w http.ResponseWriter, r *http.Request, p *pageOf, err error) {
	q := asProblem(err)
	if q.status >= 500 || q.status == http.StatusUnprocessableEntity {
		s.cfg.Log("%s: %v", r.URL.Path, err)
	}
	p.Title, p.Data, p.Where = p.W.CantShow, map[string]any{"Text": q.text, "Code": q.code}, ""
	p.Script, p.Refresh = false, 0
	if err := p.show(w, "error", q.status); err != nil {
		http.Error(w, q.text, q.status)
	}
}

// deny answers before a handler was found: as JSON for programs, as text for people.
func (s *Server) deny(w http.ResponseWriter, r *http.Request, status int, code, text string) {
	if strings.HasPrefix(r.URL.Path, "/api/") {
		writeProblem(w, &problem{status, code, text})
		return
	}
	http.Error(w, text, status)
}

// To makes an address within the pages of this language. Parts of the path are
// escaped, so that a key is never more than one of them.
func (p *pageOf) To(parts ...string) string {
	var b strings.Builder
	b.WriteString("/" + p.L.path)
	for _, s := range parts {
		b.WriteString("/" + url.PathEscape(s))
	}
	return b.String()
}

// Home is the history.
func (p *pageOf) Home() string { return "/" + p.L.path + "/" }

// With adds a query of names and values in turn; empty values are left out.
func With(address string, query ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(query); i += 2 {
		if query[i+1] != "" {
			q.Add(query[i], query[i+1])
		}
	}
	if len(q) == 0 {
		return address
	}
	return address + "?" + q.Encode()
}

// With is With for templates.
func (p *pageOf) With(address string, query ...string) string { return With(address, query...) }

// Other is this page in the other language.
func (p *pageOf) Other() (links []link) {
	for _, l := range languages {
		if l == p.L {
			continue
		}
		u := *p.r.URL
		path := "/" + l.path + strings.TrimPrefix(u.EscapedPath(), "/"+p.L.path)
		if u.RawQuery != "" {
			path += "?" + u.Query().Encode()
		}
		links = append(links, link{Href: path, Text: l.name, Lang: l.lang})
	}
	return links
}

type link struct {
	Href, Text, Lang string
	Here             bool
}

// Menu is the way around.
func (p *pageOf) Menu() []link {
	m := []link{
		{Href: p.Home(), Text: p.W.History, Here: p.Where == "history"},
		{Href: p.To("trend"), Text: p.W.Trend, Here: p.Where == "trend"},
		{Href: p.To("compare"), Text: p.W.Compare, Here: p.Where == "compare"},
		{Href: p.To("api"), Text: "API", Here: p.Where == "api"},
	}
	return m
}

// Version is that of the server.
func (p *pageOf) Version() string { return p.s.cfg.Version }

// Date writes an instant in UTC.
func (p *pageOf) Date(t time.Time) string {
	if t.IsZero() {
		return p.Say.Absent()
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// Size writes bytes.
func (p *pageOf) Size(n int64) string {
	switch {
	case n >= 1e9:
		return p.Say.Number(float64(n)/1e9) + " GB"
	case n >= 1e6:
		return p.Say.Number(float64(n)/1e6) + " MB"
	case n >= 1e3:
		return p.Say.Number(float64(n)/1e3) + " kB"
	}
	return fmt.Sprintf("%d B", n)
}

// NameOf is how a run is called: its plan and its release.
func (p *pageOf) NameOf(e Entry) string {
	name := e.Header.Name
	if name == "" {
		name = e.Key
	}
	if e.Header.Release != "" {
		name += " · " + e.Header.Release
	}
	return name
}

// StateOf is the word for the state of an entry.
func (p *pageOf) StateOf(e Entry) report.Badge {
	switch {
	case e.Refused != "":
		return report.Badge{Word: p.W.RefusedState, Tone: "bad", Sign: "✗"}
	case e.Recording:
		return report.Badge{Word: p.Say.Code(string(record.Recording)), Tone: "doubt", Sign: "●"}
	}
	return p.Say.Badge(string(e.State))
}

// Refreshing reports whether the page loads itself again where there is no script.
func (p *pageOf) Refreshing() string {
	if p.Refresh == 0 {
		return ""
	}
	return fmt.Sprint(p.Refresh)
}

// labels are the words that the script says, as JSON.
func (p *pageOf) labels() string {
	b, err := json.Marshal(p.W.HoverWords)
	if err != nil { // a map of strings
		return "{}"
	}
	return string(b)
}
