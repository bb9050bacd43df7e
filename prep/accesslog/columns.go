package accesslog

import "bytes"

// field is what a column of a log holds.
type field uint8

const (
	skip field = iota
	fieldClient
	fieldStamp
	fieldDate
	fieldTime
	fieldRequest
	fieldMethod
	fieldTarget // path and query
	fieldPath
	fieldQuery
	fieldStatus
	fieldBytes
	fieldSeconds
	fieldMillis
	fieldMicros
	fieldNanos
)

// columns takes the fields of a line one by one, in any order.
type columns struct {
	clock      clock
	day, daily []byte
	query      []byte
	stamped    bool
	method     bool
}

func (c *columns) start() {
	c.day, c.daily, c.query, c.stamped, c.method = nil, nil, nil, false, false
}

// set takes one field.
func (c *columns) set(f field, v []byte, e *Entry) Reason {
	switch f {
	case skip:
	case fieldClient:
		e.setClient(v)
	case fieldStamp:
		at, fraction, ok := c.clock.stamp(v)
		if !ok {
			return BadTime
		}
		if !c.stamped || fraction { // of two stamps the finer one
			e.At, e.Fraction, c.stamped = at, fraction, true
		}
	case fieldDate:
		c.day = v
	case fieldTime:
		c.daily = v
	case fieldRequest:
		e.setRequest(v)
		c.method = true
	case fieldMethod:
		e.setMethod(v)
		c.method = true
	case fieldTarget:
		e.setTarget(v)
	case fieldPath:
		e.Path = v
	case fieldQuery:
		if string(v) != "-" {
			c.query = bytes.TrimPrefix(v, []byte{'?'})
		}
	case fieldStatus:
		return e.setStatus(v)
	case fieldBytes:
		if n, ok := number(v); ok {
			e.Bytes = n
		}
	case fieldSeconds:
		c.service(v, 1_000_000_000, e)
	case fieldMillis:
		c.service(v, 1_000_000, e)
	case fieldMicros:
		c.service(v, 1_000, e)
	case fieldNanos:
		c.service(v, 1, e)
	}
	return ""
}

func (c *columns) service(v []byte, scale int64, e *Entry) {
	if n, ok := scaled(v, scale); ok {
		e.Service = n
	}
}

// finish puts the parts together. day is the date where the line has none,
// seconds since 1970, or −1.
func (c *columns) finish(e *Entry, day int64) Reason {
	if c.query != nil {
		e.Query = c.query
	}
	if !c.method || (len(e.Path) == 0 && len(e.Method) == 0) {
		e.Odd = true
	}
	if e.Odd {
		e.Method, e.Path, e.Query = nil, nil, nil
	}
	if c.stamped {
		return ""
	}
	if c.day != nil {
		var ok bool
		if day, ok = date(c.day); !ok {
			return BadTime
		}
	}
	if day < 0 || len(c.daily) < 8 {
		return BadTime
	}
	sec, ok := timeOfDay(c.daily[:8])
	if !ok {
		return BadTime
	}
	if e.At, e.Fraction, ok = finish(day+sec, c.daily[8:]); !ok {
		return BadTime
	}
	return ""
}
