// Package send sends requests on a schedule and reports when each was really
// sent and how it ended.
//
// An Engine owns connections and one loop. It never decides what is due: it
// asks its Feed, fires what is due at its instant, and hands every result back
// to the Feed on the same goroutine, so that a Feed needs no locks.
package send

import (
	"context"

	"headroom/store/record"
)

// Field is one header field of a request.
type Field struct {
	Name  string
	Value []byte
}

// Request is one attempt, prepared. It belongs to the engine from Fire to Done.
type Request struct {
	Class     int
	Arrival   uint64 // number of the arrival in the schedule
	Attempt   int    // 0 for the first
	Scheduled int64  // ns since origin; response time counts from here
	Due       int64  // ns since origin; lag counts from here: Scheduled, or later for a retry or a later step of a flow
	Timeout   int64  // ns, counted from the send

	Method string
	Path   []byte // request target: path and query
	Fields []Field
	Body   []byte

	// KeepBody asks for the first KeepBody bytes of the answer's body in
	// Result.Body; 0 keeps nothing (the body is still read and counted).
	KeepBody int
	// MaxBody ends the attempt with ErrTooLarge when the body is longer; 0 = no limit.
	MaxBody int64

	State any // the feed's own
}

// Result is how an attempt ended.
type Result struct {
	// Sent is when the request was written, after a connection was obtained,
	// in ns since origin. Where no connection could be made it is when the
	// attempt to make one began; 0 where the attempt never began (see Unsent).
	Sent      int64
	FirstByte int64            // of the answer's head; 0 where none came
	Done      int64            // last byte, or the instant of the failure
	Status    int              // 0 where no complete head came
	Err       record.ErrorKind // ErrNone where a whole answer came
	Unsent    bool             // our own failure before anything was sent
	BytesIn   int64            // body bytes received
	BytesOut  int64            // body bytes sent
	Body      []byte           // see Request.KeepBody; valid only during Done
	NewConn   bool             // the first request of its connection
	// HeaderValue looks up a field of the answer, valid only during Done; nil
	// where no head came.
	HeaderValue func(name string) string
}

// Feed says what is due and takes results. All methods are called on the
// engine's loop.
type Feed interface {
	// Due is the instant, in ns since origin, at which Fire wants to be called
	// next; ok is false when nothing more will become due by itself.
	Due() (at int64, ok bool)
	// Fire is called at or after that instant. It returns the request to send
	// now, or nil where what was due was not a request. The engine asks Due
	// again afterwards, so a Feed that is behind is drained one by one.
	Fire(now int64) *Request
	// Done takes the result of an attempt, exactly once for every request that
	// Fire returned. It may make new things due.
	Done(*Request, *Result)
}

// Stats is what an engine has counted since it was made.
type Stats struct {
	record.Connections
	ConnsOpen  int
	InFlight   int               // fired and not done, waiting for a connection included
	Waiting    int               // of those, waiting for a connection or a stream
	LimitedNS  int64             // total time during which the connection limit was reached with requests waiting
	Resends    uint64            // must stay 0
	Negotiated map[string]string // protocol, tls_version, cipher …: a fact of the run
}

// Engine drives a Feed. Its methods are called from one goroutine.
type Engine interface {
	// Now is the time since origin in ns, on the clock that all instants use.
	Now() int64
	// Drive fires what is due and delivers results until the instant until, or,
	// with idle, until nothing is in flight and nothing will become due any
	// more; a Feed that has boundaries of its own which do not count implements
	// interface{ Pending() bool } and says so. It returns early with ctx's
	// error, leaving what is in flight as it is.
	Drive(ctx context.Context, feed Feed, until int64, idle bool) error
	// Abandon ends everything in flight: sent requests end with ErrDrain,
	// requests that never got a connection with ErrNoConnection and Unsent.
	Abandon(feed Feed)
	Stats() Stats
	Close() error
}

// Config is what an engine needs to know of its target and its limits.
type Config struct {
	Scheme        string // http or https
	Address       string // host:port to dial, after resolve; or the path of a Unix socket
	Network       string // tcp (default), unix
	Host          string // Host field
	HTTPVersion   string // "1.1", "2", "h2c", "auto"
	KeepAlive     bool
	MaxConns      int // 0 = no limit
	MaxPerConn    int // requests per connection, 0 = no limit
	MaxHead       int // bytes of an answer's head, default 64 kB
	TLS           TLS
	SourceAddress string
	IdleTimeout   int64 // ns after which an unused connection is closed, default 90 s
}

// TLS is how a TLS connection is made.
type TLS struct {
	CAFile, CertFile, KeyFile string
	ServerName                string
	Insecure                  bool
	Resumption                bool
}
