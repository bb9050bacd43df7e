package report

import (
	"math"
	"slices"

	"headroom/analyze"
	"headroom/report/plot"
	"headroom/store/record"
)

// heatColumns is about how many columns a heat map has.
const heatColumns = 240

// overTime is what one pass over the evidence gathers for the pictures.
type overTime struct {
	course    plot.Course
	heat      []plot.HeatColumn
	lags      bool
	timeoutUS float64
	whole     clocks         // all judged intervals
	plateau   map[int]clocks // by phase
	judged    map[int]bool   // phases
}

// clocks holds the two merged histograms of a stretch.
type clocks struct {
	response, service *record.Histogram
}

func (c *clocks) add(iv *record.Interval, maxUS int64) error {
	if c.response == nil {
		c.response, c.service = record.NewHistogram(maxUS), record.NewHistogram(maxUS)
	}
	for i := range iv.Cells {
		cell := &iv.Cells[i]
		for _, h := range []*record.Histogram{cell.OKResponse, cell.OtherResponse} {
			if err := c.response.Merge(h); err != nil {
				return err
			}
		}
		if err := c.service.Merge(cell.Service); err != nil {
			return err
		}
	}
	return nil
}

// gather reads the intervals once.
func gather(a *analyze.Analysis, ev record.Evidence) (*overTime, error) {
	h := ev.Header()
	t := &overTime{plateau: map[int]clocks{}, judged: map[int]bool{}, timeoutUS: math.NaN()}
	if h.TimeoutNS > 0 {
		t.timeoutUS = float64(h.TimeoutNS) / 1e3
	}
	t.course.LagUntrustedUS, t.course.LagSuspectUS = lagLimits(a)
	settled, drains := map[int]int64{}, map[int]bool{}
	first, last := int64(math.MaxInt64), int64(0)
	for _, p := range ev.Phases() {
		t.course.Phases = append(t.course.Phases, plot.Phase{
			Kind: p.Kind, StartS: seconds(p.StartNS), EndS: seconds(p.EndNS), TargetRPS: p.TargetRPS,
		})
		t.judged[p.Index] = p.Kind != record.Warmup && p.Kind != record.Drain
		drains[p.Index] = p.Kind == record.Drain
		settled[p.Index] = p.StartNS + p.SettleNS
		first, last = min(first, p.StartNS), max(last, p.EndNS)
	}
	for _, e := range ev.FaultEvents() {
		name := e.Event
		if e.Fault >= 0 && e.Fault < len(h.Faults) {
			name = h.Faults[e.Fault].Name + " " + e.Event
		}
		t.course.Events = append(t.course.Events, plot.Event{AtS: seconds(e.AtNS), Name: name})
	}
	group := 1
	if h.IntervalNS > 0 {
		group = max(1, int((last-first)/h.IntervalNS)/heatColumns)
	}
	lag := record.NewHistogram(max(h.MaxUS, 2))
	for iv, err := range ev.Intervals() {
		if err != nil {
			return nil, err
		}
		s, err := sliceOf(iv, lag)
		if err != nil {
			return nil, err
		}
		s.Quiet = drains[iv.Phase]
		t.lags = t.lags || !math.IsNaN(s.LagMax)
		t.course.Slices = append(t.course.Slices, s)
		t.addHeat(iv, group)
		if t.judged[iv.Phase] && iv.StartNS >= settled[iv.Phase] {
			c := t.plateau[iv.Phase]
			if err := c.add(iv, h.MaxUS); err != nil {
				return nil, err
			}
			t.plateau[iv.Phase] = c
			if err := t.whole.add(iv, h.MaxUS); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// lagLimits are the limits of SPEC section 4 that a line can show: sends later
// than max(10 ms, half the median service time) when they are more than 1 %, and
// lag p99 above max(1 ms, 5 % of the median response).
func lagLimits(a *analyze.Analysis) (untrusted, suspect float64) {
	service, response := math.Inf(1), math.Inf(1)
	lower := func(to *float64, v *float64) {
		if v != nil {
			*to = min(*to, *v)
		}
	}
	for i := range a.Steps { // each plateau has its own limit: the strictest is drawn
		lower(&service, a.Steps[i].Service.P50)
		lower(&response, a.Steps[i].Response.P50)
	}
	if len(a.Steps) == 0 && a.Latency != nil {
		lower(&service, a.Latency.Service.P50)
		lower(&response, a.Latency.Response.P50)
	}
	untrusted, suspect = 10_000, 1_000
	if !math.IsInf(service, 1) {
		untrusted = max(untrusted, service/2)
	}
	if !math.IsInf(response, 1) {
		suspect = max(suspect, response/20)
	}
	return untrusted, suspect
}

func sliceOf(iv *record.Interval, lag *record.Histogram) (plot.Slice, error) {
	s := plot.Slice{
		StartS: seconds(iv.StartNS), WidthS: seconds(iv.WidthNS),
		InFlight: float64(iv.Moment.InFlight), Waiting: float64(iv.Moment.Waiting),
		LagP50: math.NaN(), LagP99: math.NaN(), LagMax: math.NaN(),
	}
	var c record.Counts
	*lag = *record.NewHistogram(lag.MaxUS())
	for i := range iv.Cells {
		c.Add(&iv.Cells[i].Counts)
		if err := lag.Merge(iv.Cells[i].Lag); err != nil {
			return s, err
		}
	}
	if s.WidthS > 0 {
		s.Offered = float64(c.Scheduled) / s.WidthS
		s.Goodput = float64(c.By[record.OK]) / s.WidthS
		s.Shed = float64(c.By[record.Shed]) / s.WidthS
		s.Errors = float64(c.Errors()) / s.WidthS
	}
	if lag.Count() > 0 {
		s.LagP50, s.LagP99, s.LagMax = lag.QuantileUS(0.5), lag.QuantileUS(0.99), float64(lag.MaxNS())/1e3
	}
	return s, nil
}

// addHeat adds the interval to the last column, or begins one: a column is up
// to `group` consecutive intervals of one phase.
func (t *overTime) addHeat(iv *record.Interval, group int) {
	start, width := seconds(iv.StartNS), seconds(iv.WidthNS)
	if n := len(t.heat); n == 0 || iv.Index%group == 0 || start > t.heat[n-1].StartS+t.heat[n-1].WidthS+width/2 {
		t.heat = append(t.heat, plot.HeatColumn{StartS: start, Cells: map[int]uint64{}})
	}
	col := &t.heat[len(t.heat)-1]
	col.WidthS = start + width - col.StartS
	for i := range iv.Cells {
		for _, h := range []*record.Histogram{iv.Cells[i].OKResponse, iv.Cells[i].OtherResponse} {
			h.Each(func(b record.Bucket) bool {
				low, high := record.BucketRange(b.Index)
				col.Cells[plot.HeatCell(float64(low+high)/2)] += b.Count
				return true
			})
		}
	}
}

// spectrum is the spectrum of both clocks at the highest plateau that held and,
// fainter, of everything that was judged: past the knee a percentile depends on
// how long the run lasted.
func (t *overTime) spectrum(a *analyze.Analysis, w *words) []plot.Percentiles {
	var lines []plot.Percentiles
	best := -1
	for i := range a.Steps {
		s := &a.Steps[i]
		if s.Held != nil && *s.Held && t.plateau[s.Phase].response.Count() > 0 &&
			(best < 0 || s.OfferedRPS > a.Steps[best].OfferedRPS) {
			best = i
		}
	}
	add := func(c clocks, where string, faint bool) {
		for k, h := range []*record.Histogram{c.response, c.service} {
			if h.Count() == 0 {
				continue
			}
			l := percentilesOf(h)
			l.Clock, l.Faint = plot.Clock(k), faint
			l.Name = []string{w.Response, w.Service}[k] + ", " + where
			lines = append(lines, l)
		}
	}
	if best >= 0 {
		add(t.plateau[a.Steps[best].Phase], w.f(w.AtHighestHeld, w.rate(a.Steps[best].OfferedRPS)), false)
		add(t.whole, w.AllJudged, true)
	} else {
		add(t.whole, w.AllJudged, false)
	}
	return lines
}

// percentilesOf reads a histogram at shares that are dense towards the tail and
// end at the last one that it can resolve.
func percentilesOf(h *record.Histogram) plot.Percentiles {
	var l plot.Percentiles
	n := float64(h.Count())
	var seen uint64
	next := 0.0
	h.Each(func(b record.Bucket) bool {
		seen += b.Count
		_, high := record.BucketRange(b.Index)
		q := min(float64(seen)/n, 1-0.5/n)
		d := -math.Log10(1 - q)
		if d < next && seen < h.Count() {
			return true
		}
		next = d + 0.01
		l.Q = append(l.Q, q)
		l.US = append(l.US, min(float64(high), float64(h.MaxNS())/1e3))
		return true
	})
	if len(l.Q) > 0 {
		l.Q = slices.Insert(l.Q, 0, 0)
		l.US = slices.Insert(l.US, 0, max(float64(h.MinNS())/1e3, 1))
	}
	return l
}
