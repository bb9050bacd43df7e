package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"headroom/analyze"
	"headroom/report"
)

// most runs on one side of a comparison, and in a trend.
const (
	maxSide  = 50
	maxTrend = 200
)

// compareData is what the template of a comparison sees.
type compareData struct {
	Runs      []Entry // to choose from, the latest first
	Base, New map[string]bool
	P         *report.Parts // nil: nothing is chosen yet
	Pictures  []shown
	Files     []fileLink
	Force     bool
	Diff      string // address of the diff of the first runs
}

// comparison is a comparison with what it was made of.
type comparison struct {
	c         *analyze.Comparison
	base, new []*analyze.Analysis
}

// brief analyses a run for comparisons and trends, or uses its whole analysis
// where that is there.
func (s *Server) brief(ctx context.Context, e *Entry) (*analyze.Analysis, error) {
	if a, ok := s.analyses.peek(e.Version); ok {
		return a.a, nil
	}
	a, err := s.analyses.get(ctx, e.Version+"\x00brief", func() (*analysed, int64, error) {
		a, err := s.analyse(ctx, e, true)
		if err != nil {
			return nil, 0, err
		}
		s.digests.put(e.Version, summaryOf(a), 1)
		return &analysed{a: a}, 128 << 10, nil
	})
	if err != nil {
		return nil, err
	}
	return a.a, nil
}

func (s *Server) compared(r *http.Request) (*comparison, error) {
	q := r.URL.Query()
	if len(q["base"]) == 0 || len(q["new"]) == 0 {
		return nil, badRequest("a comparison has ?base=RUN and ?new=RUN, each once or several times")
	}
	if len(q["base"]) > maxSide || len(q["new"]) > maxSide {
		return nil, badRequest("at most %d runs a side", maxSide)
	}
	var out comparison
	for _, side := range []struct {
		keys []string
		into *[]*analyze.Analysis
	}{{q["base"], &out.base}, {q["new"], &out.new}} {
		for _, k := range side.keys {
			e, err := s.readable(r.Context(), k)
			if err != nil {
				return nil, err
			}
			a, err := s.brief(r.Context(), e)
			if err != nil {
				return nil, err
			}
			*side.into = append(*side.into, a)
		}
	}
	var err error
	out.c, err = analyze.Compare(out.base, out.new, analyze.CompareOptions{Force: q.Get("force") != "", Metrics: q["metric"]})
	if err != nil {
		return nil, badRequest("%v", err)
	}
	return &out, nil
}

func (s *Server) apiCompare(w http.ResponseWriter, r *http.Request) error {
	c, err := s.compared(r)
	if err != nil {
		return err
	}
	b, err := report.CompareJSON(c.c)
	if err != nil {
		return err
	}
	return writeBody(w, http.StatusOK, b)
}

func (s *Server) comparePage(w http.ResponseWriter, r *http.Request, p *pageOf) error {
	q := r.URL.Query()
	d := &compareData{Base: map[string]bool{}, New: map[string]bool{}, Force: q.Get("force") != ""}
	for _, k := range q["base"] {
		d.Base[k] = true
	}
	for _, k := range q["new"] {
		d.New[k] = true
	}
	all, err := s.entries(r.Context())
	if err != nil {
		return err
	}
	for i := len(all) - 1; i >= 0; i-- {
		chosen := d.Base[all[i].Key] || d.New[all[i].Key]
		if all[i].Readable() && (len(d.Runs) < 200 || chosen) {
			d.Runs = append(d.Runs, all[i])
		}
	}
	if len(d.Base) > 0 && len(d.New) > 0 {
		c, err := s.compared(r)
		if err != nil {
			return err
		}
		if d.P, err = report.CompareParts(c.c, p.L.lang); err != nil {
			return err
		}
		d.Pictures = p.made(report.ComparePictures(c.c, c.base, c.new, p.L.lang), "compare", q)
		d.Files = p.told("compare", q)
		d.Diff = With(p.To("diff"), "a", q.Get("base"), "b", q.Get("new"))
	}
	p.Title, p.Where, p.Data, p.Script = p.W.Compare, "compare", d, true
	return p.show(w, "compare", http.StatusOK)
}

// made are pictures that are drawn when their address, with this page's query,
// is asked for.
func (p *pageOf) made(pictures []report.Picture, kind string, q url.Values) []shown {
	var all []shown
	for _, f := range pictures {
		all = append(all, shown{Name: f.Name, Title: f.Figure.Title(), Caption: f.Figure.About(), Src: p.To(kind, f.Name+".svg") + "?" + q.Encode()})
	}
	return all
}

// told are the downloads of a comparison or a trend.
func (p *pageOf) told(kind string, q url.Values) []fileLink {
	var all []fileLink
	for _, ext := range []string{"html", "md", "csv", "json"} {
		all = append(all, fileLink{kind + "." + ext, p.To(kind, kind+"."+ext) + "?" + q.Encode()})
	}
	return all
}

// compareFile answers a picture or a download of a comparison.
func (s *Server) compareFile(w http.ResponseWriter, r *http.Request, p *pageOf) error {
	c, err := s.compared(r)
	if err != nil {
		return err
	}
	return p.answer(w, r.PathValue("file"), "compare", report.ComparePictures(c.c, c.base, c.new, p.L.lang), map[string]func() ([]byte, error){
		"html": func() ([]byte, error) { return report.CompareHTML(c.c, c.base, c.new, p.L.lang) },
		"md":   func() ([]byte, error) { return report.CompareMarkdown(c.c, p.L.lang), nil },
		"csv":  func() ([]byte, error) { return report.CompareCSV(c.c) },
		"json": func() ([]byte, error) { return report.CompareJSON(c.c) },
	})
}

// answer sends one of some pictures, or a download kind.ext.
func (p *pageOf) answer(w http.ResponseWriter, name, kind string, pictures []report.Picture, files map[string]func() ([]byte, error)) error {
	for ext, make := range files {
		if name == kind+"."+ext {
			b, err := make()
			if err != nil {
				return err
			}
			return send(w, name, "headroom-"+name, b)
		}
	}
	i := slices.IndexFunc(pictures, func(f report.Picture) bool { return f.Name+".svg" == name })
	if i < 0 {
		return notFound("there is no " + clip(name, 40) + " here")
	}
	svg, err := pictures[i].Figure.SVG()
	if err != nil {
		return err
	}
	return send(w, name, "", svg)
}
