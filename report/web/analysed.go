package web

import (
	"context"
	"net/http"

	"headroom/analyze"
	"headroom/report"
)

// analysed is a run's analysis and its JSON. It is never changed.
type analysed struct {
	a    *analyze.Analysis
	json []byte
}

// summary is what the history says of a run.
type summary struct {
	Verdict       analyze.Verdict   `json:"verdict"`
	Trust         string            `json:"trust"`
	KneeStatus    string            `json:"knee_status"`
	KneeRPS       *float64          `json:"knee_rps"`
	KneeCI95      *analyze.Interval `json:"knee_ci95"`
	KneeAtLeast   *float64          `json:"knee_at_least_rps"`
	Margin        *float64          `json:"margin"`
	MarginAtLeast bool              `json:"margin_at_least"`
	Sentence      analyze.Sentence  `json:"sentence"`
	failed        string            // why there is no analysis
}

func summaryOf(a *analyze.Analysis) *summary {
	s := &summary{Verdict: a.Verdict, Trust: "inconclusive", Sentence: a.Sentence}
	if a.Trust != nil {
		s.Trust = a.Trust.Verdict
	}
	if k := a.Knee; k != nil {
		s.KneeStatus, s.KneeRPS, s.KneeCI95, s.KneeAtLeast = k.Status, k.RPS, k.CI95, k.AtLeast
	}
	if m := a.Margin; m != nil {
		s.Margin, s.MarginAtLeast = m.Value, m.AtLeast
	}
	return s
}

// entries lists the library.
func (s *Server) entries(ctx context.Context) ([]Entry, error) { return s.cfg.Library.List(ctx) }

// entry finds a run by its key.
func (s *Server) entry(ctx context.Context, key string) (*Entry, error) {
	all, err := s.entries(ctx)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Key == key {
			return &all[i], nil
		}
	}
	for i := range all { // a run's id serves as well
		if all[i].RunID == key && key != "" {
			return &all[i], nil
		}
	}
	return nil, notFound("there is no run " + clip(key, 80) + " here")
}

// readable finds a run whose evidence can be opened.
func (s *Server) readable(ctx context.Context, key string) (*Entry, error) {
	e, err := s.entry(ctx, key)
	if err != nil {
		return nil, err
	}
	switch {
	case e.Recording:
		return nil, &problem{http.StatusConflict, "recording", "this run is still being recorded"}
	case e.Refused != "":
		return nil, &problem{http.StatusUnprocessableEntity, "unreadable", e.Refused}
	}
	return e, nil
}

// analysis analyses a run, or remembers that it did.
func (s *Server) analysis(ctx context.Context, e *Entry) (*analysed, error) {
	return s.analyses.get(ctx, e.Version, func() (*analysed, int64, error) {
		a, err := s.analyse(ctx, e, false)
		if err != nil {
			return nil, 0, err
		}
		b, err := report.JSON(a)
		if err != nil {
			return nil, 0, err
		}
		s.digests.put(e.Version, summaryOf(a), 1)
		return &analysed{a, b}, 4 * int64(len(b)), nil
	})
}

// analyse opens the evidence, reads it and closes it. A brief analysis lacks what
// no verdict depends on.
func (s *Server) analyse(ctx context.Context, e *Entry, brief bool) (*analyze.Analysis, error) {
	ev, err := s.cfg.Library.Open(ctx, *e)
	if err != nil {
		return nil, err
	}
	a, err := analyze.Run(ev, analyze.Options{Brief: brief})
	if closed := ev.Close(); err == nil {
		err = closed
	}
	return a, err
}

// digest is the summary of a run where it is known, nil where not yet.
func (s *Server) digest(e *Entry) *summary {
	v, _ := s.digests.peek(e.Version)
	return v
}

// Warm summarises runs that the history does not know yet, until ctx ends. It
// looks again whenever the history was asked for.
func (s *Server) Warm(ctx context.Context) {
	for {
		s.WarmOnce(ctx)
		select {
		case <-ctx.Done():
			return
		case <-s.kick:
		}
	}
}

// WarmOnce summarises what is not known yet, the latest runs first.
func (s *Server) WarmOnce(ctx context.Context) {
	all, err := s.entries(ctx)
	if err != nil {
		s.cfg.Log("listing runs: %v", err)
		return
	}
	for i := len(all) - 1; i >= 0 && ctx.Err() == nil; i-- {
		e := &all[i]
		if !e.Readable() || s.digest(e) != nil {
			continue
		}
		_, err := s.digests.get(ctx, e.Version, func() (*summary, int64, error) {
			a, err := s.analyse(ctx, e, true)
			if err != nil {
				if ctx.Err() != nil {
					return nil, 0, ctx.Err()
				}
				return &summary{Verdict: analyze.Inconclusive, failed: err.Error()}, 1, nil
			}
			return summaryOf(a), 1, nil
		})
		if err != nil && ctx.Err() == nil { // a panic: say it once
			s.digests.put(e.Version, &summary{Verdict: analyze.Inconclusive, failed: err.Error()}, 1)
		}
	}
}

// wake tells Warm to look again.
func (s *Server) wake() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// Failed is why there is no analysis, "" where there is one.
func (s *summary) Failed() string { return s.failed }
