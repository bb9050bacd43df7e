package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"headroom/analyze"
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
	C         *analyze.Comparison
	Force     bool
	Diff      string // address of the diff of the first runs
	JSON      string
}

func sides(q url.Values) (base, new []string, err error) {
	base, new = q["base"], q["new"]
	if len(base) > maxSide || len(new) > maxSide {
		return nil, nil, badRequest("at most %d runs a side", maxSide)
	}
	return base, new, nil
}

// sidesOf analyses both sides of a comparison.
func (s *Server) sidesOf(ctx context.Context, base, new []string) (b, n []*analyze.Analysis, err error) {
	for _, side := range []struct {
		keys []string
		out  *[]*analyze.Analysis
	}{{base, &b}, {new, &n}} {
		for _, k := range side.keys {
			e, err := s.readable(ctx, k)
			if err != nil {
				return nil, nil, err
			}
			a, err := s.analysis(ctx, e)
			if err != nil {
				return nil, nil, err
			}
			*side.out = append(*side.out, a.a)
		}
	}
	return b, n, nil
}

func (s *Server) compared(r *http.Request) (*analyze.Comparison, error) {
	base, new, err := sides(r.URL.Query())
	if err != nil {
		return nil, err
	}
	if len(base) == 0 || len(new) == 0 {
		return nil, badRequest("a comparison has ?base=RUN and ?new=RUN, each once or several times")
	}
	b, n, err := s.sidesOf(r.Context(), base, new)
	if err != nil {
		return nil, err
	}
	c, err := analyze.Compare(b, n, analyze.CompareOptions{Force: r.URL.Query().Get("force") != "", Metrics: r.URL.Query()["metric"]})
	if err != nil {
		return nil, badRequest("%v", err)
	}
	return c, nil
}

func (s *Server) apiCompare(w http.ResponseWriter, r *http.Request) error {
	c, err := s.compared(r)
	if err != nil {
		return err
	}
	return writeJSON(w, c)
}

func (s *Server) comparePage(w http.ResponseWriter, r *http.Request, p *pageOf) error {
	q := r.URL.Query()
	base, new, err := sides(q)
	if err != nil {
		return err
	}
	d := &compareData{Base: map[string]bool{}, New: map[string]bool{}, Force: q.Get("force") != ""}
	for _, k := range base {
		d.Base[k] = true
	}
	for _, k := range new {
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
	if len(base) > 0 && len(new) > 0 {
		if d.C, err = s.compared(r); err != nil {
			return err
		}
		d.Diff = With(p.To("diff"), "a", base[0], "b", new[0])
		d.JSON = "/api/v1/compare?" + q.Encode()
	}
	p.Title, p.Where, p.Data, p.Script = p.W.Compare, "compare", d, true
	return p.show(w, "compare", http.StatusOK)
}

// trendData is what the template of a trend sees.
type trendData struct {
	Names []string
	Name  string
	T     *analyze.TrendResult
	Cards []trendCard
	Left  int // runs before the first that is shown
	JSON  string
}

// trendOf analyses the latest runs of a plan.
func (s *Server) trendOf(ctx context.Context, name string, metrics []string) (t *analyze.TrendResult, left int, err error) {
	all, err := s.entries(ctx)
	if err != nil {
		return nil, 0, err
	}
	all = slices.DeleteFunc(slices.Clone(all), func(e Entry) bool { return !e.Readable() || e.Header.Name != name })
	if len(all) == 0 {
		return nil, 0, notFound("no run of a plan of this name can be read")
	}
	left = max(0, len(all)-maxTrend)
	var runs []*analyze.Analysis
	for i := range all[left:] {
		a, err := s.analysis(ctx, &all[left+i])
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		if err != nil { // one bad file does not take the trend away
			s.cfg.Log("trend: %v", err)
			continue
		}
		runs = append(runs, a.a)
	}
	t, err = analyze.Trend(runs, analyze.TrendOptions{Metrics: metrics})
	if err != nil {
		return nil, 0, badRequest("%v", err)
	}
	return t, left, nil
}

func (s *Server) apiTrend(w http.ResponseWriter, r *http.Request) error {
	name := r.URL.Query().Get("name")
	if name == "" {
		return badRequest("a trend is of a plan: ?name=NAME")
	}
	t, _, err := s.trendOf(r.Context(), name, r.URL.Query()["metric"])
	if err != nil {
		return err
	}
	return writeJSON(w, t)
}

func (s *Server) trendPage(w http.ResponseWriter, r *http.Request, p *pageOf) error {
	d := &trendData{Name: r.URL.Query().Get("name")}
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
	}
	slices.Sort(d.Names)
	if d.Name != "" {
		if d.T, d.Left, err = s.trendOf(r.Context(), d.Name, r.URL.Query()["metric"]); err != nil {
			return err
		}
		d.JSON = With("/api/v1/trend", "name", d.Name)
		for i := range d.T.Metrics {
			d.Cards = append(d.Cards, p.trendCard(&d.T.Metrics[i]))
		}
	}
	p.Title, p.Where, p.Data = p.W.Trend, "trend", d
	return p.show(w, "trend", http.StatusOK)
}
