package web

import (
	"bytes"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"

	"headroom/report"
	"headroom/store/record"
)

// fileLink is a download.
type fileLink struct{ Name, Href string }

// fixedFiles are what report writes for every run, beside the pictures.
var fixedFiles = []string{"report.html", "report.md", "analysis.json", "steps.csv", "intervals.csv", "junit.xml"}

var fileTypes = map[string]string{
	"html": "text/html; charset=utf-8", "md": "text/markdown; charset=utf-8", "json": "application/json", "csv": "text/csv; charset=utf-8",
	"xml": "application/xml", "svg": "image/svg+xml", "png": "image/png",
}

func (p *pageOf) files(e *Entry, set *pictureSet) []fileLink {
	var all []fileLink
	add := func(name string) { all = append(all, fileLink{name, p.To("runs", e.Key, "files", name)}) }
	for _, name := range fixedFiles {
		add(name)
	}
	for _, name := range set.names {
		add(name + ".svg")
		add(name + ".png")
	}
	return all
}

// file answers one file of a report, as a download.
func (s *Server) file(w http.ResponseWriter, r *http.Request, p *pageOf) error {
	name := r.PathValue("file")
	ctx := r.Context()
	e, err := s.readable(ctx, r.PathValue("id"))
	if err != nil {
		return err
	}
	a, err := s.analysis(ctx, e)
	if err != nil {
		return err
	}
	body, err := s.fileOf(r, p, e, a, name)
	if err != nil {
		return err
	}
	return send(w, name, fileName(e, name), body)
}

// send answers a file, as a download where it has a name for the reader's disk.
func send(w http.ResponseWriter, name, download string, body []byte) error {
	ext := strings.TrimPrefix(path.Ext(name), ".")
	w.Header().Set("Content-Security-Policy", filePolicy)
	w.Header().Set("Content-Type", fileTypes[ext])
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if download != "" {
		w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": download}))
	}
	_, _ = w.Write(body)
	return nil
}

// fileName is what a download is called on the reader's disk: plain letters only.
func fileName(e *Entry, name string) string {
	id := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' {
			return c
		}
		return '_'
	}, e.Key)
	return strings.TrimLeft(id, ".") + "-" + name
}

func (s *Server) fileOf(r *http.Request, p *pageOf, e *Entry, a *analysed, name string) ([]byte, error) {
	ctx := r.Context()
	switch name {
	case "analysis.json":
		return a.json, nil
	case "report.md":
		return report.Markdown(a.a, p.L.lang), nil
	case "steps.csv":
		return report.StepsCSV(a.a)
	case "junit.xml":
		return report.JUnit(a.a)
	case "report.html":
		ev, err := s.cfg.Library.Open(ctx, *e)
		if err != nil {
			return nil, err
		}
		defer ev.Close()
		return report.HTML(a.a, ev, p.L.lang)
	case "intervals.csv":
		ev, err := s.cfg.Library.Open(ctx, *e)
		if err != nil {
			return nil, err
		}
		defer ev.Close()
		var b bytes.Buffer
		err = record.WriteIntervalsCSV(&b, ev)
		return b.Bytes(), err
	}
	stem, ext, _ := strings.Cut(name, ".")
	if ext != "svg" && ext != "png" {
		return nil, notFound("there is no file " + clip(name, 40))
	}
	set, err := s.picturesOf(ctx, e, a, p.L, span{})
	if err != nil {
		return nil, err
	}
	if ext == "png" {
		return set.png(stem)
	}
	d, err := set.draw(stem)
	if err != nil {
		return nil, err
	}
	return d.svg, nil
}

func (p *pictureSet) png(name string) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.figures[name]
	if f == nil {
		return nil, notFound("this run has no picture " + clip(name, 40))
	}
	return f.PNG()
}
