package record

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Merge adds o, the same interval of another shard, to iv: counts and
// histograms are summed, percentiles never averaged. What cannot be summed is
// kept at its worst: pauses, lateness, the machine's load. The most sends in
// 100 ms become the sum, which is at least the true value. o stays as it is.
func (iv *Interval) Merge(o *Interval) error {
	if iv.Phase != o.Phase || iv.Index != o.Index {
		return fmt.Errorf("interval %d of phase %d cannot be merged with interval %d of phase %d", o.Index, o.Phase, iv.Index, iv.Phase)
	}
	end := max(iv.StartNS+iv.WidthNS, o.StartNS+o.WidthNS)
	iv.StartNS = min(iv.StartNS, o.StartNS)
	iv.WidthNS = end - iv.StartNS
	var err error
	if iv.Cells, err = mergeCells(iv.Cells, o.Cells); err != nil {
		return err
	}
	if iv.Flows, err = mergeCells(iv.Flows, o.Flows); err != nil {
		return err
	}
	iv.Moment.merge(&o.Moment)
	return nil
}

// mergeCells adds the cells of b to those of a; both rise by class.
func mergeCells(a, b []Cell) ([]Cell, error) {
	for i := range b {
		at, found := slices.BinarySearchFunc(a, b[i].Class, func(c Cell, class int) int { return cmp.Compare(c.Class, class) })
		if !found {
			a = slices.Insert(a, at, Cell{Class: b[i].Class})
		}
		if err := a[at].Merge(&b[i]); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// Merge adds the cell of the same class in another shard or interval.
func (c *Cell) Merge(o *Cell) error {
	if c.Class != o.Class {
		return fmt.Errorf("class %d cannot be merged with class %d", o.Class, c.Class)
	}
	c.Counts.Add(&o.Counts)
	for _, p := range []struct {
		to   **Histogram
		from *Histogram
	}{{&c.OKResponse, o.OKResponse}, {&c.OtherResponse, o.OtherResponse}, {&c.Service, o.Service}, {&c.Lag, o.Lag}} {
		switch {
		case p.from == nil:
		case *p.to == nil:
			*p.to = p.from.Clone()
		default:
			if err := (*p.to).Merge(p.from); err != nil {
				return err
			}
		}
	}
	switch {
	case len(o.AtOrBelow) == 0:
	case len(c.AtOrBelow) == 0:
		c.AtOrBelow = slices.Clone(o.AtOrBelow)
	case len(c.AtOrBelow) != len(o.AtOrBelow):
		return fmt.Errorf("class %d: counts at %d and at %d thresholds", c.Class, len(c.AtOrBelow), len(o.AtOrBelow))
	default:
		for i, n := range o.AtOrBelow {
			c.AtOrBelow[i] += n
		}
	}
	if c.Status == nil && len(o.Status) > 0 {
		c.Status = make(map[int]uint64, len(o.Status))
	}
	for code, n := range o.Status {
		c.Status[code] += n
	}
	if c.Errors == nil && len(o.Errors) > 0 {
		c.Errors = make(map[ErrorKind]uint64, len(o.Errors))
	}
	for kind, n := range o.Errors {
		c.Errors[kind] += n
	}
	for i, n := range o.LateSends {
		c.LateSends[i] += n
	}
	return nil
}

func (m *Moment) merge(o *Moment) {
	m.InFlight += o.InFlight
	m.Waiting += o.Waiting
	m.Sends += o.Sends
	for i, n := range o.Done {
		m.Done[i] += n
	}
	m.PeakSent100ms += o.PeakSent100ms
	m.LimitedNS = max(m.LimitedNS, o.LimitedNS)
	m.ConnsOpen += o.ConnsOpen
	g, p := &m.Gen, &o.Gen
	g.CPUNS += p.CPUNS
	g.CapacityNS += p.CapacityNS
	g.StolenNS = max(g.StolenNS, p.StolenNS)
	g.GCPauseNS = max(g.GCPauseNS, p.GCPauseNS)
	g.SleeperNS = max(g.SleeperNS, p.SleeperNS)
	g.Descriptors = max(g.Descriptors, p.Descriptors)
	g.HeapBytes = max(g.HeapBytes, p.HeapBytes)
	if math.IsNaN(g.MachineBusy) || p.MachineBusy > g.MachineBusy {
		g.MachineBusy = p.MachineBusy
	}
}
