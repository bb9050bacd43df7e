// Package std is the portable engine, over net/http's ClientConn: TLS, HTTP/2
// (over TLS and with prior knowledge), and HTTP/1.1 where the fast loop of
// package loop does not run. To its Feed it behaves like that loop; what is
// said there about answers first, the pace of opening connections, the order
// of waiting requests, connections that the server is about to close, and Idle
// holds here too.
//
// # How it turns
//
// The goroutine that calls Drive owns the feed and all connections' books. A
// request in flight has a goroutine that does the round trip and reports back.
// Drive sleeps on a timerfd read through the runtime's poller, which wakes it
// within about 50 µs; where there is none it sleeps on a plain timer, which may
// be late by a millisecond, and says so: Stats.Negotiated["timer"] is "plain".
//
// # Instants
//
// HTTP/1.1: Sent is stamped right before the first byte of the request is
// written, FirstByte when the first byte of the answer is read, both beneath
// HTTP and above TLS. HTTP/2: Sent is the instant after a stream was reserved
// at which the request is handed to the connection, FirstByte the instant at
// which the head of the answer is known. A handshake lies before Sent, so it is
// lag; the means of full and resumed handshakes are told apart from it in
// Stats.Negotiated (tls_handshake_full_mean_us, tls_handshake_resumed_mean_us).
//
// # HTTP/2
//
// A connection is used once its SETTINGS have been read and acknowledged, so
// that its number of streams is known. A request takes a free stream by
// Reserve; where there is none it waits in line and counts in Stats.Waiting.
// Where all streams of all connections are taken, another connection is opened,
// unless the limit of connections forbids it, and then that counts in
// Stats.LimitedNS.
//
// # Nothing is sent twice
//
// A ClientConn never sends a request again, and neither does this package. A
// request of which the server cannot have processed anything goes back to its
// place in line, as never sent, and counts once: one of which no byte was
// written because its connection turned out to be closed (a new connection that
// the server closes within 20 ms apart: that is its answer), and over HTTP/2 one
// that the server refused by GOAWAY with a lower last stream or by
// REFUSED_STREAM, which both promise that it was not processed (RFC 9113, 8.7).
// A request that comes back 16 times ends as closed or reset.
//
// # Errors
//
// As in package loop. Everything that goes wrong in a TLS handshake, its
// time-out apart, is ErrTLS; so is an alert later on, by which a server rejects
// a client certificate in TLS 1.3. A stream that the server resets is ErrReset.
//
// An answer over HTTP/1.1 with both a Content-Length and chunks is read by its
// chunks, as net/http does and RFC 9112, 6.3 allows. To package loop it is
// ErrProtocol, because two parties that read it differently can be made to take
// one answer for two. A run that is to find such answers uses that engine.
//
// # The log
//
// Bytes that come when no answer is expected are written by net/http to the
// standard logger of package log, which cannot be set for one transport. A
// program that has a terminal of its own turns that logger off; the connection
// is closed in any case.
package std
