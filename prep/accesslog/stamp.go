package accesslog

// clock reads stamps and remembers the last minute, since the next line is
// mostly of the same one.
type clock struct {
	text [17]byte // dd/Mon/yyyy:hh:mm
	at   int64    // its seconds since 1970, as if in UTC
}

// common reads 17/May/2015:10:05:03 +0000, with or without digits below the
// second (HAProxy) and zone, which is UTC where it is missing.
func (c *clock) common(b []byte) (ns int64, fraction, ok bool) {
	if len(b) < 20 || b[2] != '/' || b[6] != '/' || b[11] != ':' || b[14] != ':' || b[17] != ':' {
		return 0, false, false
	}
	if string(b[:17]) != string(c.text[:]) {
		day, ok1 := two(b[0:])
		month := monthOf(b[3:6])
		century, ok2 := two(b[7:])
		year, ok3 := two(b[9:])
		hour, ok4 := two(b[12:])
		minute, ok5 := two(b[15:])
		if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 {
			return 0, false, false
		}
		at, ok := instant(century*100+year, month, day, hour, minute, 0)
		if !ok {
			return 0, false, false
		}
		c.at = at
		copy(c.text[:], b)
	}
	second, ok := two(b[18:])
	if !ok || second > 60 {
		return 0, false, false
	}
	return finish(c.at+int64(second), b[20:])
}

// finish reads what may follow the seconds: a fraction and a zone.
func finish(seconds int64, rest []byte) (ns int64, fraction, ok bool) {
	var below int64
	if len(rest) > 0 && (rest[0] == '.' || rest[0] == ',') {
		rest = rest[1:]
		scale := int64(100_000_000)
		n := 0
		for n < len(rest) && isDigit(rest[n]) {
			below += int64(rest[n]-'0') * scale
			scale /= 10
			n++
		}
		if n == 0 {
			return 0, false, false
		}
		rest = rest[n:]
		fraction = true
	}
	if len(rest) > 0 && rest[0] == ' ' {
		rest = rest[1:]
	}
	switch {
	case len(rest) == 0, len(rest) == 1 && rest[0] == 'Z', string(rest) == "UTC":
	case rest[0] == '+' || rest[0] == '-':
		h, ok1 := two(rest[1:])
		digits := 3
		if len(rest) > 3 && rest[3] == ':' {
			digits = 4
		}
		var m int
		ok2 := len(rest) == 3
		if !ok2 && len(rest) == digits+2 {
			m, ok2 = two(rest[digits:])
		}
		if !ok1 || !ok2 || h > 15 || m > 59 {
			return 0, false, false
		}
		off := int64(h*3600 + m*60)
		if rest[0] == '-' {
			off = -off
		}
		seconds -= off
	default:
		return 0, false, false
	}
	return seconds*1_000_000_000 + below, fraction, true
}

// iso reads 2015-05-17T10:05:03.127+02:00 and its like, with a blank for the T.
func iso(b []byte) (ns int64, fraction, ok bool) {
	if len(b) < 19 || (b[10] != 'T' && b[10] != ' ') {
		return 0, false, false
	}
	day, ok := date(b[:10])
	if !ok {
		return 0, false, false
	}
	sec, ok := timeOfDay(b[11:19])
	if !ok {
		return 0, false, false
	}
	return finish(day+sec, b[19:])
}

// date reads 2015-05-17 as seconds since 1970.
func date(b []byte) (int64, bool) {
	if len(b) != 10 || b[4] != '-' || b[7] != '-' {
		return 0, false
	}
	century, ok1 := two(b)
	year, ok2 := two(b[2:])
	month, ok3 := two(b[5:])
	day, ok4 := two(b[8:])
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return 0, false
	}
	return instant(century*100+year, month, day, 0, 0, 0)
}

// timeOfDay reads 10:05:03 as seconds.
func timeOfDay(b []byte) (int64, bool) {
	if len(b) != 8 || b[2] != ':' || b[5] != ':' {
		return 0, false
	}
	h, ok1 := two(b)
	m, ok2 := two(b[3:])
	s, ok3 := two(b[6:])
	if !ok1 || !ok2 || !ok3 || h > 23 || m > 59 || s > 60 {
		return 0, false
	}
	return int64(h*3600 + m*60 + s), true
}

// unix reads seconds since 1970, also milli-, micro- and nanoseconds, told by
// their size.
func unix(b []byte) (ns int64, fraction, ok bool) {
	if v, ok := number(b); ok {
		switch { // each up to the year 2255
		case v < 9e9:
			return v * 1e9, false, true
		case v >= 1e11 && v < 9e12:
			return v * 1e6, true, true
		case v >= 1e14 && v < 9e15:
			return v * 1e3, true, true
		case v >= 1e17:
			return v, true, true
		}
		return 0, false, false
	}
	if len(b) == 19 { // nanoseconds have 19 digits
		if head, ok := number(b[:10]); ok {
			if tail, ok := number(b[10:]); ok && head < 9e9 {
				return head*1e9 + tail, true, true
			}
		}
	}
	ns, ok = scaled(b, 1_000_000_000)
	return ns, true, ok && ns > 0
}

// stamp reads a stamp of any of the kinds.
func (c *clock) stamp(b []byte) (ns int64, fraction, ok bool) {
	switch {
	case len(b) > 2 && b[2] == '/':
		return c.common(b)
	case len(b) > 10 && b[4] == '-' && b[7] == '-':
		return iso(b)
	}
	return unix(b)
}

// instant is seconds since 1970 of a civil time, for the years 1970 to 2262.
func instant(y, m, d, hh, mm, ss int) (int64, bool) {
	if y < 1970 || y > 2261 || m < 1 || m > 12 || d < 1 || d > 31 || hh > 23 || mm > 59 || ss > 60 {
		return 0, false
	}
	if d > 28 && d > daysIn(y, m) {
		return 0, false
	}
	if m <= 2 {
		y--
		m += 12
	}
	days := 365*y + y/4 - y/100 + y/400 + (153*(m-3)+2)/5 + d - 1 - 719468
	return int64(days)*86400 + int64(hh*3600+mm*60+ss), true
}

func daysIn(y, m int) int {
	switch m {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if y%4 == 0 && (y%100 != 0 || y%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

func two(b []byte) (int, bool) {
	if len(b) < 2 || !isDigit(b[0]) || !isDigit(b[1]) {
		return 0, false
	}
	return int(b[0]-'0')*10 + int(b[1]-'0'), true
}

func monthOf(b []byte) int {
	switch string(b) {
	case "Jan":
		return 1
	case "Feb":
		return 2
	case "Mar":
		return 3
	case "Apr":
		return 4
	case "May":
		return 5
	case "Jun":
		return 6
	case "Jul":
		return 7
	case "Aug":
		return 8
	case "Sep":
		return 9
	case "Oct":
		return 10
	case "Nov":
		return 11
	case "Dec":
		return 12
	}
	return 0
}
