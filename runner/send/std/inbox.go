package std

import "sync"

// inbox is what other goroutines tell the loop.
type inbox struct {
	mu    sync.Mutex
	calls []report
	conns []*conn // whose state has changed
	dials []*dial
	awake func()
}

type report struct {
	call   *call
	worker *worker
}

func (b *inbox) ended(c *call, w *worker) {
	b.mu.Lock()
	b.calls = append(b.calls, report{c, w})
	b.mu.Unlock()
	b.awake()
}

func (b *inbox) changed(c *conn) {
	b.mu.Lock()
	b.conns = append(b.conns, c)
	b.mu.Unlock()
	b.awake()
}

func (b *inbox) dialled(d *dial) {
	b.mu.Lock()
	b.dials = append(b.dials, d)
	b.mu.Unlock()
	b.awake()
}

// news is the contents of an inbox.
type news struct {
	calls []report
	conns []*conn
	dials []*dial
}

// take swaps the contents for those of n, which have been dealt with.
func (b *inbox) take(n *news) {
	clear(n.calls)
	clear(n.conns)
	clear(n.dials)
	b.mu.Lock()
	b.calls, n.calls = n.calls[:0], b.calls
	b.conns, n.conns = n.conns[:0], b.conns
	b.dials, n.dials = n.dials[:0], b.dials
	b.mu.Unlock()
}
