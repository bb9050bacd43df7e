package send

import (
	"testing"

	"headroom/store/record"
)

func TestClassify(t *testing.T) {
	expect := Expect{
		Status: Statuses(200, 201), Shed: Statuses(429, 503), MaxBytes: 100,
		Check: func(body []byte) bool { return string(body) == "right" },
	}
	both := Expect{Status: Statuses(200, 503), Shed: Statuses(503)}
	const ms = 1_000_000
	right := []byte("right")
	for _, c := range []struct {
		name     string
		expect   *Expect
		deadline int64
		result   Result
		outcome  record.Outcome
		kind     record.ErrorKind
	}{
		{"right", &expect, 100 * ms, Result{Status: 200, Body: right, Done: 50 * ms}, record.OK, record.ErrNone},
		{"at the deadline", &expect, 40 * ms, Result{Status: 201, Body: right, Done: 50 * ms}, record.OK, record.ErrNone},
		{"past the deadline", &expect, 40*ms - 1, Result{Status: 200, Body: right, Done: 50 * ms}, record.Late, record.ErrNone},
		{"no deadline", &expect, 0, Result{Status: 200, Body: right, Done: 1 << 60}, record.OK, record.ErrNone},
		{"wrong content", &expect, 100 * ms, Result{Status: 200, Body: []byte("left"), Done: 50 * ms}, record.Wrong, record.ErrContent},
		{"wrong content, late", &expect, 1, Result{Status: 200, Done: 50 * ms}, record.Wrong, record.ErrContent},
		{"body too long", &expect, 0, Result{Status: 200, Body: right, BytesIn: 101}, record.Wrong, record.ErrTooLarge},
		{"body long enough", &expect, 0, Result{Status: 200, Body: right, BytesIn: 100}, record.OK, record.ErrNone},
		{"shed", &expect, 100 * ms, Result{Status: 429, Done: 50 * ms}, record.Shed, record.ErrNone},
		{"shed, late", &expect, 1, Result{Status: 503, Done: 50 * ms}, record.Shed, record.ErrNone},
		{"shed wins over allowed", &both, 0, Result{Status: 503}, record.Shed, record.ErrNone},
		{"other status", &expect, 0, Result{Status: 500, Body: right}, record.HTTPError, record.ErrStatus},
		{"redirect", &expect, 0, Result{Status: 302}, record.HTTPError, record.ErrStatus},
		{"highest status", &expect, 0, Result{Status: 999}, record.HTTPError, record.ErrStatus},

		{"truncated", &expect, 0, Result{Status: 200, Err: record.ErrTruncated}, record.Wrong, record.ErrTruncated},
		{"truncated refusal", &expect, 0, Result{Status: 503, Err: record.ErrTruncated}, record.Shed, record.ErrTruncated},
		{"truncated error", &expect, 0, Result{Status: 500, Err: record.ErrTruncated}, record.HTTPError, record.ErrTruncated},
		{"cut off by max_bytes", &expect, 0, Result{Status: 200, Err: record.ErrTooLarge}, record.Wrong, record.ErrTooLarge},
		{"capture missing", &expect, 0, Result{Status: 200, Err: record.ErrCapture}, record.Wrong, record.ErrCapture},
		{"framing broken", &expect, 0, Result{Status: 200, Err: record.ErrProtocol}, record.Wrong, record.ErrProtocol},
		{"not HTTP", &expect, 0, Result{Err: record.ErrProtocol}, record.ConnectError, record.ErrProtocol},

		{"no answer in time", &expect, 0, Result{Err: record.ErrAnswerTimeout}, record.Timeout, record.ErrAnswerTimeout},
		{"half an answer in time", &expect, 0, Result{Status: 200, Err: record.ErrAnswerTimeout}, record.Timeout, record.ErrAnswerTimeout},
		{"no connection in time", &expect, 0, Result{Err: record.ErrConnectTimeout}, record.Timeout, record.ErrConnectTimeout},
		{"refused", &expect, 0, Result{Err: record.ErrRefused}, record.ConnectError, record.ErrRefused},
		{"reset", &expect, 0, Result{Err: record.ErrReset}, record.ConnectError, record.ErrReset},
		{"reset in the body", &expect, 0, Result{Status: 200, Err: record.ErrReset}, record.ConnectError, record.ErrReset},
		{"closed", &expect, 0, Result{Err: record.ErrClosed}, record.ConnectError, record.ErrClosed},
		{"name", &expect, 0, Result{Err: record.ErrDNS}, record.ConnectError, record.ErrDNS},
		{"TLS", &expect, 0, Result{Err: record.ErrTLS}, record.ConnectError, record.ErrTLS},
		{"no route", &expect, 0, Result{Err: record.ErrUnreachable}, record.ConnectError, record.ErrUnreachable},

		{"no descriptor", &expect, 0, Result{Err: record.ErrDescriptors, Unsent: true}, record.GeneratorError, record.ErrDescriptors},
		{"no port", &expect, 0, Result{Err: record.ErrPorts, Unsent: true}, record.GeneratorError, record.ErrPorts},
		{"no memory", &expect, 0, Result{Err: record.ErrMemory, Unsent: true}, record.GeneratorError, record.ErrMemory},
		{"no connection free", &expect, 0, Result{Err: record.ErrNoConnection, Unsent: true}, record.GeneratorError, record.ErrNoConnection},
		{"cannot be built", &expect, 0, Result{Err: record.ErrRequest, Unsent: true}, record.GeneratorError, record.ErrRequest},
		{"in-flight limit", &expect, 0, Result{Err: record.ErrInFlightLimit, Unsent: true}, record.Dropped, record.ErrInFlightLimit},
		{"drained", &expect, 0, Result{Err: record.ErrDrain}, record.Unfinished, record.ErrDrain},
	} {
		outcome, kind := Classify(c.expect, c.deadline, 10*ms, &c.result)
		if outcome != c.outcome || kind != c.kind {
			t.Errorf("%s: %v, %v; want %v, %v", c.name, outcome, kind, c.outcome, c.kind)
		}
	}
	// No kind may be forgotten: a failure is never ok, late or dropped by accident.
	for k := record.ErrNone + 1; int(k) < record.NumErrorKinds; k++ {
		outcome, kind := Classify(&expect, 0, 0, &Result{Err: k})
		if outcome.Valid() || kind != k || k.Own() != (outcome == record.GeneratorError || outcome == record.Dropped) {
			t.Errorf("%v: %v, %v", k, outcome, kind)
		}
	}
}

func TestStatusSet(t *testing.T) {
	var s StatusSet
	for c := -1; c < 2000; c++ {
		if s.Has(c) {
			t.Fatalf("the empty set has %d", c)
		}
	}
	s.Add(200, 299)
	s.Add(404, 404)
	s.Add(990, 2000)
	for c := -1; c < 2000; c++ {
		want := c >= 200 && c <= 299 || c == 404 || c >= 990 && c <= 999
		if s.Has(c) != want {
			t.Errorf("%d: %v", c, !want)
		}
	}
}

func TestClassifyAllocates(t *testing.T) {
	e := Expect{Status: Statuses(200)}
	r := Result{Status: 200}
	if n := testing.AllocsPerRun(100, func() { Classify(&e, 1, 0, &r) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
