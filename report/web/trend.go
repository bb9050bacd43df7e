package web

import (
	"context"
	"net/http"
	"slices"

	"headroom/analyze"
	"headroom/report"
)

// trendData is what the template of a trend sees.
type trendData struct {
	Names    []string
	Name     string
	P        *report.Parts
	Pictures []shown
	Files    []fileLink
	Runs     []Entry // those of the trend, the latest first
	Left     int     // runs before the first that is shown
}

// trendOf analyses the latest runs of a plan.
func (s *Server) trendOf(ctx context.Context, name string, metrics []string) (t *analyze.TrendResult, used []Entry, left int, err error) {
	all, err := s.entries(ctx)
	if err != nil {
		return nil, nil, 0, err
	}
	all = slices.DeleteFunc(slices.Clone(all), func(e Entry) bool { return !e.Readable() || e.Header.Name != name })
	if len(all) == 0 {
		return nil, nil, 0, notFound("no run of a plan of this name can be read")
	}
	left = max(0, len(all)-maxTrend)
	used = all[left:]
	var runs []*analyze.Analysis
	for i := range used {
		a, err := s.brief(ctx, &used[i])
		if ctx.Err() != nil {
			return nil, nil, 0, ctx.Err()
		}
		if err != nil { // one bad file does not take the trend away
			s.cfg.Log("trend: %v", err)
			continue
		}
		runs = append(runs, a)
	}
	t, err = analyze.Trend(runs, analyze.TrendOptions{Metrics: metrics})
	if err != nil {
		return nil, nil, 0, badRequest("%v", err)
	}
	return t, used, left, nil
}

// trendNamed is the trend that a request names.
func (s *Server) trendNamed(r *http.Request) (*analyze.TrendResult, error) {
	name := r.URL.Query().Get("name")
	if name == "" {
		return nil, badRequest("a trend is of a plan: ?name=NAME")
	}
	t, _, _, err := s.trendOf(r.Context(), name, r.URL.Query()["metric"])
	return t, err
}

func (s *Server) apiTrend(w http.ResponseWriter, r *http.Request) error {
	t, err := s.trendNamed(r)
	if err != nil {
		return err
	}
	b, err := report.TrendJSON(t)
	if err != nil {
		return err
	}
	return writeBody(w, http.StatusOK, b)
}

func (s *Server) trendPage(w http.ResponseWriter, r *http.Request, p *pageOf) error {
	q := r.URL.Query()
	d := &trendData{Name: q.Get("name")}
	all, err := s.entries(r.Context())
	if err != nil {
		return err
	}
	for i := len(all) - 1; i >= 0; i-- {
		if n := all[i].Header.Name; all[i].Readable() && !slices.Contains(d.Names, n) && len(d.Names) < 500 {
			d.Names = append(d.Names, n)
		}
	}
	if d.Name == "" && len(d.Names) > 0 {
		d.Name = d.Names[0] // the plan that ran last
		q.Set("name", d.Name)
	}
	slices.Sort(d.Names)
	if d.Name != "" {
		var t *analyze.TrendResult
		if t, d.Runs, d.Left, err = s.trendOf(r.Context(), d.Name, q["metric"]); err != nil {
			return err
		}
		if d.P, err = report.TrendParts(t, p.L.lang); err != nil {
			return err
		}
		slices.Reverse(d.Runs)
		d.Pictures, d.Files = p.made(report.TrendPictures(t, p.L.lang), "trend", q), p.told("trend", q)
	}
	p.Title, p.Where, p.Data = p.W.Trend, "trend", d
	return p.show(w, "trend", http.StatusOK)
}

// trendFile answers a picture or a download of a trend.
func (s *Server) trendFile(w http.ResponseWriter, r *http.Request, p *pageOf) error {
	t, err := s.trendNamed(r)
	if err != nil {
		return err
	}
	return p.answer(w, r.PathValue("file"), "trend", report.TrendPictures(t, p.L.lang), map[string]func() ([]byte, error){
		"html": func() ([]byte, error) { return report.TrendHTML(t, p.L.lang) },
		"md":   func() ([]byte, error) { return report.TrendMarkdown(t, p.L.lang), nil },
		"csv":  func() ([]byte, error) { return report.TrendCSV(t) },
		"json": func() ([]byte, error) { return report.TrendJSON(t) },
	})
}
