package faulty

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// exchange is one request being answered; each answer reports whether the
// connection goes on.
type exchange struct {
	s     *Server
	c     net.Conn
	close bool // announce the end of the connection
	kind  string
	n     int
}

const document = `{"ok":true}` + "\n"

var kinds = map[string]func(*exchange) bool{
	"ok":     func(x *exchange) bool { return x.whole(200, document) },
	"status": func(x *exchange) bool { return x.whole(min(max(x.n, 200), 999), document) },
	"error": func(x *exchange) bool {
		x.s.mu.Lock()
		x.s.errors++
		n := x.s.errors
		x.s.mu.Unlock()
		return x.whole(500, fmt.Sprintf("error number %d of this server\n", n))
	},
	"large":     func(x *exchange) bool { return x.whole(200, strings.Repeat("x", min(x.n, 64<<20))) },
	"slow":      func(x *exchange) bool { return x.pause() && x.whole(200, document) },
	"slow-head": (*exchange).slowHead,
	"chunked": func(x *exchange) bool {
		return x.raw(x.chunkedHead() + "4\r\n{\"ok\r\n6;x=y\r\n\":true\r\n2\r\n}\n\r\n0\r\nX-Trailer: 1\r\n\r\n")
	},
	"http10":      func(x *exchange) bool { x.raw("HTTP/1.0 200 OK\r\n\r\n" + document); return false },
	"until-close": func(x *exchange) bool { x.raw("HTTP/1.1 200 OK\r\n\r\n" + document); return false },
	"continue": func(x *exchange) bool {
		return x.raw("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n") && x.whole(200, document)
	},
	"redirect": func(x *exchange) bool {
		if x.n == 0 {
			return x.whole(200, document)
		}
		return x.raw(fmt.Sprintf("HTTP/1.1 302 Found\r\nLocation: /redirect/%d\r\nContent-Length: 0\r\n%s\r\n", x.n-1, x.end()))
	},
	"hang":       func(x *exchange) bool { return x.wait() },
	"hang-body":  func(x *exchange) bool { return x.raw(partial) && x.wait() },
	"reset":      (*exchange).reset,
	"reset-body": func(x *exchange) bool { return x.raw(partial) && x.reset() },
	"close":      func(*exchange) bool { return false },
	"truncate":   func(x *exchange) bool { x.raw(partial); return false },
	"cut-chunk":  func(x *exchange) bool { x.raw(x.chunkedHead() + "ff\r\nonly a part"); return false },
	"extra":      func(x *exchange) bool { return x.whole(200, document) && x.raw("and more than was announced") },
	"garbage":    func(x *exchange) bool { x.raw("this is not HTTP\r\n\r\n"); return false },
	"lengths": func(x *exchange) bool {
		return x.raw("HTTP/1.1 200 OK\r\nContent-Length: 12\r\nContent-Length: 20\r\n\r\n" + document)
	},
	"huge-head": func(x *exchange) bool {
		return x.raw("HTTP/1.1 200 OK\r\nX-Huge: "+strings.Repeat("x", 1<<20)+"\r\n") && x.raw("Content-Length: 0\r\n\r\n")
	},
}

// partial announces 100 bytes and has 10.
const partial = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789"

func known(kind string) string {
	if kinds[kind] == nil {
		return "ok"
	}
	return kind
}

func (x *exchange) answer() bool { return kinds[known(x.kind)](x) }

func (x *exchange) end() string {
	if x.close {
		return "Connection: close\r\n"
	}
	return ""
}

func (x *exchange) chunkedHead() string {
	return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + x.end() + "\r\n"
}

func (x *exchange) raw(text string) bool {
	_, err := io.WriteString(x.c, text)
	return err == nil
}

func (x *exchange) whole(status int, body string) bool {
	head := "HTTP/1.1 " + strconv.Itoa(status) + " " + http.StatusText(status) + "\r\nContent-Type: application/json\r\n" + x.end()
	if status == 204 || status == 304 {
		return x.raw(head + "\r\n")
	}
	return x.raw(head + "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
}

// pause waits n ms, or until the server is closed.
func (x *exchange) pause() bool {
	timer := time.NewTimer(time.Duration(x.n) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-x.s.done:
		return false
	}
}

// wait keeps the connection until the client closes it.
func (x *exchange) wait() bool {
	_, _ = io.Copy(io.Discard, x.c) // until it ends, however it ends
	return false
}

func (x *exchange) reset() bool {
	if tcp, ok := x.c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // so that closing it resets it
	}
	return false
}

func (x *exchange) slowHead() bool {
	text := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + x.end() + "Content-Length: " + strconv.Itoa(len(document)) + "\r\n\r\n"
	step := exchange{s: x.s, n: x.n / len(text)}
	for i := range len(text) {
		if !step.pause() || !x.raw(text[i:i+1]) {
			return false
		}
	}
	return x.raw(document)
}
