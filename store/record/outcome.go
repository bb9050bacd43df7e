package record

import "fmt"

// Outcome is how a scheduled request ended. Every scheduled request ends in
// exactly one outcome.
type Outcome uint8

// The outcomes, in the order in which they are stored and printed.
const (
	OK             Outcome = iota // valid answer within the deadline
	Late                          // valid answer after the deadline, counted from the scheduled instant
	Shed                          // refused on purpose, by a status that the plan lists
	Wrong                         // an allowed status with the wrong content, or a truncated body
	HTTPError                     // any other status
	Timeout                       // no answer within the timeout, counted from the send
	ConnectError                  // refused, reset, TLS or DNS failure: the far side's fault
	GeneratorError                // our own fault: no descriptor, no local port, no memory, no connection in time
	Dropped                       // never sent: the in-flight limit was reached
	Unfinished                    // still in flight when the drain limit ended
	NumOutcomes    = int(iota)
)

var outcomeNames = [NumOutcomes]string{
	"ok", "late", "shed", "wrong", "http_error", "timeout",
	"connect_error", "generator_error", "dropped", "unfinished",
}

// String returns the name used in JSON, CSV and reports.
func (o Outcome) String() string {
	if int(o) < NumOutcomes {
		return outcomeNames[o]
	}
	return fmt.Sprintf("outcome(%d)", uint8(o))
}

// Outcomes lists all outcomes in storage order.
func Outcomes() []Outcome {
	all := make([]Outcome, NumOutcomes)
	for i := range all {
		all[i] = Outcome(i)
	}
	return all
}

// Valid reports whether the answer was valid, in time or not.
func (o Outcome) Valid() bool { return o == OK || o == Late }

// ErrorKind names why an attempt failed. The set is fixed, so that neither the
// text of an error nor an address ever reaches the evidence.
type ErrorKind uint8

// The error kinds. Numbers are part of the file format: append, never reorder.
const (
	ErrNone           ErrorKind = iota
	ErrRefused                  // connection refused
	ErrReset                    // connection reset by the far side
	ErrClosed                   // closed before a complete answer head
	ErrDNS                      // name not resolved
	ErrTLS                      // TLS handshake or certificate
	ErrConnectTimeout           // connection not established within the timeout
	ErrAnswerTimeout            // nothing, or not all, of the answer within the timeout
	ErrProtocol                 // not HTTP, or HTTP that contradicts itself
	ErrTruncated                // body shorter than announced
	ErrStatus                   // a status outside the expected and shed lists
	ErrContent                  // allowed status, content not as expected
	ErrTooLarge                 // body longer than max_bytes
	ErrDescriptors              // no file descriptor left in the generator
	ErrPorts                    // no local port left in the generator
	ErrMemory                   // no memory or buffer space in the generator
	ErrNoConnection             // our own connection limit: no connection became free before the drain ended
	ErrInFlightLimit            // our own in-flight limit
	ErrUnreachable              // no route, network or host unreachable
	ErrDrain                    // cut off when the drain limit ended
	ErrCapture                  // a flow's captured value was not in the answer
	ErrRequest                  // the request could not be built
	NumErrorKinds     = int(iota)
)

var errorNames = [NumErrorKinds]string{
	"none", "refused", "reset", "closed", "dns", "tls", "connect_timeout", "answer_timeout",
	"protocol", "truncated", "status", "content", "too_large", "descriptors", "ports", "memory",
	"no_connection", "in_flight_limit", "unreachable", "drain", "capture", "request",
}

// String returns the name used in JSON and CSV.
func (e ErrorKind) String() string {
	if int(e) < NumErrorKinds {
		return errorNames[e]
	}
	return fmt.Sprintf("error(%d)", uint8(e))
}

// Own reports whether the failure is the generator's own fault.
func (e ErrorKind) Own() bool {
	switch e {
	case ErrDescriptors, ErrPorts, ErrMemory, ErrNoConnection, ErrInFlightLimit, ErrRequest:
		return true
	}
	return false
}

// Counts accounts for requests by the interval in which they were scheduled.
type Counts struct {
	Scheduled uint64
	Sent      uint64              // requests of which at least one attempt was made
	Unsent    uint64              // generator errors that happened before the send
	By        [NumOutcomes]uint64 // by outcome
	Attempts  uint64              // attempts made, retries included
	BytesIn   uint64              // body bytes received
	BytesOut  uint64              // body bytes sent
}

// Add adds o to c.
func (c *Counts) Add(o *Counts) {
	c.Scheduled += o.Scheduled
	c.Sent += o.Sent
	c.Unsent += o.Unsent
	for i, n := range o.By {
		c.By[i] += n
	}
	c.Attempts += o.Attempts
	c.BytesIn += o.BytesIn
	c.BytesOut += o.BytesOut
}

// Total is the sum over all outcomes.
func (c *Counts) Total() uint64 {
	var n uint64
	for _, v := range c.By {
		n += v
	}
	return n
}

// Errors counts what is neither ok nor shed.
func (c *Counts) Errors() uint64 { return c.Total() - c.By[OK] - c.By[Shed] }

// Check asserts the law of accounting: scheduled = sum of outcomes, and
// sent = scheduled - dropped - generator errors before the send.
func (c *Counts) Check() error {
	if c.Scheduled != c.Total() {
		return fmt.Errorf("scheduled %d, but the outcomes sum to %d", c.Scheduled, c.Total())
	}
	if c.Unsent > c.By[GeneratorError] {
		return fmt.Errorf("%d requests unsent by the generator, but only %d generator errors", c.Unsent, c.By[GeneratorError])
	}
	if want := c.Scheduled - c.By[Dropped] - c.Unsent; c.Sent != want {
		return fmt.Errorf("sent %d, but scheduled - dropped - unsent is %d", c.Sent, want)
	}
	return nil
}
