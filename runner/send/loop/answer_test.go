package loop

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"headroom/store/record"
)

// parse reads text in pieces of the given size, then the end of the connection.
func parse(text string, size int, noBody bool, keep int, maxBody int64) (*answer, int, record.ErrorKind) {
	a := &answer{pool: &buffers{}, maxHead: 1 << 12}
	a.begin(noBody, keep, maxBody)
	used := 0
	buf := make([]byte, size)
	for used < len(text) && a.stage != complete {
		// The buffer is used again, as the loop does.
		n := copy(buf, text[used:])
		k, kind := a.take(buf[:n])
		used += k
		if kind != record.ErrNone {
			return a, used, kind
		}
		if a.stage != complete {
			clear(buf)
		}
	}
	return a, used, a.end()
}

func TestAnswer(t *testing.T) {
	const ok = record.ErrNone
	const proto = record.ErrProtocol
	for _, c := range []struct {
		name, text string
		noBody     bool
		kind       record.ErrorKind
		status     int
		body       string
		rest       string // belongs to the connection, not to the answer
		close      bool
	}{
		{name: "length", text: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", status: 200, body: "hello"},
		{name: "length and more", text: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello?", status: 200, body: "hello", rest: "?"},
		{name: "no reason, no space", text: "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", status: 200},
		{name: "no reason", text: "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", status: 200},
		{name: "bare line feeds in the head", text: "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", status: 200, body: "ok"},
		{name: "case of names", text: "HTTP/1.1 200 OK\r\ncOnTeNt-LeNgTh:\t 2 \r\nCONNECTION: Close\r\n\r\nok", status: 200, body: "ok", close: true},
		{name: "equal lengths", text: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok", status: 200, body: "ok"},
		{name: "connection list", text: "HTTP/1.1 200 OK\r\nConnection: x, close\r\nContent-Length: 0\r\n\r\n", status: 200, close: true},
		{name: "to the close", text: "HTTP/1.1 200 OK\r\n\r\nall of it", status: 200, body: "all of it", close: true},
		{name: "1.0", text: "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", status: 200, body: "ok", close: true},
		{name: "1.0 kept", text: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", status: 200, body: "ok"},
		{name: "204", text: "HTTP/1.1 204 No Content\r\n\r\n", status: 204},
		{name: "204 with a length", text: "HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc", status: 204, rest: "abc"},
		{name: "304", text: "HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n", status: 304},
		{name: "head", text: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", noBody: true, status: 200},
		{name: "head chunked", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", noBody: true, status: 200},
		{name: "interim", text: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", status: 200, body: "ok"},
		{name: "chunked", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nA;x=\"y\"\r\n0123456789\r\n0\r\n\r\n", status: 200, body: "ab0123456789"},
		{name: "trailers", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\nx\r\n000\r\nDigest: abc\r\nB: \r\n\r\nmore", status: 200, body: "x", rest: "more"},

		{name: "nothing", text: "", kind: record.ErrClosed},
		{name: "half a head", text: "HTTP/1.1 200 OK\r\nContent-", kind: record.ErrClosed, status: 200},
		{name: "short body", text: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", kind: record.ErrTruncated, status: 200, body: "hel"},
		{name: "short chunk", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", kind: record.ErrTruncated, status: 200, body: "hel"},
		{name: "no last chunk", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n", kind: record.ErrTruncated, status: 200, body: "hel"},
		{name: "no end of trailers", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n", kind: record.ErrTruncated, status: 200},

		{name: "not HTTP", text: "SSH-2.0-OpenSSH\r\n\r\n", kind: proto},
		{name: "HTTP 2", text: "HTTP/2.0 200 OK\r\n\r\n", kind: proto},
		{name: "status letters", text: "HTTP/1.1 2x0 OK\r\n\r\n", kind: proto},
		{name: "status of four", text: "HTTP/1.1 2000 OK\r\n\r\n", kind: proto},
		{name: "status below 100", text: "HTTP/1.1 099 OK\r\n\r\n", kind: proto},
		{name: "switching", text: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", kind: proto},
		{name: "empty line first", text: "\r\nHTTP/1.1 200 OK\r\n\r\n", kind: proto},
		{name: "folded", text: "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n", kind: proto},
		{name: "space before the colon", text: "HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n", kind: proto},
		{name: "no colon", text: "HTTP/1.1 200 OK\r\nContent\r\n\r\n", kind: proto},
		{name: "no name", text: "HTTP/1.1 200 OK\r\n: a\r\n\r\n", kind: proto},
		{name: "carriage return in a value", text: "HTTP/1.1 200 OK\r\nX: a\rContent-Length: 3\r\n\r\n", kind: proto},
		{name: "NUL in a value", text: "HTTP/1.1 200 OK\r\nX: a\x00\r\n\r\n", kind: proto},
		{name: "length and chunked", text: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", kind: proto, status: 200},
		{name: "two lengths", text: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", kind: proto},
		{name: "list of lengths", text: "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok", kind: proto},
		{name: "negative length", text: "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok", kind: proto},
		{name: "signed length", text: "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok", kind: proto},
		{name: "huge length", text: "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nok", kind: proto},
		{name: "empty length", text: "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\nok", kind: proto},
		{name: "gzip coding", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", kind: proto},
		{name: "two codings", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", kind: proto},
		{name: "chunked in 1.0", text: "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", kind: proto, status: 200},
		{name: "chunk without a size", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", kind: proto, status: 200},
		{name: "chunk size not hex", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\nab\r\n", kind: proto, status: 200},
		{name: "huge chunk size", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1000000000000000\r\n", kind: proto, status: 200},
		{name: "chunk ended by a line feed", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\nab\r\n0\r\n\r\n", kind: proto, status: 200},
		{name: "extension with a line feed", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;\nxx\r\nab\r\n0\r\n\r\n", kind: proto, status: 200},
		{name: "chunk longer than its size", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n", kind: proto, status: 200, body: "ab"},
		{name: "trailer without a colon", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nabc\r\n\r\n", kind: proto, status: 200},
		{name: "long head", text: "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("a", 1<<13) + "\r\n\r\n", kind: proto},
		{name: "long trailers", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + strings.Repeat("X: 0123456789\r\n", 1000), kind: proto, status: 200},
		{name: "endless interim", text: strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 1000), kind: proto},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, size := range []int{1, 2, 3, 7, 64, 1 << 16} {
				a, used, kind := parse(c.text, size, c.noBody, 1<<20, 0)
				if kind != c.kind {
					t.Fatalf("in pieces of %d: %v, want %v", size, kind, c.kind)
				}
				status := a.status
				if kind != ok && c.status == 0 {
					status = 0
				}
				if status != c.status || string(a.kept) != c.body || a.total != int64(len(c.body)) {
					t.Fatalf("in pieces of %d: %d %q (%d bytes), want %d %q", size, a.status, a.kept, a.total, c.status, c.body)
				}
				if kind == ok && (c.text[used:] != c.rest || a.close != c.close) {
					t.Fatalf("in pieces of %d: rest %q, close %v, want %q, %v", size, c.text[used:], a.close, c.rest, c.close)
				}
			}
		})
	}
	_ = ok
}

func TestAnswerKeepsAndLimits(t *testing.T) {
	const text = "HTTP/1.1 200 OK\r\nX-Test: first\r\nx-test: second\r\nTransfer-Encoding: chunked\r\nKeep-Alive: timeout=5, max=100\r\n\r\n6\r\nabcdef\r\n6\r\nghijkl\r\n0\r\n\r\n"
	for _, size := range []int{1, 5, 1 << 16} {
		a, _, kind := parse(text, size, false, 8, 0)
		if kind != record.ErrNone || string(a.kept) != "abcdefgh" || a.total != 12 {
			t.Errorf("in pieces of %d: %v, kept %q of %d", size, kind, a.kept, a.total)
		}
		if a.idleFor != 5 || a.idleMax != 100 {
			t.Errorf("Keep-Alive: timeout %d, max %d", a.idleFor, a.idleMax)
		}
		if size == 1 { // the head is kept while the body comes
			if got := header(a.text, "X-Test"); got != "first" {
				t.Errorf("X-Test: %q", got)
			}
			if got := header(a.text, "Absent"); got != "" {
				t.Errorf("Absent: %q", got)
			}
		}
		if _, _, kind := parse(text, size, false, 0, 12); kind != record.ErrNone {
			t.Errorf("12 bytes of at most 12: %v", kind)
		}
		if _, _, kind := parse(text, size, false, 0, 11); kind != record.ErrTooLarge {
			t.Errorf("12 bytes of at most 11: %v", kind)
		}
	}
	const announced = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"
	if _, _, kind := parse(announced, 8, false, 0, 99); kind != record.ErrTooLarge {
		t.Errorf("100 bytes announced of at most 99: %v", kind)
	}
}

// FuzzAnswer holds the reader against net/http: where both accept, they agree
// on status, body and what is left over; and the size of the pieces never matters.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nA;x=y\r\n0123456789\r\n0\r\nX: y\r\n\r\n",
		"HTTP/1.0 200 OK\r\n\r\nto the end",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
		"HTTP/1.1 200 OK\nContent-Length: 1\nContent-Length: 1\n\nx",
		"HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc",
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	} {
		f.Add(s, uint8(3), false)
		f.Add(s, uint8(200), true)
	}
	f.Fuzz(func(t *testing.T, text string, size uint8, noBody bool) {
		whole, used, kind := parse(text, len(text)+1, noBody, 1<<20, 0)
		a, used2, kind2 := parse(text, int(size)+1, noBody, 1<<20, 0)
		if kind != kind2 || kind == record.ErrNone && (used != used2 || a.status != whole.status || a.close != whole.close) || a.total != whole.total || !bytes.Equal(a.kept, whole.kept) {
			t.Fatalf("in one piece %v, %d bytes, %d %q; in pieces of %d %v, %d bytes, %d %q", kind, used, whole.status, whole.kept, size, kind2, used2, a.status, a.kept)
		}
		if kind != record.ErrNone {
			return
		}
		method := "GET"
		if noBody {
			method = "HEAD"
		}
		r := bufio.NewReader(strings.NewReader(text))
		var resp *http.Response
		for {
			var err error
			resp, err = http.ReadResponse(r, &http.Request{Method: method})
			if err != nil {
				return // net/http is stricter here
			}
			if resp.StatusCode >= 200 {
				break
			}
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return
		}
		if resp.StatusCode != a.status || string(body) != string(a.kept) {
			t.Fatalf("net/http: %d %q; here: %d %q", resp.StatusCode, body, a.status, a.kept)
		}
		if rest, _ := io.ReadAll(r); !resp.Close && string(rest) != text[used:] {
			t.Fatalf("net/http leaves %q; here %q", rest, text[used:])
		}
	})
}
