package plan

import (
	"math"
	"math/big"
	"strings"
	"time"
	"unicode"

	yaml "go.yaml.in/yaml/v4"

	"headroom/store/record"
)

// rateUnits are seconds per unit.
var rateUnits = map[string]int64{"/s": 1, "rps": 1, "/m": 60, "/min": 60, "/h": 3600}

// Limits of rates, in requests per second.
const (
	minRate = 0.001
	maxRate = 10_000_000
)

// rate reads requests per second: a number, or one with /s, /m or /h.
func (o *object) rate(key string, dst *float64) bool {
	n, path := o.get(key)
	if n == nil {
		return false
	}
	s, ok := o.r.number(n, path, "100")
	if !ok {
		return false
	}
	digits := strings.TrimRightFunc(s, func(c rune) bool { return c == '/' || c >= 'a' && c <= 'z' || c == ' ' })
	unit := strings.TrimSpace(s[len(digits):])
	per, known := rateUnits[unit]
	if unit == "" {
		per, known = 1, true
	}
	v, good := decimal(digits)
	if !known || !good {
		o.r.problem(n, path, "%q is not a rate; write requests per second, such as 100, or 6000/m", excerpt(s))
		return false
	}
	if v /= float64(per); v < minRate || v > maxRate {
		o.r.problem(n, path, "%s is out of range; a rate is 0.001 to 10000000 requests per second", s)
		return false
	}
	*dst = v
	return true
}

// share reads a part of the whole: 0.02 or 2%.
func (o *object) share(key string, dst *float64) bool {
	n, path := o.get(key)
	if n == nil {
		return false
	}
	v, ok := o.r.share(n, path)
	if ok {
		*dst = v
	}
	return ok
}

func (r *reader) share(n *yaml.Node, path string) (float64, bool) {
	s, ok := r.number(n, path, "0.02")
	if !ok {
		return 0, false
	}
	return r.parseShare(n, path, s)
}

func (r *reader) parseShare(n *yaml.Node, path, s string) (float64, bool) {
	v, good := decimal(s)
	if digits, percent := strings.CutSuffix(s, "%"); percent {
		if v, good = decimal(digits); good && len(digits) < 30 {
			if exact, ok := new(big.Rat).SetString(digits); ok && !strings.ContainsAny(digits, "eE") {
				v, _ = exact.Quo(exact, big.NewRat(100, 1)).Float64()
			} else {
				v /= 100
			}
		}
	}
	if !good || v < 0 || v > 1 {
		r.problem(n, path, "%q is not a share; write 0 to 1, or a percentage such as 2%%", excerpt(s))
		return 0, false
	}
	return v, true
}

// duration reads a duration between low and high, both included.
func (o *object) duration(key string, dst *time.Duration, low, high time.Duration) bool {
	n, path := o.get(key)
	if n == nil {
		return false
	}
	s, ok := o.r.fixed(n, path)
	if !ok {
		return false
	}
	d, ok := o.r.parseDuration(n, path, s, low, high)
	if ok {
		*dst = d
	}
	return ok
}

func (r *reader) parseDuration(n *yaml.Node, path, s string, low, high time.Duration) (time.Duration, bool) {
	ns, err := record.ParseDuration(s)
	if err != nil {
		if v, good := decimal(s); good && v >= 0 && strings.Trim(s, "0123456789.") == "" {
			r.problem(n, path, "a duration has a unit; write %ss, %sms or %sm", s, s, s)
		} else {
			r.problem(n, path, "%v", err)
		}
		return 0, false
	}
	d := time.Duration(ns)
	if d < low || d > high {
		r.problem(n, path, "%s is out of range; write %s to %s", s, record.FormatDuration(int64(low)), record.FormatDuration(int64(high)))
		return 0, false
	}
	return d, true
}

var sizeUnits = map[string]int64{
	"": 1, "b": 1,
	"kb": 1e3, "mb": 1e6, "gb": 1e9,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
}

// size reads bytes: 1MB is a million, 1MiB is 1048576.
func (o *object) size(key string, dst *int64) bool {
	n, path := o.get(key)
	if n == nil {
		return false
	}
	s, ok := o.r.fixed(n, path)
	if !ok {
		return false
	}
	digits := strings.TrimRightFunc(s, func(c rune) bool { return unicode.IsLetter(c) || c == ' ' })
	unit, known := sizeUnits[strings.ToLower(strings.TrimSpace(s[len(digits):]))]
	v, good := decimal(digits)
	bytes := v * float64(unit)
	if !known || !good || strings.ContainsAny(digits, "eE") || bytes < 1 || bytes > 1<<40 || bytes != math.Trunc(bytes) {
		o.r.problem(n, path, "%q is not a size; write whole bytes, such as 4096, 64kB or 1MiB, up to 1024GiB", excerpt(s))
		return false
	}
	*dst = int64(bytes)
	return true
}
