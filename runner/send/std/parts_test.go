package std

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"pgregory.net/rapid"

	"headroom/runner/send"
	"headroom/runner/send/sendtest"
	"headroom/runner/sim/faulty"
	"headroom/store/record"
)

// TestLine compares the ring with a slice: what comes back takes its old place.
func TestLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l line
		var want, out []uint64
		next := uint64(0)
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				next++
				l.push(waiting{seq: next})
				want = append(want, next)
			case 2:
				if l.n > 0 {
					if first := l.first().seq; first != want[0] || l.pop().seq != first {
						t.Fatalf("%d, want %d", first, want[0])
					}
					out, want = append(out, want[0]), want[1:]
				}
			case 3:
				if len(out) > 0 {
					i := rapid.IntRange(0, len(out)-1).Draw(t, "back")
					l.putBack(waiting{seq: out[i]})
					want = append(want, out[i])
					slices.Sort(want)
					out = slices.Delete(out, i, i+1)
				}
			}
			if l.n != len(want) {
				t.Fatalf("%d waiting, want %d", l.n, len(want))
			}
		}
		for _, w := range want {
			if got := l.pop().seq; got != w {
				t.Fatalf("%d, want %d", got, w)
			}
		}
	})
}

// TestDeadlines: the next is the earliest, whatever is added, moved and removed.
func TestDeadlines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d deadlines
		var all []*call
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			at := rapid.Int64Range(0, 50).Draw(t, "at")
			switch {
			case len(all) == 0 || rapid.Bool().Draw(t, "add"):
				c := &call{deadline: at}
				d.add(c)
				all = append(all, c)
			case rapid.Bool().Draw(t, "move"):
				d.move(all[rapid.IntRange(0, len(all)-1).Draw(t, "which")], at)
			default:
				i := rapid.IntRange(0, len(all)-1).Draw(t, "which")
				d.remove(all[i])
				all = slices.Delete(all, i, i+1)
			}
			want := never
			for _, c := range all {
				want = min(want, c.deadline)
			}
			if d.next() != want || len(d) != len(all) {
				t.Fatalf("%d of %d, want %d of %d", d.next(), len(d), want, len(all))
			}
		}
	})
}

// TestPart: after the last answer it is the server that closes first.
func TestPart(t *testing.T) {
	type end struct {
		n   int
		err error
	}
	ends := make(chan end, 10)
	s := sendtest.Serve(t, func(s *sendtest.Server, c net.Conn, r *bufio.Reader) {
		if _, _, err := s.Read(r); err != nil {
			return
		}
		io.WriteString(c, sendtest.OK)
		c.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
		n, err := r.Read(make([]byte, 1))
		ends <- end{n, err}
	})
	cfg := sendtest.Config(s.Addr())
	cfg.KeepAlive = false
	e := open(t, cfg)
	f := sendtest.Chain(t, e, 3)
	if f.Kinds()[record.ErrNone] != 3 {
		t.Fatalf("%v", f.Kinds())
	}
	for range 3 {
		if x := <-ends; !errors.Is(x.err, os.ErrDeadlineExceeded) {
			t.Errorf("the server reads %d bytes, %v; want silence", x.n, x.err)
		}
	}
}

// TestMute: a server that takes connections and says nothing, as a TLS server
// and as one for HTTP/2 in plain text.
func TestMute(t *testing.T) {
	s, err := faulty.Start(faulty.Options{Mute: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, cfg := range []send.Config{
		{Scheme: "https", HTTPVersion: "1.1"}, {Scheme: "https", HTTPVersion: "2"}, {Scheme: "https", HTTPVersion: "auto"}, {Scheme: "http", HTTPVersion: "h2c"},
	} {
		cfg.Address, cfg.KeepAlive = s.Address, true
		reqs := sendtest.Many(3, 1e6)
		for _, r := range reqs {
			r.Timeout = 60e6
		}
		if f, _ := sendtest.Drive(t, New, cfg, reqs...); f.Kinds()[record.ErrConnectTimeout] != 3 {
			t.Errorf("%s %s: %v, want 3 connect timeouts", cfg.Scheme, cfg.HTTPVersion, f.Kinds())
		}
	}
}

// TestLookup: a name is looked up again for each new connection, and a
// connection that is kept stays where it is.
func TestLookup(t *testing.T) {
	s := sendtest.ServeOn(t, "tcp", "127.0.0.1:0", sendtest.Always(sendtest.OK))
	_, port, _ := net.SplitHostPort(s.Addr())
	names := newNames(t)
	cfg := sendtest.Config("service.test.:" + port)
	e := open(t, cfg)
	e.dialer.net.Resolver = names.resolver()
	f := sendtest.Chain(t, e, 5)
	if f.Kinds()[record.ErrNone] != 5 || names.asked.Load() != 1 {
		t.Errorf("kept: %v, looked up %d times", f.Kinds(), names.asked.Load())
	}
	cfg.MaxPerConn = 1
	e = open(t, cfg)
	e.dialer.net.Resolver = names.resolver()
	f = sendtest.Chain(t, e, 5)
	if f.Kinds()[record.ErrNone] != 5 || names.asked.Load() != 6 {
		t.Errorf("new: %v, looked up %d times", f.Kinds(), names.asked.Load()-1)
	}
	names.unknown.Store(true)
	f = sendtest.Chain(t, e, 1)
	if f.Kinds()[record.ErrDNS] != 1 {
		t.Errorf("unknown name: %v", f.Kinds())
	}
}

// names is a name server that knows one address.
type names struct {
	conn    net.PacketConn
	asked   atomic.Int64 // for addresses of version 4
	unknown atomic.Bool
}

func newNames(t *testing.T) *names {
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &names{conn: c}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			size, from, err := c.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:size]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m.Header.Response, m.Additionals = true, nil
			switch {
			case n.unknown.Load():
				m.Header.RCode = dnsmessage.RCodeNameError
			case q.Type == dnsmessage.TypeA:
				n.asked.Add(1)
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 3600},
					Body:   &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}},
				}}
			}
			if b, err := m.Pack(); err == nil {
				_, _ = c.WriteTo(b, from)
			}
		}
	}()
	t.Cleanup(func() {
		c.Close()
		<-done
	})
	return n
}

func (n *names) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", n.conn.LocalAddr().String())
	}}
}
