package store

import (
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"headroom/store/record"
)

// Merge makes one run of the shards of one run of a plan and writes it to the
// file out, sealed. Histograms and counts are summed by interval. The shards
// must have the same plan, seed and geometry, and each number at most once. A
// shard that is missing or ended early makes the merged run interrupted, and a
// note says which and from when.
func Merge(shards []string, out string) (err error) {
	if len(shards) == 0 {
		return errors.New("merge: no shards")
	}
	var m merger
	defer func() { err = errors.Join(err, m.close()) }()
	for _, path := range shards {
		run, err := Open(path)
		if err != nil {
			return err
		}
		m.runs = append(m.runs, run)
	}
	slices.SortStableFunc(m.runs, func(a, b *Run) int { return a.header.Shard - b.header.Shard })
	h, err := m.header(out)
	if err != nil {
		return err
	}
	w, err := CreateWith(filepath.Dir(out), h, Options{Bulk: true, Path: out})
	if err != nil {
		return err
	}
	if err := m.write(w); err != nil {
		return errors.Join(err, w.Abort())
	}
	_, err = w.Finish(m.end(h))
	return err
}

// merger is the shards of a run, in order of their numbers.
type merger struct {
	runs []*Run
	lost []string // sentences about shards that are missing or ended early
}

func (m *merger) close() error {
	var errs []error
	for _, r := range m.runs {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}

// header checks that the shards belong together and makes the merged header.
func (m *merger) header(out string) (record.Header, error) {
	first := m.runs[0]
	h := first.header
	for i, r := range m.runs {
		s := r.header
		for _, c := range []struct {
			what      string
			same      bool
			got, want any
		}{
			{"plan digest", s.PlanDigest == h.PlanDigest, s.PlanDigest, h.PlanDigest},
			{"seed", s.Seed == h.Seed, s.Seed, h.Seed},
			{"number of shards", s.Shards == h.Shards, s.Shards, h.Shards},
			{"interval, in ns", s.IntervalNS == h.IntervalNS, s.IntervalNS, h.IntervalNS},
			{"highest value, in µs", s.MaxUS == h.MaxUS, s.MaxUS, h.MaxUS},
			{"classes", slices.Equal(s.Classes, h.Classes), len(s.Classes), len(h.Classes)},
			{"thresholds", slices.Equal(s.Thresholds, h.Thresholds), len(s.Thresholds), len(h.Thresholds)},
			{"model", s.Model == h.Model, s.Model, h.Model},
		} {
			if !c.same {
				return h, fmt.Errorf("merge: %s and %s are not shards of one run: %s %v and %v", first.path, r.path, c.what, c.want, c.got)
			}
		}
		if i > 0 && s.Shard == m.runs[i-1].header.Shard {
			return h, fmt.Errorf("merge: %s and %s are both shard %d", m.runs[i-1].path, r.path, s.Shard)
		}
		if s.Shard < 0 || s.Shard >= max(h.Shards, 1) {
			return h, fmt.Errorf("merge: %s is shard %d of %d", r.path, s.Shard, h.Shards)
		}
		if i > 0 {
			h.MaxInFlight += s.MaxInFlight
			if h.MaxConns > 0 && s.MaxConns > 0 {
				h.MaxConns += s.MaxConns
			} else {
				h.MaxConns = 0
			}
			if s.Started.Before(h.Started) {
				h.Started = s.Started
			}
		}
	}
	if h.Shards < 2 {
		return h, fmt.Errorf("merge: %s is not a shard of a run", first.path)
	}
	base := filepath.Base(out)
	h.RunID, h.Shard = strings.TrimSuffix(base, fileSuffix), 0
	if h.RunID == base {
		return h, fmt.Errorf("merge: %s: evidence is named *%s", out, fileSuffix)
	}
	h.Observed = m.observed()
	return h, nil
}

// observed is the resource series of all shards. What several of them read
// under one name is the same thing, and is kept from the first.
func (m *merger) observed() []record.SeriesInfo {
	var all []record.SeriesInfo
	for _, r := range m.runs {
		for _, s := range r.header.Observed {
			if !slices.ContainsFunc(all, func(o record.SeriesInfo) bool { return o.Name == s.Name }) {
				s.ID = len(all)
				all = append(all, s)
			}
		}
	}
	return all
}

func (m *merger) write(w *Recorder) error {
	if err := w.PutFacts(m.facts()); err != nil {
		return err
	}
	if err := m.phases(w); err != nil {
		return err
	}
	if err := m.intervals(w); err != nil {
		return err
	}
	if err := m.sends(w); err != nil {
		return err
	}
	if err := m.samples(w); err != nil {
		return err
	}
	for _, r := range m.runs {
		for _, e := range r.faults {
			if err := w.PutFault(e); err != nil {
				return err
			}
		}
	}
	return m.notes(w)
}

// facts keeps what is the same everywhere and names the shard otherwise.
func (m *merger) facts() record.Facts {
	f := record.Facts{Generator: map[string]string{}, Target: map[string]string{}}
	join := func(to map[string]string, of func(record.Facts) map[string]string) {
		for _, r := range m.runs {
			for key, value := range of(r.facts) {
				same := true
				for _, o := range m.runs {
					v, ok := of(o.facts)[key]
					same = same && ok && v == value
				}
				if !same {
					key = fmt.Sprintf("shard %d: %s", r.header.Shard, key)
				}
				to[key] = value
			}
		}
	}
	join(f.Generator, func(f record.Facts) map[string]string { return f.Generator })
	join(f.Target, func(f record.Facts) map[string]string { return f.Target })
	for _, r := range m.runs {
		for _, c := range r.facts.Changed {
			if !slices.Contains(f.Changed, c) {
				f.Changed = append(f.Changed, c)
			}
		}
	}
	return f
}

// phases writes each phase once, from its first beginning to its last end. A
// phase that a shard does not have, or did not end, has not ended.
func (m *merger) phases(w *Recorder) error {
	n := 0
	for _, r := range m.runs {
		n = max(n, len(r.phases))
	}
	for i := range n {
		var p record.Phase
		have := 0
		for _, r := range m.runs {
			if i >= len(r.phases) {
				continue
			}
			q := r.phases[i]
			have++
			if have == 1 {
				p = q
				continue
			}
			if p.Kind != q.Kind || p.Step != q.Step || p.TargetRPS != q.TargetRPS {
				return fmt.Errorf("merge: phase %d is %s at %v/s in one shard and %s at %v/s in %s: the shards did not run the same steps",
					i, p.Kind, p.TargetRPS, q.Kind, q.TargetRPS, r.path)
			}
			p.StartNS, p.EndNS, p.Ended = min(p.StartNS, q.StartNS), max(p.EndNS, q.EndNS), p.Ended && q.Ended
		}
		p.Ended = p.Ended && have == len(m.runs)
		if err := w.PutPhase(p); err != nil {
			return err
		}
	}
	return nil
}

// intervals sums the intervals of all shards in one pass.
func (m *merger) intervals(w *Recorder) error {
	type source struct {
		next func() (*record.Interval, error, bool)
		head *record.Interval
	}
	sources := make([]source, len(m.runs))
	advance := func(s *source) error {
		iv, err, ok := s.next()
		if s.head = iv; !ok {
			s.head = nil
		}
		return err
	}
	for i, r := range m.runs {
		next, stop := iter.Pull2(r.Intervals())
		defer stop()
		sources[i].next = next
		if err := advance(&sources[i]); err != nil {
			return err
		}
	}
	for {
		var sum *record.Interval
		for _, s := range sources {
			if s.head != nil && (sum == nil || before(s.head, sum)) {
				sum = s.head
			}
		}
		if sum == nil {
			return nil
		}
		key := *sum
		for i := range sources {
			s := &sources[i]
			if s.head == nil || before(&key, s.head) {
				continue
			}
			if s.head != sum {
				if err := sum.Merge(s.head); err != nil {
					return fmt.Errorf("merge: %s: %w", m.runs[i].path, err)
				}
			}
			if err := advance(s); err != nil {
				return err
			}
		}
		if err := w.PutInterval(sum); err != nil {
			return err
		}
	}
}

func before(a, b *record.Interval) bool {
	return a.Phase < b.Phase || a.Phase == b.Phase && a.Index < b.Index
}

// end is complete only where every shard is there and was.
func (m *merger) end(h record.Header) record.End {
	e := record.End{State: record.Complete}
	for _, r := range m.runs {
		s := r.end
		e.AtNS = max(e.AtNS, s.AtNS)
		e.Conns.Opened += s.Conns.Opened
		e.Conns.Reused += s.Conns.Reused
		e.Conns.FullHandshakes += s.Conns.FullHandshakes
		e.Conns.ResumedHandshakes += s.Conns.ResumedHandshakes
		if s.State == record.Failed && e.State != record.Failed {
			e.State, e.Reason = record.Failed, s.Reason
		}
	}
	if len(m.lost) > 0 && e.State == record.Complete {
		e.State, e.Reason = record.Interrupted, "shard_lost: "+strings.Join(m.lost, "; ")
	}
	return e
}

// notes writes the notes of all shards, and one for each that is missing, ended
// early, or began at another time.
func (m *merger) notes(w *Recorder) error {
	h := w.header
	for _, r := range m.runs {
		for _, n := range r.notes {
			n.Text = fmt.Sprintf("shard %d: %s", r.header.Shard, n.Text)
			if err := w.PutNote(n); err != nil {
				return err
			}
		}
		if off := r.header.Started.Sub(h.Started); off > time.Duration(h.IntervalNS)/10 {
			err := w.PutNote(record.Note{
				Code: "shard_offset", Severity: record.Caution, Phase: -1, Measured: off.Seconds(), Limit: time.Duration(h.IntervalNS).Seconds() / 10,
				Text: fmt.Sprintf("shard %d began %v after the first, by its own wall clock", r.header.Shard, off),
			})
			if err != nil {
				return err
			}
		}
	}
	lost := func(shard int, at int64, text string) error {
		m.lost = append(m.lost, text)
		return w.PutNote(record.Note{
			AtNS: at, Code: "shard_lost", Severity: record.Invalidates, Phase: -1,
			Measured: float64(len(m.runs)), Limit: float64(h.Shards), Text: text,
		})
	}
	for shard := range h.Shards {
		i := slices.IndexFunc(m.runs, func(r *Run) bool { return r.header.Shard == shard })
		var err error
		switch {
		case i < 0:
			err = lost(shard, 0, fmt.Sprintf("shard %d of %d is missing from the beginning", shard, h.Shards))
		case m.runs[i].end.State != record.Complete:
			at := m.runs[i].end.AtNS
			err = lost(shard, at, fmt.Sprintf("shard %d of %d ended at %v as %s", shard, h.Shards, time.Duration(at), m.runs[i].end.State))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
