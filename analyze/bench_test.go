package analyze

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"headroom/store/record"
)

// longRun yields the same few intervals over and over, as a run of hours would.
type longRun struct {
	record.Memory
	n int
}

func (l *longRun) Intervals() iter.Seq2[*record.Interval, error] {
	return func(yield func(*record.Interval, error) bool) {
		for i := range l.n {
			iv := *l.Iv[i%len(l.Iv)]
			iv.Index, iv.StartNS = i, int64(i)*iv.WidthNS
			if !yield(&iv, nil) {
				return
			}
		}
	}
}

// soak is four hours at 1,000 requests per second over 44 classes.
func soak(intervalNS int64) *longRun {
	n := int(4 * 3600 * 1e9 / intervalNS)
	l := &longRun{n: n}
	l.H = record.Header{
		RunID: "soak", Model: record.Open, Format: "soak", IntervalNS: intervalNS, TimeoutNS: 2e9, DeadlineNS: 2e9,
		MaxUS: record.DefaultMaxUS, Arrivals: "poisson", BuiltIn: true,
	}
	for c := range 44 {
		l.H.Classes = append(l.H.Classes, record.Class{Name: fmt.Sprintf("class%d", c), Weight: 1})
	}
	l.P = []record.Phase{{Kind: record.Soak, Step: -1, TargetRPS: 1000, EndNS: int64(n) * intervalNS, Ended: true}}
	l.E = record.End{State: record.Complete, AtNS: int64(n) * intervalNS}
	rng := rand.New(rand.NewPCG(1, 1))
	for k := range 20 {
		iv := &record.Interval{WidthNS: intervalNS}
		iv.Moment.InFlight = 20
		for c := range 44 {
			per := int(1000 * intervalNS / 1e9 / 44)
			cell := record.Cell{Class: c, Counts: record.Counts{Scheduled: uint64(per), Sent: uint64(per), Attempts: uint64(per)}}
			cell.OKResponse, cell.Service, cell.Lag = record.NewHistogram(l.H.MaxUS), record.NewHistogram(l.H.MaxUS), record.NewHistogram(l.H.MaxUS)
			for range per {
				v := int64(rng.ExpFloat64()*20e6) + 1e6 + int64(k)*1000
				cell.OKResponse.Record(v)
				cell.Service.Record(v)
				cell.Lag.Record(30e3)
			}
			cell.Counts.By[record.OK] = uint64(per)
			iv.Moment.Done[record.OK] += uint64(per)
			iv.Cells = append(iv.Cells, cell)
		}
		l.Iv = append(l.Iv, iv)
	}
	return l
}

func BenchmarkSoak(b *testing.B) {
	for _, width := range []int64{1e9, 10e9} {
		l := soak(width)
		b.Run(fmt.Sprintf("interval=%ds", width/1e9), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Run(l, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
