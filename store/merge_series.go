package store

import (
	"cmp"
	"slices"

	"headroom/store/record"
)

// sends unites the windows of send instants of all shards: within the time that
// every shard's window covers, the union is the arrivals of the whole run.
func (m *merger) sends(w *Recorder) error {
	type key struct{ phase, window int }
	windows := map[key][]*record.SendSample{}
	var order []key
	for _, r := range m.runs {
		for s, err := range r.SendSamples() {
			if err != nil {
				return err
			}
			k := key{s.Phase, s.Window}
			if windows[k] == nil {
				order = append(order, k)
			}
			windows[k] = append(windows[k], s)
		}
	}
	slices.SortFunc(order, func(a, b key) int { return cmp.Or(a.phase-b.phase, a.window-b.window) })
	for _, k := range order {
		if len(windows[k]) < len(m.runs) {
			continue // a thinned process is not the run's
		}
		if s := unite(windows[k]); s != nil {
			if err := w.PutSendSample(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// unite merges windows within the time that all of them cover; nil where they
// have none in common.
func unite(all []*record.SendSample) *record.SendSample {
	type send struct{ scheduled, sent int64 }
	var sends []send
	var from, to int64
	for i, s := range all {
		if len(s.Scheduled) == 0 {
			return nil
		}
		first, last := s.Scheduled[0], s.Scheduled[len(s.Scheduled)-1]
		if i == 0 || first > from {
			from = first
		}
		if i == 0 || last < to {
			to = last
		}
		for j, at := range s.Scheduled {
			sends = append(sends, send{at, s.Sent[j]})
		}
	}
	sends = slices.DeleteFunc(sends, func(s send) bool { return s.scheduled < from || s.scheduled > to })
	if len(sends) == 0 {
		return nil
	}
	slices.SortStableFunc(sends, func(a, b send) int { return cmp.Compare(a.scheduled, b.scheduled) })
	u := &record.SendSample{Phase: all[0].Phase, Window: all[0].Window}
	for _, s := range sends {
		u.Scheduled = append(u.Scheduled, s.scheduled)
		u.Sent = append(u.Sent, s.sent)
	}
	return u
}

// samples writes the readings of the series that were kept, under their new
// numbers, series by series in batches of a shard.
func (m *merger) samples(w *Recorder) error {
	taken := map[string]bool{}
	var all []record.Sample
	for _, r := range m.runs {
		number := map[int]int{}
		for _, s := range r.header.Observed {
			if taken[s.Name] {
				continue
			}
			taken[s.Name] = true
			number[s.ID] = slices.IndexFunc(w.header.Observed, func(o record.SeriesInfo) bool { return o.Name == s.Name })
		}
		for s, err := range r.Samples() {
			if err != nil {
				return err
			}
			if id, ok := number[s.Series]; ok {
				s.Series = id
				all = append(all, s)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b record.Sample) int { return cmp.Compare(a.AtNS, b.AtNS) })
	for batch := range slices.Chunk(all, 4096) {
		if err := w.PutSamples(batch); err != nil {
			return err
		}
	}
	return nil
}
