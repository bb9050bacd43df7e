package std

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"headroom/runner/send"
	"headroom/runner/send/sendtest"
	"headroom/store/record"
)

// framed is an HTTP/2 server by hand: it decides itself which streams it
// answers, and counts those that it got and those that it processed.
type framed struct {
	t  testing.TB
	ln net.Listener
	wg sync.WaitGroup

	mu        sync.Mutex
	conns     int
	got       int
	processed int
}

func serveFrames(t testing.TB, handle func(f *framed, conn int, fr *http2.Framer)) *framed {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &framed{t: t, ln: ln}
	f.wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			f.mu.Lock()
			f.conns++
			n := f.conns
			f.mu.Unlock()
			f.wg.Go(func() {
				defer c.Close()
				if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
					return
				}
				fr := http2.NewFramer(c, c)
				if fr.WriteSettings() != nil {
					return
				}
				handle(f, n, fr)
				io.Copy(io.Discard, c)
			})
		}
	})
	t.Cleanup(func() {
		ln.Close()
		f.wg.Wait()
	})
	return f
}

// streams reads the heads of n requests and returns their streams.
func (f *framed) streams(fr *http2.Framer, n int) []uint32 {
	var ids []uint32
	for len(ids) < n {
		frame, err := fr.ReadFrame()
		if err != nil {
			return nil
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_ = fr.WriteSettingsAck()
			}
		case *http2.HeadersFrame:
			ids = append(ids, frame.StreamID)
			f.mu.Lock()
			f.got++
			f.mu.Unlock()
		}
	}
	return ids
}

func (f *framed) answer(fr *http2.Framer, id uint32) {
	f.mu.Lock()
	f.processed++
	f.mu.Unlock()
	var block bytes.Buffer
	_ = hpack.NewEncoder(&block).WriteField(hpack.HeaderField{Name: ":status", Value: "204"})
	_ = fr.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: true})
}

// TestRefusedStreams: what a server says it has not processed is sent as if for the
// first time; what it may have processed is not sent again.
func TestRefusedStreams(t *testing.T) {
	all := func(f *framed, fr *http2.Framer) {
		for {
			ids := f.streams(fr, 1)
			if ids == nil {
				return
			}
			f.answer(fr, ids[0])
		}
	}
	for _, c := range []struct {
		name           string
		first          func(f *framed, fr *http2.Framer) // what the first connection does
		conns          int
		fine, reset    int
		got, processed int
	}{
		{"GOAWAY after the second", func(f *framed, fr *http2.Framer) {
			ids := f.streams(fr, 5)
			if ids == nil {
				return
			}
			_ = fr.WriteGoAway(ids[1], http2.ErrCodeNo, nil)
			f.answer(fr, ids[0])
			f.answer(fr, ids[1])
		}, 2, 5, 0, 8, 5},
		{"GOAWAY before all", func(f *framed, fr *http2.Framer) {
			f.streams(fr, 5)
			_ = fr.WriteGoAway(0, http2.ErrCodeNo, nil)
		}, 2, 5, 0, 10, 5},
		{"refused streams", func(f *framed, fr *http2.Framer) {
			ids := f.streams(fr, 5)
			if ids == nil {
				return
			}
			_ = fr.WriteRSTStream(ids[3], http2.ErrCodeRefusedStream)
			_ = fr.WriteRSTStream(ids[4], http2.ErrCodeRefusedStream)
			for _, id := range ids[:3] {
				f.answer(fr, id)
			}
			all(f, fr)
		}, 1, 5, 0, 7, 5},
		{"reset streams", func(f *framed, fr *http2.Framer) {
			ids := f.streams(fr, 5)
			if ids == nil {
				return
			}
			_ = fr.WriteRSTStream(ids[3], http2.ErrCodeInternal)
			_ = fr.WriteRSTStream(ids[4], http2.ErrCodeCancel)
			for _, id := range ids[:3] {
				f.answer(fr, id)
			}
			all(f, fr)
		}, 1, 3, 2, 5, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serveFrames(t, func(f *framed, conn int, fr *http2.Framer) {
				if conn == 1 {
					c.first(f, fr)
					return
				}
				all(f, fr)
			})
			f, st := sendtest.Drive(t, New, send.Config{Scheme: "http", Address: s.ln.Addr().String(), HTTPVersion: "h2c", KeepAlive: true}, sendtest.Many(5, 0)...)
			k := f.Kinds()
			if k[record.ErrNone] != c.fine || k[record.ErrReset] != c.reset || len(f.Got) != 5 {
				t.Errorf("%v, want %d answers and %d reset", k, c.fine, c.reset)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.got != c.got || s.processed != c.processed || s.conns != c.conns || int(st.Opened) != c.conns {
				t.Errorf("the server got %d, processed %d, on %d connections; want %d, %d, %d; %+v", s.got, s.processed, s.conns, c.got, c.processed, c.conns, st)
			}
		})
	}
}

// TestRefusedForEver: a server that refuses everything fails what it refuses.
func TestRefusedForEver(t *testing.T) {
	s := serveFrames(t, func(f *framed, _ int, fr *http2.Framer) {
		for {
			ids := f.streams(fr, 1)
			if ids == nil {
				return
			}
			_ = fr.WriteRSTStream(ids[0], http2.ErrCodeRefusedStream)
		}
	})
	f, _ := sendtest.Drive(t, New, send.Config{Scheme: "http", Address: s.ln.Addr().String(), HTTPVersion: "h2c", KeepAlive: true}, sendtest.Many(3, 0)...)
	if f.Kinds()[record.ErrReset] != 3 || s.got != 3*(maxBack+1) {
		t.Errorf("%v after %d streams", f.Kinds(), s.got)
	}
}
