package send

import "headroom/store/record"

// StatusSet is a set of HTTP status codes from 100 to 999. The zero value is
// empty.
type StatusSet [16]uint64

// Statuses is the set of the given codes.
func Statuses(codes ...int) StatusSet {
	var s StatusSet
	for _, c := range codes {
		s.Add(c, c)
	}
	return s
}

// Add adds the codes from low to high, both included. What is outside 100 to
// 999 is no status and is left out.
func (s *StatusSet) Add(low, high int) {
	for c := max(low, 100); c <= min(high, 999); c++ {
		s[c>>6] |= 1 << (c & 63)
	}
}

// Has reports whether the set holds the code.
func (s *StatusSet) Has(code int) bool {
	return code >= 0 && code < 64*len(s) && s[code>>6]&(1<<(code&63)) != 0
}

// Expect is what a class of requests wants of an answer.
type Expect struct {
	Status StatusSet // allowed
	Shed   StatusSet // refusals on purpose; they win over Status
	// MaxBytes is the longest body that is right, 0 = any length.
	MaxBytes int64
	// Check reports whether the kept body (see Request.KeepBody) of an answer
	// with an allowed status is right; nil accepts every body.
	Check func(body []byte) bool
}

// Classify decides how a request ended whose last attempt ended with r.
// Response time counts from scheduled; it is late beyond deadlineNS, unless
// that is 0. The error kind is r's own, or ErrStatus or ErrContent where the
// answer was whole and not what was expected. It must be called while r is
// valid.
//
//	whole answer       shed status → shed; allowed and right → ok or late;
//	                   allowed and not right → wrong; any other → http_error
//	broken answer      (truncated, too long, framing broken after the head, a
//	                   capture missing) the same by its status, and never ok
//	no answer in time  (also no connection in time) → timeout
//	no answer          refused, reset, closed, name, TLS, no route, not HTTP → connect_error
//	cut off            by the end of the drain → unfinished
//	in-flight limit    → dropped
//	our own failure    → generator_error
func Classify(e *Expect, deadlineNS, scheduled int64, r *Result) (record.Outcome, record.ErrorKind) {
	switch r.Err {
	case record.ErrNone:
		return answered(e, deadlineNS, scheduled, r)
	case record.ErrTruncated, record.ErrTooLarge, record.ErrContent, record.ErrCapture, record.ErrStatus:
		return broken(e, r), r.Err
	case record.ErrProtocol:
		if r.Status != 0 {
			return broken(e, r), r.Err
		}
		return record.ConnectError, r.Err
	case record.ErrAnswerTimeout, record.ErrConnectTimeout:
		return record.Timeout, r.Err
	case record.ErrDrain:
		return record.Unfinished, r.Err
	case record.ErrInFlightLimit:
		return record.Dropped, r.Err
	}
	if r.Err.Own() {
		return record.GeneratorError, r.Err
	}
	return record.ConnectError, r.Err
}

func answered(e *Expect, deadlineNS, scheduled int64, r *Result) (record.Outcome, record.ErrorKind) {
	switch {
	case e.Shed.Has(r.Status):
		return record.Shed, record.ErrNone
	case !e.Status.Has(r.Status):
		return record.HTTPError, record.ErrStatus
	case e.MaxBytes > 0 && r.BytesIn > e.MaxBytes:
		return record.Wrong, record.ErrTooLarge
	case e.Check != nil && !e.Check(r.Body):
		return record.Wrong, record.ErrContent
	case deadlineNS > 0 && r.Done-scheduled > deadlineNS:
		return record.Late, record.ErrNone
	}
	return record.OK, record.ErrNone
}

func broken(e *Expect, r *Result) record.Outcome {
	switch {
	case e.Shed.Has(r.Status):
		return record.Shed
	case e.Status.Has(r.Status):
		return record.Wrong
	}
	return record.HTTPError
}
