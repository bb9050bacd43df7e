package analyze

import (
	"math"

	"headroom/store/record"
)

// instant is one interval of a load that is watched over time, by when its
// requests were due; the backlog is that at its end.
type instant struct {
	phase   int
	kind    record.PhaseKind
	startNS int64
	widthNS int64
	counts  record.Counts
	within  []uint64 // per threshold of the header
	// Response time of every request that has one, in µs; NaN where none has.
	meanUS, p50US, p99US float64
	answers              uint64 // requests that have one
	backlog              int64
	limited              bool // at a limit of our own during the interval
}

func (i *instant) endNS() int64 { return i.startNS + i.widthNS }

// watched reports whether the phase belongs to a load of which the order of
// time matters: all but the plateaus of a step load.
func watched(k record.PhaseKind) bool { return judgedKind(k) && !k.Judged() }

// watch keeps what an interval shows.
func (f *fold) watch(p record.Phase, iv *record.Interval) error {
	all := record.NewHistogram(f.header.MaxUS)
	in := instant{
		phase: p.Index, kind: p.Kind, startNS: iv.StartNS, widthNS: iv.WidthNS, counts: iv.Total(),
		within: make([]uint64, len(f.header.Thresholds)), meanUS: math.NaN(), p50US: math.NaN(), p99US: math.NaN(),
		backlog: iv.Moment.InFlight + iv.Moment.Waiting, limited: iv.Moment.LimitedNS > 0,
	}
	for i := range iv.Cells {
		c := &iv.Cells[i]
		for k := range in.within {
			in.within[k] += at(c.AtOrBelow, k)
		}
		for _, h := range []*record.Histogram{c.OKResponse, c.OtherResponse} {
			if err := all.Merge(h); err != nil {
				return err
			}
		}
	}
	if in.answers = all.Count(); in.answers > 0 {
		q := percentiles(all)
		in.meanUS, in.p50US, in.p99US = all.MeanUS(), q[0], q[3]
	}
	f.course = append(f.course, in)
	return nil
}

// ofKind are the intervals of the phases of a kind, in the order of time; the
// last of each phase is left out where it is shorter than the others.
func (f *fold) ofKind(kinds ...record.PhaseKind) []instant {
	var out []instant
	for _, i := range f.course {
		if i.widthNS < f.header.IntervalNS*9/10 {
			continue
		}
		for _, k := range kinds {
			if i.kind == k {
				out = append(out, i)
			}
		}
	}
	return out
}

// share is k/n; NaN where n is 0.
func share(k, n uint64) float64 {
	if n == 0 {
		return math.NaN()
	}
	return float64(k) / float64(n)
}

func column(course []instant, value func(*instant) float64) []float64 {
	out := make([]float64, len(course))
	for i := range course {
		out[i] = value(&course[i])
	}
	return out
}

func sum(course []instant) record.Counts {
	var c record.Counts
	for i := range course {
		c.Add(&course[i].counts)
	}
	return c
}

func goodShare(i *instant) float64 { return share(i.counts.By[record.OK], i.counts.Scheduled) }

// failShare is the share of the requests that got neither a good answer nor a
// late one.
func failShare(i *instant) float64 {
	good := i.counts.By[record.OK] + i.counts.By[record.Late]
	return share(i.counts.Scheduled-min(good, i.counts.Scheduled), i.counts.Scheduled)
}
