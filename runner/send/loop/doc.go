// Package loop is the fast engine: plain HTTP/1.1 over TCP or a Unix socket,
// driven by one loop on a locked thread. It runs on Linux only; elsewhere New
// returns ErrUnsupported, and the engine over net/http takes its place.
//
// # How the loop turns
//
// One turn waits in epoll_pwait2 until the next instant that matters, to the
// nanosecond; then it reads what has come, ends what has timed out, writes
// what is due, and opens at most one connection. Answers come first because
// they return connections: a loop that serves arrivals first opens connections
// without bound after a stall. Turns are short (at most 32 answers, 32 sends
// and 128 kB of one body), so that neither side can starve the other.
//
// # Connections
//
// A request takes the connection that was returned last. Where none is free it
// waits in line, and takes whichever comes first: one that is returned, or one
// that has been opened. Connections are opened one per 50 µs at most and never
// more than there are requests waiting. Where an attempt to connect fails, the
// request that has waited longest fails with it; an attempt may take as long as
// that request's timeout.
//
// Nothing is ever sent twice. A connection that the server has closed is taken
// out as soon as the close is known, and once more looked at right before each
// use; what the server closes at the very instant of the send is reported as
// ErrClosed or ErrReset with Result.NewConn false. Connection: close and
// Keep-Alive: timeout, max are obeyed. What a server does by habit, without
// saying so, is learned, so that it costs no request (send.Habits); a habit seen
// three times is told in Stats.Negotiated: "closes_after_answers" and
// "closes_idle_after_ms". Where the limit of connections is reached and requests
// wait although there are idle ones, which are then all expected to be closed by
// the server, the one that has been unused for longest gives up its place.
//
// Where an answer ends its connection, the server is given a second to close
// first, so that the wait for stray segments, and the port it holds, are its.
//
// # Errors
//
// ECONNREFUSED is ErrRefused, ECONNRESET is ErrReset, an orderly close before a
// whole head is ErrClosed (EPIPE too: it means that the close came before the
// reset), and after it ErrTruncated. EMFILE and ENFILE are ErrDescriptors,
// EADDRNOTAVAIL and EADDRINUSE ErrPorts, ENOBUFS and ENOMEM ErrMemory; these
// are ours, and the request is Unsent. ENETUNREACH, EHOSTUNREACH and their
// relatives are ErrUnreachable.
//
// # Idle
//
// With idle, Drive returns when nothing is in flight and the feed, where it has
// a method Pending() bool, says that nothing else is to come. The instants that
// Due still yields (interval boundaries) do not keep it.
package loop

import "errors"

// ErrUnsupported is returned by New where this engine cannot do what is asked.
var ErrUnsupported = errors.New("loop: not supported by this engine")
