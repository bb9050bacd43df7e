package loop

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"headroom/runner/send"
	"headroom/runner/send/sendtest"
)

// TestDeadlines compares the queues with a plain search.
func TestDeadlines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d deadlines
		conns := make([]*conn, 8)
		for i := range conns {
			conns[i] = &conn{}
		}
		now := int64(1)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			c := conns[rapid.IntRange(0, 7).Draw(t, "conn")]
			now += rapid.Int64Range(0, 5).Draw(t, "passes")
			if rapid.Bool().Draw(t, "arm") {
				after := rapid.SampledFrom([]int64{0, -1, 3, 10, 10, 17, never}).Draw(t, "after")
				d.arm(c, now, after)
				if want := now + after; after <= 0 || after == never {
					if c.deadline != 0 {
						t.Fatalf("armed for %d without a timeout", c.deadline)
					}
				} else if c.deadline != want {
					t.Fatalf("armed for %d, want %d", c.deadline, want)
				}
			} else {
				d.disarm(c)
			}
			want := never
			for _, c := range conns {
				if c.deadline != 0 {
					want = min(want, c.deadline)
				}
			}
			got := never
			if first := d.first(); first != nil {
				got = first.deadline
			}
			if got != want {
				t.Fatalf("first deadline %d, want %d", got, want)
			}
		}
		if len(d.queues) > 8 {
			t.Fatalf("%d queues", len(d.queues))
		}
	})
}

// TestLine compares the ring with a slice.
func TestLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l line
		var want []*send.Request
		for _, push := range rapid.SliceOfN(rapid.Bool(), 1, 500).Draw(t, "pushes") {
			if push || l.n == 0 {
				r := &send.Request{}
				l.push(waiting{req: r})
				want = append(want, r)
			} else if got := l.pop().req; got != want[0] {
				t.Fatal("out of order")
			} else {
				want = want[1:]
			}
			if l.n != len(want) || l.n > 0 && l.first().req != want[0] {
				t.Fatalf("%d waiting, want %d", l.n, len(want))
			}
		}
	})
}

// TestBuffers: the free list is bounded in bytes.
func TestBuffers(t *testing.T) {
	var b buffers
	for range 100 {
		b.put(make([]byte, 0, 1<<20))
	}
	if b.size != buffersKept || len(b.free) != 8 {
		t.Errorf("%d bytes in %d buffers", b.size, len(b.free))
	}
	for range 20 {
		b.get()
	}
	if b.size != 0 {
		t.Errorf("%d bytes in no buffers", b.size)
	}
}

// TestPunctual: the thread is afterwards as it was.
func TestPunctual(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	slack := func() int {
		n, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
		if err != nil {
			t.Skipf("the kernel does not tell the timer slack: %v", err)
		}
		return n
	}
	before := slack()
	undo := punctual()
	if got := slack(); got != 1 {
		t.Errorf("slack %d ns while punctual", got)
	}
	undo()
	if got := slack(); got != before {
		t.Errorf("slack %d ns afterwards, was %d", got, before)
	}
}

// TestRefresh looks a name up again, no more often than it should.
func TestRefresh(t *testing.T) {
	cfg := sendtest.Config("localhost:80")
	tg, err := newTarget(&cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer tg.cancel()
	was := len(tg.addrs)
	tg.addrs = tg.addrs[:0]
	tg.refresh(lookupEvery - 1)
	if tg.asking.Load() || tg.found.Load() != nil {
		t.Error("looked up too early")
	}
	tg.refresh(lookupEvery)
	for tg.asking.Load() {
		runtime.Gosched()
	}
	tg.refresh(lookupEvery + 1)
	if len(tg.addrs) != was || tg.asking.Load() {
		t.Errorf("%d addresses, had %d", len(tg.addrs), was)
	}
}
