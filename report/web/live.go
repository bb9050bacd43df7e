package web

import (
	"math"
	"net/http"
	"strconv"

	"headroom/report/plot"
	"headroom/store/record"
)

// liveData is what the live page's templates see.
type liveData struct {
	E        *Entry
	S        *LiveStatus
	Timeline string
	Now      string // the address of the part that is loaded again
	Ended    bool
}

// Outcomes are the outcomes of the last seconds that occurred, as words.
func (p *pageOf) LiveOutcomes(m map[string]uint64) []choice {
	var out []choice
	for _, o := range record.Outcomes() {
		if n := m[o.String()]; n > 0 || o == record.OK {
			out = append(out, choice{p.Say.Outcome(o.String()), p.Say.Count(n)})
		}
	}
	return out
}

// Micros writes an optional duration.
func (p *pageOf) Micros(v *float64) string {
	if v == nil {
		return p.Say.Absent()
	}
	return p.Say.Duration(*v)
}

// RateOr writes an optional rate.
func (p *pageOf) RateOr(v *float64) string {
	if v == nil {
		return p.Say.Absent()
	}
	return p.Say.Rate(*v)
}

// NumberOr writes an optional number.
func (p *pageOf) NumberOr(v *float64) string {
	if v == nil {
		return p.Say.Absent()
	}
	return p.Say.Number(*v)
}

func (s *Server) live(r *http.Request, p *pageOf) (*liveData, error) {
	e, err := s.entry(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	d := &liveData{E: e, Now: p.To("live", e.Key, "now")}
	if !e.Recording {
		d.Ended = true
		return d, nil
	}
	st, err := s.cfg.Library.Live(r.Context(), *e)
	if err != nil {
		return nil, err
	}
	d.S, d.Ended = st, st.State != string(record.Recording)
	d.Timeline = With(p.To("live", e.Key, "timeline.svg"), "at", strconv.FormatFloat(st.ElapsedS, 'f', 0, 64))
	return d, nil
}

// livePage shows a run that is being recorded; when it has ended it leads to the
// run's page.
func (s *Server) livePage(w http.ResponseWriter, r *http.Request, p *pageOf) error {
	d, err := s.live(r, p)
	if err != nil {
		return err
	}
	if !d.E.Recording {
		http.Redirect(w, r, p.To("runs", d.E.Key), http.StatusFound)
		return nil
	}
	p.Title, p.Where, p.Data, p.Script, p.Refresh = d.S.Name+" · "+p.W.Live, "live", d, true, 5
	return p.show(w, "live", http.StatusOK)
}

// liveNow is the part of the live page that changes.
func (s *Server) liveNow(w http.ResponseWriter, r *http.Request, p *pageOf) error {
	d, err := s.live(r, p)
	if err != nil {
		return err
	}
	p.Data = d
	w.Header().Set("Cache-Control", "no-store")
	if !d.E.Recording {
		w.Header().Set("X-Ended", p.To("runs", d.E.Key))
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	w.Header().Set("X-Timeline", d.Timeline)
	return p.show(w, "now", http.StatusOK)
}

// liveTimeline draws what was closed so far.
func (s *Server) liveTimeline(w http.ResponseWriter, r *http.Request, p *pageOf) error {
	d, err := s.live(r, p)
	if err != nil {
		return err
	}
	if d.S == nil {
		return ErrNoFeed
	}
	svg, err := plot.Timeline(courseOfLive(d.S), plot.Lang(p.L.lang)).SVG()
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return send(w, "picture.svg", "", svg)
}

func courseOfLive(s *LiveStatus) plot.Course {
	c := plot.Course{LagSuspectUS: math.NaN(), LagUntrustedUS: math.NaN()}
	from := math.Inf(-1)
	for i, r := range s.Rows {
		if i == 0 {
			from = r.StartS
		}
		c.Slices = append(c.Slices, plot.Slice{
			StartS: r.StartS, WidthS: r.WidthS, Quiet: r.Quiet, Offered: r.OfferedRPS, Goodput: r.GoodputRPS, Errors: r.ErrorRPS, Shed: r.ShedRPS,
			InFlight: float64(r.InFlight), Waiting: float64(r.Waiting),
			LagP50: value(r.LagP50US), LagP99: value(r.LagP99US), LagMax: value(r.LagMaxUS),
		})
	}
	for _, ph := range s.Phases {
		// Phases end as declared, also those that go on: only what was is drawn.
		end := min(ph.EndS, s.ElapsedS)
		if end > max(ph.StartS, from) {
			c.Phases = append(c.Phases, plot.Phase{Kind: record.PhaseKind(ph.Kind), StartS: max(ph.StartS, from), EndS: end, TargetRPS: ph.TargetRPS})
		}
	}
	return c
}

func value(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
