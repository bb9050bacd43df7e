package analyze

import (
	"math"
	"slices"

	"headroom/analyze/stat"
	"headroom/store/record"
)

const (
	// Eps is the share of the offered load below which a deficit is no
	// deficit: the tolerance of "kept up".
	Eps       = 0.02
	maxBlocks = 10
	minBlocks = 5
	maxTrim   = 0.1 // of a window may be left out to get blocks of equal length
	// maxBaseErrors is the failure ratio far below saturation above which no
	// knee is looked for.
	maxBaseErrors = 0.01
)

// Judged is a plateau's verdict: whether the service kept up.
type Judged struct {
	Held *bool  // nil where it can't be said
	Why  string // keeps_up, deficit, indeterminate, untrusted, never_settled, too_short, interrupted, no_arrivals

	FromNS, ToNS int64   // the window that was judged
	WidthS       float64 // its length
	OfferedRPS   float64 // scheduled
	GoodputRPS   float64 // good answers by the clock
	GoodputSE    float64 // of GoodputRPS, from the blocks; 0 where there are none
	DoneRPS      float64 // requests that ended, in whatever way, by the clock
	Blocks       int
	// Deficit is the share of the offered load that got no good answer in the
	// window, less the base failure ratio, with its standard error and its
	// 95 % interval.
	Deficit, SE, Lo, Hi float64
	BacklogStart        float64
	BacklogEnd          float64
	BacklogSlope        float64 // requests per second
	BacklogGrows        bool    // by the same block test
	Done                [record.NumOutcomes]uint64
	Arrivals            uint64
	class               class
	valid               bool // blocks were enough and the generator can be believed
}

// df is the degrees of freedom of the block estimates.
func (j *Judged) df() float64 { return float64(max(j.Blocks-1, 1)) }

// t is the factor from a standard error to half of a 95 % interval.
func (j *Judged) t() float64 { return stat.StudentQuantile(0.975, j.df()) }

// blockTable is a window cut into blocks of equal length.
type blockTable struct {
	rows           []row // of the window
	before         int64 // backlog when it began
	arrivals, good []float64
	growth         []float64 // of the backlog
	blockNS        int64
}

// cut takes rows from the first of p that is judged on, leaves a short last
// interval out, and makes as many blocks of equal length as possible, at most
// ten; where the intervals do not divide, the first ones go, as settling.
func (p *Plateau) cut(from int) (blockTable, bool) {
	rows, before := p.rows[from:], p.before
	if from > 0 {
		before = p.rows[from-1].backlog
	}
	if n := len(rows); n > 1 && rows[n-1].widthNS < rows[0].widthNS*9/10 {
		rows = rows[:n-1]
	}
	n := len(rows)
	blocks := 0
	for b := min(maxBlocks, n); b >= minBlocks; b-- {
		if float64(n%b) <= maxTrim*float64(n) {
			blocks = b
			break
		}
	}
	if blocks == 0 {
		return blockTable{}, false
	}
	size := n / blocks
	if rest := n % blocks; rest > 0 {
		before, rows = rows[rest-1].backlog, rows[rest:]
	}
	t := blockTable{rows: rows, before: before, blockNS: int64(size) * rows[0].widthNS}
	last := before
	for b := range blocks {
		var a, g uint64
		for i := b * size; i < (b+1)*size; i++ {
			a += rows[i].arrivals
			g += rows[i].done[record.OK]
		}
		end := rows[(b+1)*size-1].backlog
		t.arrivals, t.good = append(t.arrivals, float64(a)), append(t.good, float64(g))
		t.growth = append(t.growth, float64(end-last))
		last = end
	}
	return t, true
}

// errorRatio is the share of the requests that ended in the window which did
// not end well, our own faults left out.
func (p *Plateau) errorRatio() float64 {
	var bad, all uint64
	for i := range p.rows {
		d := &p.rows[i].done
		n := p.rows[i].total() - d[record.Dropped] - d[record.GeneratorError]
		all += n
		bad += n - min(d[record.OK], n)
	}
	if all == 0 {
		return 0
	}
	return float64(bad) / float64(all)
}

// Classify judges one plateau, given the failure ratio of the service far
// below saturation.
//
// Good answers are counted by the clock, in the interval in which they came:
// a service that answers the backlog after the plateau did not keep up during
// it. Requests are counted in the interval in which they were scheduled.
func Classify(p *Plateau, baseErrors float64) Judged {
	j := Judged{OfferedRPS: p.Offered()}
	if p.Lacks != "" {
		j.Why = p.Lacks
		j.describe(p.rows, p.before)
		return j
	}
	t, ok := p.cut(0)
	if !ok {
		j.Why = whyTooShort
		j.describe(p.rows, p.before)
		return j
	}
	c := j.measure(&t, baseErrors)
	settled := true
	if c != saturated {
		var drop int
		if drop, settled = p.settle(); drop > 0 {
			if shorter, ok := p.cut(drop); ok {
				c = j.measure(&shorter, baseErrors)
			}
		}
	}
	switch {
	case p.Trust.Verdict == Untrusted:
		j.Why = whyUntrusted
		return j
	case !settled:
		j.Why = whyNeverSettled
		return j
	}
	j.class = c
	if p.Inherits {
		j.Why = whyInherits
		return j
	}
	j.accept()
	return j
}

// accept makes a verdict of what was measured.
func (j *Judged) accept() {
	j.valid = true
	held := j.class == stable
	switch j.class {
	case stable:
		j.Held, j.Why = &held, whyKeepsUp
	case saturated:
		j.Held, j.Why = &held, whyDeficit
	default:
		j.Why = whyIndeterminate
	}
}

// settle says how many of the first intervals to leave out because the
// backlog had not settled, by MSER. Where the cut would take half of the
// plateau, the plateau never settled, unless what the backlog moved between
// its halves is too little to be a deficit: then nothing is cut.
func (p *Plateau) settle() (drop int, settled bool) {
	backlog := make([]float64, len(p.rows))
	for i := range p.rows {
		backlog[i] = float64(p.rows[i].backlog)
	}
	c := stat.MSER(backlog, stat.MSERSize(len(backlog)))
	if c.Refused != "" {
		return 0, true
	}
	if c.Settled {
		return c.Discard, true
	}
	half := len(backlog) / 2
	first, _ := stat.Mean(backlog[:half])
	second, _ := stat.Mean(backlog[half:])
	var arrivals uint64
	for i := range p.rows[half:] {
		arrivals += p.rows[half+i].arrivals
	}
	return 0, math.Abs(second-first) < Eps/2*float64(arrivals)
}

// describe fills in what needs no blocks.
func (j *Judged) describe(rows []row, before int64) {
	if len(rows) == 0 {
		return
	}
	var width int64
	var scheduled, arrivals, ended uint64
	j.Done = [record.NumOutcomes]uint64{}
	for i := range rows {
		width += rows[i].widthNS
		scheduled += rows[i].scheduled
		arrivals += rows[i].arrivals
		ended += rows[i].total()
		for o, n := range rows[i].done {
			j.Done[o] += n
		}
	}
	j.FromNS, j.ToNS = rows[0].startNS, rows[len(rows)-1].startNS+rows[len(rows)-1].widthNS
	j.WidthS = float64(width) / 1e9
	j.Arrivals = arrivals
	j.OfferedRPS, j.GoodputRPS, j.DoneRPS = perSecond(scheduled, width), perSecond(j.Done[record.OK], width), perSecond(ended, width)
	j.BacklogStart, j.BacklogEnd = float64(before), float64(rows[len(rows)-1].backlog)
	j.BacklogSlope = (j.BacklogEnd - j.BacklogStart) / j.WidthS
}

func (j *Judged) measure(t *blockTable, base float64) class {
	j.describe(t.rows, t.before)
	j.Blocks = len(t.arrivals)
	var c class
	c, j.Deficit, j.SE, j.Lo, j.Hi = deficit(t.arrivals, t.good, base)
	n := float64(j.Blocks)
	if c == indeterminate {
		if hi := j.Deficit + j.t()*t.settledSE(); hi < Eps {
			c, j.Hi = stable, hi
		}
	}
	if sd, ok := stat.SD(t.good); ok {
		j.GoodputSE = sd / math.Sqrt(n) / (float64(t.blockNS) / 1e9)
	}
	mean, _ := stat.Mean(t.growth)
	sd, _ := stat.SD(t.growth)
	j.BacklogGrows = mean-stat.StudentQuantile(0.975, n-1)*sd/math.Sqrt(n) > 0
	return c
}

// settledSE is the standard error of the deficit of a plateau whose backlog
// stays where it is. What came and got no good answer either ended badly or is
// still inside, and the inside telescopes: over the window it is the backlog at
// the end less that at the start, however much it moved between. Blocks alone
// count that movement ten times over.
func (t *blockTable) settledSE() float64 {
	var arrivals float64
	bad := make([]float64, len(t.arrivals))
	for b := range bad {
		arrivals += t.arrivals[b]
		bad[b] = t.arrivals[b] - t.good[b] - t.growth[b]
	}
	levels := make([]float64, len(t.rows))
	for i := range t.rows {
		levels[i] = float64(t.rows[i].backlog)
	}
	sdBad, ok1 := stat.SD(bad)
	sdLevel, ok2 := stat.SD(levels)
	if !ok1 || !ok2 || arrivals == 0 {
		return math.Inf(1)
	}
	n := float64(len(bad))
	return math.Hypot(sdBad*math.Sqrt(n), math.Sqrt2*sdLevel) / arrivals
}

type class int

const (
	indeterminate class = iota
	stable
	saturated
)

// deficit is the share of the arrivals that got no good answer, less the base
// failure ratio, over blocks of equal length, with its standard error and 95 %
// interval. Stable: certainly below Eps. Saturated: above Eps, and certainly
// above 0. METHODS part a, step 3.
func deficit(arrivals, good []float64, base float64) (c class, d, se, lo, hi float64) {
	var sumA, sumD float64
	lost := make([]float64, len(arrivals))
	for b := range arrivals {
		lost[b] = arrivals[b] - good[b]
		sumA, sumD = sumA+arrivals[b], sumD+lost[b]
	}
	n := float64(len(arrivals))
	sd, ok := stat.SD(lost)
	if !ok || sumA == 0 {
		return indeterminate, 0, 0, 0, 0
	}
	d = sumD/sumA - base
	se = sd / math.Sqrt(n) / (sumA / n)
	half := stat.StudentQuantile(0.975, n-1) * se
	lo, hi = d-half, d+half
	switch {
	case hi < Eps:
		c = stable
	case d > Eps && lo > 0:
		c = saturated
	}
	return c, d, se, lo, hi
}

// baseErrors is the failure ratio far below saturation: the median over the
// plateaus whose rate is at most 0.7 times the best goodput; where that leaves
// fewer than two, the lower ratio of the two lowest. Plateaus rise with their offered rate.
func baseErrors(rising []*Plateau) float64 {
	if len(rising) == 0 {
		return 0
	}
	var best float64
	rates := make([]float64, len(rising))
	good := make([]float64, len(rising))
	for i, p := range rising {
		var n uint64
		for k := range p.rows {
			n += p.rows[k].done[record.OK]
		}
		rates[i], good[i] = p.Offered(), perSecond(n, p.widthNS())
		best = max(best, good[i])
	}
	var ratios []float64
	low := 0
	for i, p := range rising {
		if i < 2 || rates[i] <= 0.7*best {
			ratios = append(ratios, p.errorRatio())
		}
		if rates[i] <= 0.7*best {
			low++
		}
	}
	// Where not one plateau is that low and goodput does not grow with the
	// rate, even the lowest is past the knee: its failures are not the base's.
	last := len(rising) - 1
	if low == 0 && rates[last] >= 1.3*rates[0] && best <= 1.05*good[0] {
		return 0
	}
	slices.Sort(ratios)
	if low < 2 {
		// The second lowest may be past the knee already.
		return ratios[0]
	}
	m, _ := stat.Median(ratios)
	return m
}
