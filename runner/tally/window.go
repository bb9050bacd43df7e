package tally

import "headroom/store/record"

// Windows of send instants are kept for the tests of the arrival process: two
// a phase, of at most windowSize consecutive arrivals each.
const windowSize = 5000

type window struct {
	sample record.SendSample
	from   int64 // first arrival
	filled int
}

func newWindows(p record.Phase) []*window {
	if p.TargetRPS <= 0 {
		return nil
	}
	from := p.TargetRPS * float64(p.SettleNS) / 1e9
	judged := p.TargetRPS*float64(p.EndNS-p.StartNS)/1e9 - from
	size := int64(min(windowSize, judged*0.48))
	if size < 50 {
		return nil
	}
	var all []*window
	for k := range 2 {
		start := int64(from + judged*(0.02+0.49*float64(k)))
		w := &window{from: start}
		w.sample = record.SendSample{
			Phase: p.Index, Window: k,
			Scheduled: make([]int64, size), Sent: make([]int64, size),
		}
		all = append(all, w)
	}
	return all
}

// add notes a request's first send if the request is in the window.
func (w *window) add(phase int, e *End) {
	i := e.Arrival - w.from
	if phase != w.sample.Phase || i < 0 || i >= int64(len(w.sample.Sent)) || e.Attempts == 0 {
		return
	}
	w.sample.Scheduled[i], w.sample.Sent[i] = e.Scheduled, e.FirstSent
	w.filled++
}

// flushWindows hands over what the phase's windows hold. Arrivals that were
// never sent are left out.
func (t *Tally) flushWindows() {
	for _, w := range t.window {
		if w.filled == 0 {
			continue
		}
		s := &w.sample
		n := 0
		for i := range s.Sent {
			if s.Sent[i] != 0 {
				s.Scheduled[n], s.Sent[n] = s.Scheduled[i], s.Sent[i]
				n++
			}
		}
		s.Scheduled, s.Sent = s.Scheduled[:n], s.Sent[:n]
		t.samples(s)
	}
	t.window = nil
}
