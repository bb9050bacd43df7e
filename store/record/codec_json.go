package record

import (
	"encoding/json"
	"fmt"
	"math"
)

// MaxJSON bounds a record that is kept as JSON, in bytes.
const MaxJSON = 8 << 20

// EncodeJSON encodes a Header, Phase, Note, FaultEvent, Facts or End. Numbers
// that are not finite are refused.
func EncodeJSON[T Header | Phase | Note | FaultEvent | Facts | End](v T) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("%T: %w", v, err)
	}
	if len(b) > MaxJSON {
		return nil, fmt.Errorf("%T: %d bytes, not at most %d", v, len(b), MaxJSON)
	}
	return b, nil
}

// DecodeJSON is the inverse of EncodeJSON. Keys that it does not know are
// skipped. A header is checked, because sizes depend on it.
func DecodeJSON[T Header | Phase | Note | FaultEvent | Facts | End](b []byte) (T, error) {
	var v T
	if len(b) > MaxJSON {
		return v, codecError("%T: %d bytes, not at most %d", v, len(b), MaxJSON)
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return v, codecError("%T: %v", v, err)
	}
	if h, ok := any(&v).(*Header); ok {
		if err := h.Check(); err != nil {
			return v, codecError("%v", err)
		}
	}
	return v, nil
}

// Check reports what no run could have: a header without an id, sizes out of
// range, thresholds on no clock.
func (h *Header) Check() error {
	switch {
	case h.RunID == "":
		return fmt.Errorf("header without a run id")
	case h.MaxUS < 2 || h.MaxUS > MaxMaxUS:
		return fmt.Errorf("header: highest value of histograms is %d µs, not 2 to %d", h.MaxUS, int64(MaxMaxUS))
	case h.IntervalNS <= 0:
		return fmt.Errorf("header: intervals of %d ns", h.IntervalNS)
	case len(h.Classes) > MaxClasses:
		return fmt.Errorf("header: %d classes, not at most %d", len(h.Classes), MaxClasses)
	case len(h.Thresholds) > MaxThresholds:
		return fmt.Errorf("header: %d thresholds, not at most %d", len(h.Thresholds), MaxThresholds)
	}
	for _, t := range h.Thresholds {
		if t.Clock != Response && t.Clock != Service && t.Clock != Lag {
			return fmt.Errorf("header: threshold %q on an unknown clock %q", t.Name, t.Clock)
		}
	}
	return nil
}

// Fits reports whether an interval can belong to a run with this header: known
// classes, no counts or one for each threshold, the run's histogram geometry.
func (h *Header) Fits(iv *Interval) error {
	for _, cells := range [][]Cell{iv.Cells, iv.Flows} {
		for i := range cells {
			c := &cells[i]
			if c.Class < 0 || c.Class >= len(h.Classes) {
				return fmt.Errorf("interval %d of phase %d: class %d of %d", iv.Index, iv.Phase, c.Class, len(h.Classes))
			}
			if n := len(c.AtOrBelow); n != 0 && n != len(h.Thresholds) {
				return fmt.Errorf("interval %d of phase %d, class %s: %d threshold counts, not %d",
					iv.Index, iv.Phase, h.Classes[c.Class].Name, n, len(h.Thresholds))
			}
			for _, g := range []*Histogram{c.OKResponse, c.OtherResponse, c.Service, c.Lag} {
				if g != nil && g.MaxUS() != h.MaxUS {
					return fmt.Errorf("interval %d of phase %d, class %s: histogram up to %d µs, not %d",
						iv.Index, iv.Phase, h.Classes[c.Class].Name, g.MaxUS(), h.MaxUS)
				}
			}
		}
	}
	return nil
}

// finite reports whether v can be written down.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Check refuses a note with a number that is not finite.
func (n *Note) Check() error {
	if !finite(n.Measured) || !finite(n.Limit) {
		return fmt.Errorf("note %s: measured %v, limit %v: both must be finite numbers", n.Code, n.Measured, n.Limit)
	}
	return nil
}
