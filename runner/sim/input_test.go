package sim

import (
	"bytes"
	"net"
	"strings"
	"testing"
	"testing/iotest"
)

// pieces is a connection that delivers given bytes one at a time.
type pieces struct {
	net.Conn
	r interface{ Read([]byte) (int, error) }
}

func (p pieces) Read(b []byte) (int, error) { return p.r.Read(b) }

// Whatever comes, and in whatever pieces, the requests read are the same, and
// every one has a target and a length that was skipped.
func FuzzInput(f *testing.F) {
	for _, s := range []string{
		"GET / HTTP/1.1\r\n\r\n",
		"GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
		"POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcGET /b HTTP/1.1\r\n\r\n",
		"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nGET /b HTTP/1.1\r\n\r\n",
		"GET http://x HTTP/1.1\r\n\r\n", "\r\n\r\nGET / HTTP/1.1\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
		"POST / HTTP/1.1\r\nTransfer-Encoding: x\r\n\r\n-1\r\n", "POST / HTTP/1.1\r\nTransfer-Encoding: x\r\n\r\n7fffffffffffffff\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		read := func(in *input) string {
			var b strings.Builder
			for {
				h, err := in.head()
				if err != nil {
					return b.String()
				}
				if len(h.target) == 0 || h.length < -1 {
					t.Fatalf("read %+v from %q", h, raw)
				}
				if err := in.skip(&h); err != nil {
					return b.String()
				}
				b.WriteString(h.method + " " + string(h.target) + "\n")
			}
		}
		whole := read(&input{c: pieces{r: bytes.NewReader(raw)}})
		single := read(&input{c: pieces{r: iotest.OneByteReader(bytes.NewReader(raw))}})
		if whole != single {
			t.Errorf("%q read as %q and, byte by byte, as %q", raw, whole, single)
		}
	})
}
