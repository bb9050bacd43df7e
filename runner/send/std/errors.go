package std

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"

	"headroom/runner/send"
	"headroom/store/record"
)

var (
	errHungUp   = errors.New("the server closed the connection before the request was written")
	errProtocol = errors.New("the server does not speak the HTTP version that was asked for")
	errClosed   = errors.New("the server closed the connection before it could be used")
)

// handshakeError is what went wrong in a TLS handshake.
type handshakeError struct{ error }

func (e handshakeError) Unwrap() error { return e.error }

// streamError is what net/http's stream errors convert themselves to in
// errors.As, which is how they are told outside net/http.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return "stream error" }

const refusedStream = 0x7 // REFUSED_STREAM, RFC 9113, 7

// These two errors of net/http have neither name nor type. A test fails where
// a new release words them differently.
const (
	goneAway = "http2: Transport received Server's graceful shutdown GOAWAY"
	unusable = "http2: client conn not usable"
)

// neverProcessed reports whether an HTTP/2 request that failed with err was
// certainly not processed: the server refused it, or it was not written.
func neverProcessed(err error) bool {
	var se streamError
	if errors.As(err, &se) {
		return se.Code == refusedStream
	}
	text := err.Error()
	return text == goneAway || text == unusable
}

// kindOfDial is the error kind of a failure to make a connection.
func kindOfDial(err error) record.ErrorKind {
	var errno syscall.Errno
	var shake handshakeError
	var name *net.DNSError
	var slow net.Error
	known := errors.As(err, &errno)
	switch {
	case known && send.KindOf(errno).Own():
		return send.KindOf(errno)
	case errors.Is(err, context.DeadlineExceeded):
		return record.ErrConnectTimeout
	case errors.As(err, &shake):
		return record.ErrTLS
	case errors.As(err, &name):
		return record.ErrDNS
	case errors.Is(err, errProtocol):
		return record.ErrProtocol
	case errors.Is(err, errClosed), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return record.ErrClosed
	case known:
		return send.KindOf(errno)
	case errors.As(err, &slow) && slow.Timeout():
		return record.ErrConnectTimeout
	}
	return record.ErrUnreachable
}

// kindOf is the error kind of a failure on a connection.
func kindOf(err error, inBody bool) record.ErrorKind {
	var errno syscall.Errno
	var op *net.OpError
	var se streamError
	switch {
	case errors.As(err, &errno):
		if kind := send.KindOf(errno); kind != record.ErrConnectTimeout {
			return kind
		}
		return record.ErrAnswerTimeout // the kernel gave up on an open connection
	case errors.As(err, &se):
		return record.ErrReset
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed), errors.Is(err, errHungUp):
		if inBody {
			return record.ErrTruncated
		}
		return record.ErrClosed
	case errors.As(err, &op) && isAlert(op):
		return record.ErrTLS
	}
	return record.ErrProtocol
}

// isAlert reports whether crypto/tls says by err that an alert came or was sent.
func isAlert(err *net.OpError) bool { return err.Op == "remote error" || err.Op == "local error" }
