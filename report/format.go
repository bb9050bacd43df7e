package report

import (
	"math"
	"strconv"
	"strings"

	"headroom/analyze"
)

// absent is printed where there is no value; the reason stands beside it.
const absent = "–"

func (w *words) decimal(v float64, digits int) string {
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-")
	}
	whole, frac, has := strings.Cut(s, ".")
	whole = grouped(whole, w.Group)
	if has {
		return whole + w.Point + frac
	}
	return whole
}

// grouped separates thousands from five digits on: 1200, 12,000.
func grouped(whole, sep string) string {
	digits := strings.TrimPrefix(whole, "-")
	if len(digits) < 5 {
		return whole
	}
	var b strings.Builder
	b.WriteString(whole[:len(whole)-len(digits)])
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteString(sep)
		}
		b.WriteRune(d)
	}
	return b.String()
}

// significant writes three significant digits; whole numbers without a fraction.
func (w *words) significant(v float64) string {
	switch a := math.Abs(v); {
	case a >= 99.95 || v == math.Trunc(v):
		return w.decimal(v, 0)
	case a >= 9.995:
		return w.decimal(v, 1)
	case a >= 0.01:
		return w.decimal(v, 2)
	default:
		return strings.Replace(strconv.FormatFloat(v, 'g', 2, 64), ".", w.Point, 1)
	}
}

func (w *words) count(n uint64) string { return grouped(strconv.FormatUint(n, 10), w.Group) }

// number writes requests per second without the unit.
func (w *words) number(v float64) string { return w.significant(v) }

func (w *words) rate(v float64) string { return w.number(v) + "/s" }

// duration writes microseconds with three significant digits.
func (w *words) duration(us float64) string {
	v, unit := us, "µs"
	switch {
	case us >= 120e6:
		m := math.Floor(us / 60e6)
		return w.decimal(m, 0) + " min " + w.decimal((us-m*60e6)/1e6, 0) + " s"
	case us >= 0.9995e6:
		v, unit = us/1e6, "s"
	case us >= 999.5:
		v, unit = us/1e3, "ms"
	}
	digits := 2
	switch {
	case v == math.Trunc(v) || v >= 99.95:
		digits = 0
	case v >= 9.995:
		digits = 1
	}
	return w.decimal(v, digits) + " " + unit
}

func (w *words) seconds(s float64) string { return w.duration(s * 1e6) }

// percent writes a share in [0,1] so that 1 and 0 are never rounded to.
func (w *words) percent(share float64) string {
	p := 100 * share
	digits := 1
	switch d := min(math.Abs(p), math.Abs(100-p)); {
	case p > 100:
	case p == 0 || p == 100:
		digits = 0
	case d < 0.0005:
		digits = 4
	case d < 0.02:
		digits = 3
	case d < 1:
		digits = 2
	}
	return w.decimal(p, digits) + " %"
}

// span writes an interval with one unit: 1160–1240.
func (w *words) span(i *analyze.Interval, one func(float64) string) string {
	if i == nil {
		return absent
	}
	return one(i[0]) + "–" + one(i[1])
}

// optional writes a number that may be absent; why is the reason where it is.
func (w *words) optional(v *float64, why string, one func(float64) string) string {
	if v != nil {
		return one(*v)
	}
	if why == "" {
		return absent
	}
	return absent + " (" + w.code(why) + ")"
}

// quantile writes one percentile of a latency: beyond the timeout it is "> 2 s",
// where refused it is absent with the reason.
func (w *words) quantile(l *analyze.LatencyUS, name string, v *float64) string {
	if limit, ok := l.Censored[name]; ok {
		return "> " + w.duration(limit)
	}
	if v == nil {
		why := l.Refused[name]
		if why == "" && l.Count == 0 {
			why = "no_data"
		}
		return w.optional(nil, why, nil)
	}
	return w.duration(*v)
}
