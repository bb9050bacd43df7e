package web

import (
	"context"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"

	"headroom/report"
	"headroom/report/plot"
	"headroom/store/record"
)

// pictureSet holds the figures of a stretch of a run in a language. They are
// drawn when they are first asked for.
type pictureSet struct {
	names  []string
	titles map[string]string
	course []moment

	mu      sync.Mutex
	figures map[string]*plot.Figure
	drawn   map[string]*drawing
}

type drawing struct {
	svg   []byte
	areas []plot.Area
}

// moment is what a pointer over a picture is told: one interval, or several
// where a run has very many. Absent values are null.
type moment struct {
	Start      float64  `json:"start_s"`
	Width      float64  `json:"width_s"`
	Phase      string   `json:"phase"`
	Step       int      `json:"step"`
	Intervals  int      `json:"intervals"`
	Offered    float64  `json:"offered_rps"`
	Goodput    float64  `json:"goodput_rps"`
	Shed       float64  `json:"shed_rps"`
	Errors     float64  `json:"error_rps"`
	InFlight   int64    `json:"in_flight"`
	Waiting    int64    `json:"waiting"`
	P50        *float64 `json:"response_p50_us"`
	P99        *float64 `json:"response_p99_us"`
	ServiceP99 *float64 `json:"service_p99_us"`
	LagP99     *float64 `json:"lag_p99_us"`
}

// maxMoments bounds what a page gets to hover over.
const maxMoments = 2500

// picturesOf gathers the figures of a run.
func (s *Server) picturesOf(ctx context.Context, e *Entry, a *analysed, l *language, sp span) (*pictureSet, error) {
	key := e.Version + "\x00" + l.path + "\x00" + sp.key()
	return s.pictures.get(ctx, key, func() (*pictureSet, int64, error) {
		ev, err := s.cfg.Library.Open(ctx, *e)
		if err != nil {
			return nil, 0, err
		}
		defer ev.Close()
		set := &pictureSet{figures: map[string]*plot.Figure{}, drawn: map[string]*drawing{}, titles: map[string]string{}}
		c := &courseOf{group: groupOf(ev, sp), hist: record.NewHistogram(ev.Header().MaxUS)}
		all, err := report.Pictures(a.a, &watched{Evidence: ev, span: sp, see: c.add}, l.lang)
		if err != nil {
			return nil, 0, err
		}
		c.flush()
		set.course = c.out
		for _, p := range all {
			set.names = append(set.names, p.Name)
			set.figures[p.Name], set.titles[p.Name] = p.Figure, p.Figure.Title()
		}
		return set, int64(c.seen)*800 + 1<<20, nil
	})
}

// draw draws one picture of the set, once.
func (p *pictureSet) draw(name string) (*drawing, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d := p.drawn[name]; d != nil {
		return d, nil
	}
	f := p.figures[name]
	if f == nil {
		return nil, notFound("this run has no picture " + clip(name, 40))
	}
	svg, areas, err := f.Render()
	if err != nil {
		return nil, err
	}
	d := &drawing{svg, areas}
	p.drawn[name] = d
	return d, nil
}

// groupOf is how many intervals one moment sums up.
func groupOf(ev record.Evidence, sp span) int {
	var last int64
	for _, p := range ev.Phases() {
		last = max(last, p.EndNS)
	}
	length := float64(last) / 1e9
	if !sp.whole() {
		length = min(length, sp.to) - sp.from
	}
	width := float64(ev.Header().IntervalNS) / 1e9
	return max(1, int(math.Ceil(length/width/maxMoments)))
}

// courseOf makes moments of intervals.
type courseOf struct {
	group, n, seen int
	hist           *record.Histogram
	at             moment
	phase          int
	out            []moment
}

func (c *courseOf) add(p record.Phase, iv *record.Interval) {
	c.seen++
	if c.n > 0 && (c.n >= c.group || iv.Phase != c.phase) {
		c.flush()
	}
	w := float64(iv.WidthNS) / 1e9
	total := iv.Total()
	if c.n == 0 {
		c.at, c.phase = moment{Start: float64(iv.StartNS) / 1e9, Phase: string(p.Kind), Step: p.Step}, iv.Phase
	}
	m := &c.at
	// Rates are sums until flush divides them by the width.
	m.Offered += float64(total.Scheduled)
	m.Goodput += float64(total.By[record.OK])
	m.Shed += float64(total.By[record.Shed])
	m.Errors += float64(total.Errors())
	m.Width += w
	m.InFlight, m.Waiting = iv.Moment.InFlight, iv.Moment.Waiting
	c.clocks(iv, func(cell *record.Cell) (a, b *record.Histogram) { return cell.OKResponse, cell.OtherResponse }, &m.P99, &m.P50)
	c.clocks(iv, func(cell *record.Cell) (a, b *record.Histogram) { return cell.Service, nil }, &m.ServiceP99, nil)
	c.clocks(iv, func(cell *record.Cell) (a, b *record.Histogram) { return cell.Lag, nil }, &m.LagP99, nil)
	c.n++
}

// clocks raises the percentiles to those of an interval, over all its classes.
func (c *courseOf) clocks(iv *record.Interval, pick func(*record.Cell) (a, b *record.Histogram), p99, p50 **float64) {
	*c.hist = *record.NewHistogram(c.hist.MaxUS())
	for i := range iv.Cells {
		a, b := pick(&iv.Cells[i])
		// One geometry: Open checked it.
		_ = c.hist.Merge(a)
		_ = c.hist.Merge(b)
	}
	if c.hist.Count() == 0 {
		return
	}
	raise := func(to **float64, q float64) {
		if v := c.hist.QuantileUS(q); *to == nil || v > **to {
			*to = &v
		}
	}
	raise(p99, 0.99)
	if p50 != nil {
		raise(p50, 0.5)
	}
}

func (c *courseOf) flush() {
	if c.n == 0 {
		return
	}
	m := c.at
	if m.Width > 0 {
		m.Offered, m.Goodput, m.Shed, m.Errors = m.Offered/m.Width, m.Goodput/m.Width, m.Shed/m.Width, m.Errors/m.Width
	}
	m.Intervals = c.n
	c.out = append(c.out, m)
	c.n = 0
}

// overTime are the pictures that show a stretch of the run.
var overTime = []string{"timeline", "resources", "heat", "lag"}

// picture answers an SVG.
func (s *Server) picture(w http.ResponseWriter, r *http.Request, p *pageOf) error {
	name, ok := strings.CutSuffix(r.PathValue("file"), ".svg")
	if !ok {
		return notFound("pictures end in .svg")
	}
	d, err := s.drawing(r, p.L, name)
	if err != nil {
		return err
	}
	return send(w, "picture.svg", "", d.svg)
}

// drawing finds and draws the picture that a request names.
func (s *Server) drawing(r *http.Request, l *language, name string) (*drawing, error) {
	set, err := s.pictureSet(r, l, name)
	if err != nil {
		return nil, err
	}
	return set.draw(name)
}

func (s *Server) pictureSet(r *http.Request, l *language, name string) (*pictureSet, error) {
	sp, err := parseSpan(r.URL.Query())
	if err != nil {
		return nil, err
	}
	if !slices.Contains(overTime, name) {
		sp = span{}
	}
	e, err := s.readable(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	a, err := s.analysis(r.Context(), e)
	if err != nil {
		return nil, err
	}
	return s.picturesOf(r.Context(), e, a, l, sp)
}

// hover is what a pointer over a picture needs.
type hover struct {
	Areas   []plot.Area `json:"areas"`
	Moments []moment    `json:"moments"` // pictures over time
	Steps   []hoverStep `json:"steps"`   // pictures over offered load
}

// hoverStep is one plateau of a knee curve.
type hoverStep struct {
	Index      int      `json:"index"`
	OfferedRPS float64  `json:"offered_rps"`
	GoodputRPS float64  `json:"goodput_rps"`
	Held       *bool    `json:"held"`
	P50        *float64 `json:"response_p50_us"`
	P99        *float64 `json:"response_p99_us"`
	ServiceP99 *float64 `json:"service_p99_us"`
}

// hoverData answers the JSON behind a picture.
func (s *Server) hoverData(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("picture")
	l := languages[0]
	if q := r.URL.Query().Get("lang"); q != "" {
		lang, err := report.ParseLang(q)
		if err != nil {
			return badRequest("%v", err)
		}
		l = languageOf(lang)
	}
	set, err := s.pictureSet(r, l, name)
	if err != nil {
		return err
	}
	d, err := set.draw(name)
	if err != nil {
		return err
	}
	h := hover{Areas: d.areas, Moments: []moment{}, Steps: []hoverStep{}}
	if slices.Contains(overTime, name) {
		h.Moments = append(h.Moments, set.course...)
	}
	if name == "knee" || name == "latency" {
		e, err := s.readable(r.Context(), r.PathValue("id"))
		if err != nil {
			return err
		}
		a, err := s.analysis(r.Context(), e)
		if err != nil {
			return err
		}
		for i := range a.a.Steps {
			st := &a.a.Steps[i]
			h.Steps = append(h.Steps, hoverStep{st.Index, st.OfferedRPS, st.GoodputRPS, st.Held, st.Response.P50, st.Response.P99, st.Service.P99})
		}
	}
	return writeJSON(w, h)
}
