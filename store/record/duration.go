package record

import (
	"fmt"
	"math"
	"strings"
)

var durationUnits = []struct {
	name string
	ns   int64
}{
	// Longer names first where one is the beginning of another.
	{"ns", 1},
	{"us", 1e3},
	{"µs", 1e3}, // U+00B5
	{"μs", 1e3}, // U+03BC
	{"ms", 1e6},
	{"s", 1e9},
	{"m", 60e9},
	{"h", 3600e9},
	{"d", 86400e9},
}

// ParseDuration reads a duration of zero or more as Go writes it, with d for a
// day of 24 h besides: 150ms, 1m30s, 1.5h, 90d. The result is in nanoseconds
// and exact; a fraction of a nanosecond is an error, so that no limit is ever
// rounded.
func ParseDuration(s string) (int64, error) {
	if s == "0" {
		return 0, nil
	}
	if s == "" {
		return 0, fmt.Errorf("an empty duration; write one such as 30s")
	}
	if s[0] == '-' {
		return 0, fmt.Errorf("%q is negative; a duration is zero or more", s)
	}
	var total int64
	for rest := s; rest != ""; {
		digits := leading(rest, isNumeral)
		number := rest[:digits]
		rest = rest[digits:]
		letters := leading(rest, func(c byte) bool { return !isNumeral(c) })
		name := rest[:letters]
		rest = rest[letters:]
		if number == "" || name == "" {
			if number == s {
				return 0, fmt.Errorf("%q has no unit; write %ss, %sms or %sm", s, s, s, s)
			}
			return 0, badDuration(s)
		}
		unit := int64(0)
		for _, u := range durationUnits {
			if u.name == name {
				unit = u.ns
			}
		}
		if unit == 0 {
			return 0, fmt.Errorf("%q has the unknown unit %q; units are ns, us, ms, s, m, h and d", s, name)
		}
		part, err := scaled(number, unit)
		if err != nil {
			return 0, fmt.Errorf("%q %w", s, err)
		}
		if total > math.MaxInt64-part {
			return 0, fmt.Errorf("%q is too long; the longest duration is about 292 years", s)
		}
		total += part
	}
	return total, nil
}

func badDuration(s string) error {
	return fmt.Errorf("%q is not a duration; write one such as 150ms, 30s, 5m, 1h30m or 90d", s)
}

func isNumeral(c byte) bool { return c >= '0' && c <= '9' || c == '.' }

func leading(s string, in func(byte) bool) int {
	for i := range len(s) {
		if !in(s[i]) {
			return i
		}
	}
	return len(s)
}

// scaled is number x unit in whole nanoseconds.
func scaled(number string, unit int64) (int64, error) {
	whole, fraction, dotted := strings.Cut(number, ".")
	if whole == "" && fraction == "" || strings.Contains(fraction, ".") || dotted && fraction == "" {
		return 0, fmt.Errorf("holds %q, which is not a number", number)
	}
	var n int64
	for _, c := range []byte(whole) {
		if n > (math.MaxInt64-9)/10 {
			return 0, fmt.Errorf("is too long; the longest duration is about 292 years")
		}
		n = n*10 + int64(c-'0')
	}
	if n > math.MaxInt64/unit {
		return 0, fmt.Errorf("is too long; the longest duration is about 292 years")
	}
	n *= unit
	var sub int64
	scale := unit
	for _, c := range []byte(strings.TrimRight(fraction, "0")) {
		if scale%10 != 0 {
			return 0, fmt.Errorf("names a fraction of a nanosecond; round it")
		}
		scale /= 10
		sub += scale * int64(c-'0')
	}
	if n > math.MaxInt64-sub {
		return 0, fmt.Errorf("is too long; the longest duration is about 292 years")
	}
	return n + sub, nil
}

// FormatDuration writes nanoseconds as ParseDuration reads them, shortest form
// first: 150ms, 2s, 1m30s, 90d. A negative value is written as 0s.
func FormatDuration(ns int64) string {
	if ns <= 0 {
		return "0s"
	}
	var b strings.Builder
	for _, u := range []struct {
		name string
		ns   int64
	}{{"d", 86400e9}, {"h", 3600e9}, {"m", 60e9}} {
		if n := ns / u.ns; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, u.name)
			ns %= u.ns
		}
	}
	for _, u := range []struct {
		name   string
		ns     int64
		digits int
	}{{"s", 1e9, 9}, {"ms", 1e6, 6}, {"us", 1e3, 3}, {"ns", 1, 0}} {
		if ns < u.ns {
			continue
		}
		fmt.Fprintf(&b, "%d", ns/u.ns)
		if rest := ns % u.ns; rest > 0 {
			b.WriteString("." + strings.TrimRight(fmt.Sprintf("%0*d", u.digits, rest), "0"))
		}
		b.WriteString(u.name)
		break
	}
	return b.String()
}
