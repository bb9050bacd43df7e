package foreign

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"headroom/store/record"
)

// item is a row as it is kept: 64 bytes.
type item struct {
	key         int64 // order: scheduled, sequence or start
	start, done int64
	sched, seq  int64
	in, out     int64
	class       uint16
	status      uint16
	outcome     uint8
	err         uint8
}

const itemBytes = 7*8 + 6

func (t *item) encode(b []byte) {
	for i, v := range [...]int64{t.key, t.start, t.done, t.sched, t.seq, t.in, t.out} {
		binary.LittleEndian.PutUint64(b[8*i:], uint64(v))
	}
	binary.LittleEndian.PutUint16(b[56:], t.class)
	binary.LittleEndian.PutUint16(b[58:], t.status)
	b[60], b[61] = t.outcome, t.err
}

func (t *item) decode(b []byte) {
	for i, v := range [...]*int64{&t.key, &t.start, &t.done, &t.sched, &t.seq, &t.in, &t.out} {
		*v = int64(binary.LittleEndian.Uint64(b[8*i:]))
	}
	t.class, t.status = binary.LittleEndian.Uint16(b[56:]), binary.LittleEndian.Uint16(b[58:])
	t.outcome, t.err = b[60], b[61]
}

const (
	defaultMemoryRows = 500_000
	// maxClasses bounds the names that become classes; the rest are one class.
	maxClasses  = 200
	otherClass  = "(other)"
	maxSortRuns = 512 // files that are open at the same time
)

// collector keeps rows, sorts them, in memory or by runs on disk, and knows
// what must be known before the first one is counted.
type collector struct {
	limit  int
	dir    string
	sched  bool
	expect bool

	items []item
	runs  []*os.File
	names []string
	index map[string]int
	other uint64 // rows of classes beyond maxClasses
	late  int64  // rows that came out of order
	last  int64

	n, dropped            uint64
	minStart, maxStart    int64
	minSched, maxSched    int64
	maxDone               int64
	longest, longestFelt  int64
	firstTimeout          int64 // shortest duration of a request that timed out; 0 none
	minSeq, maxSeq        int64
	minKey, startOfMinKey int64
	early                 uint64 // sent before their scheduled instant
	wholeSeconds, wholeMS bool
	hasSeq                bool
}

func newCollector(o *Options) *collector {
	c := &collector{
		limit: o.MemoryRows, dir: o.TempDir, sched: o.ScheduledColumn != "", expect: o.ExpectedIntervalNS > 0,
		index: map[string]int{}, minStart: math.MaxInt64, minSched: math.MaxInt64, minSeq: math.MaxInt64, minKey: math.MaxInt64,
		maxSeq: -1, wholeSeconds: true, wholeMS: true, hasSeq: true, last: math.MinInt64,
	}
	if c.limit <= 0 {
		c.limit = defaultMemoryRows
	}
	return c
}

func (c *collector) class(name string) uint16 {
	if i, ok := c.index[name]; ok {
		return uint16(i)
	}
	if len(c.names) >= maxClasses {
		c.other++
		if name = otherClass; c.index[otherClass] > 0 {
			return uint16(c.index[otherClass])
		}
	}
	c.index[name] = len(c.names)
	c.names = append(c.names, name)
	return uint16(len(c.names) - 1)
}

func (c *collector) add(r *Row) error {
	t := item{
		start: r.StartNS, done: r.DoneNS, sched: r.StartNS, seq: r.Seq, in: r.BytesIn, out: r.BytesOut,
		class: c.class(r.Class), status: uint16(r.Status), outcome: uint8(r.Outcome), err: uint8(r.Err),
	}
	if c.sched {
		if t.sched = r.ScheduledNS; t.sched > t.start {
			c.early++
			t.sched = t.start
		}
	}
	t.key = t.sched
	c.hasSeq = c.hasSeq && r.Seq >= 0
	if c.expect && r.Seq >= 0 {
		t.key = r.Seq
	}
	if t.key < c.last {
		c.late++
	}
	c.last = max(c.last, t.key)
	c.know(&t)
	c.items = append(c.items, t)
	if len(c.items) >= c.limit {
		return c.spill()
	}
	return nil
}

func (c *collector) know(t *item) {
	c.n++
	c.minStart, c.maxStart = min(c.minStart, t.start), max(c.maxStart, t.start)
	c.minSched, c.maxSched = min(c.minSched, t.sched), max(c.maxSched, t.sched)
	c.maxDone = max(c.maxDone, t.done)
	c.minSeq, c.maxSeq = min(c.minSeq, t.seq), max(c.maxSeq, t.seq)
	if t.key < c.minKey {
		c.minKey, c.startOfMinKey = t.key, t.start
	}
	if record.Outcome(t.outcome) == record.Dropped {
		c.dropped++
		return
	}
	c.longest = max(c.longest, t.done-t.start)
	c.longestFelt = max(c.longestFelt, t.done-t.sched)
	if record.Outcome(t.outcome) == record.Timeout && (c.firstTimeout == 0 || t.done-t.start < c.firstTimeout) {
		c.firstTimeout = t.done - t.start
	}
	// A tool rounds either the start or the end of a request.
	c.wholeSeconds = c.wholeSeconds && (t.start%1e9 == 0 || t.done%1e9 == 0)
	c.wholeMS = c.wholeMS && (t.start%1e6 == 0 || t.done%1e6 == 0)
}

// resolution is what the instants are rounded to, in ns; 0 = finer than 1 ms.
func (c *collector) resolution() int64 {
	switch {
	case c.n-c.dropped < 3:
		return 0
	case c.wholeSeconds:
		return 1e9
	case c.wholeMS:
		return 1e6
	}
	return 0
}

func (c *collector) sort() {
	slices.SortStableFunc(c.items, func(a, b item) int { return cmp.Compare(a.key, b.key) })
}

// spill writes the rows in memory to a sorted run on disk.
func (c *collector) spill() error {
	if len(c.runs) >= maxSortRuns {
		return refuse(TooLarge, "the file has more than %d rows: split it", c.limit*maxSortRuns)
	}
	c.sort()
	f, err := os.CreateTemp(c.dir, "headroom-import-*")
	if err != nil {
		return fmt.Errorf("sorting on disk: %w; set TMPDIR to a folder with room", err)
	}
	c.runs = append(c.runs, f)
	w := bufio.NewWriterSize(f, 1<<16)
	var b [itemBytes]byte
	for i := range c.items {
		c.items[i].encode(b[:])
		if _, err := w.Write(b[:]); err != nil {
			return fmt.Errorf("sorting on disk: %w; set TMPDIR to a folder with room", err)
		}
	}
	c.items = c.items[:0]
	if err := w.Flush(); err != nil {
		return fmt.Errorf("sorting on disk: %w; set TMPDIR to a folder with room", err)
	}
	return nil
}

func (c *collector) close() error {
	var all error
	for _, f := range c.runs {
		all = errors.Join(all, f.Close(), os.Remove(f.Name()))
	}
	c.runs, c.items = nil, nil
	return all
}

// run is a sorted run that is being read.
type run struct {
	in    *bufio.Reader // nil: the rows in memory
	items []item
	head  item
	order int
}

func (r *run) next() (bool, error) {
	if r.in == nil {
		if len(r.items) == 0 {
			return false, nil
		}
		r.head, r.items = r.items[0], r.items[1:]
		return true, nil
	}
	var b [itemBytes]byte
	if _, err := io.ReadFull(r.in, b[:]); err == io.EOF {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("sorting on disk: %w", err)
	}
	r.head.decode(b[:])
	return true, nil
}

type runHeap []*run

func (h runHeap) Len() int { return len(h) }
func (h runHeap) Less(i, j int) bool {
	if h[i].head.key != h[j].head.key {
		return h[i].head.key < h[j].head.key
	}
	return h[i].order < h[j].order
}
func (h runHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *runHeap) Push(x any)   { *h = append(*h, x.(*run)) }
func (h *runHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// each calls visit with every row in order. It may be called again.
func (c *collector) each(visit func(*item) error) error {
	c.sort()
	if len(c.runs) == 0 {
		for i := range c.items {
			if err := visit(&c.items[i]); err != nil {
				return err
			}
		}
		return nil
	}
	var h runHeap
	start := func(r *run) error {
		ok, err := r.next()
		if ok {
			heap.Push(&h, r)
		}
		return err
	}
	for i, f := range c.runs {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("sorting on disk: %w", err)
		}
		if err := start(&run{in: bufio.NewReaderSize(f, 1<<15), order: i}); err != nil {
			return err
		}
	}
	if err := start(&run{items: c.items, order: len(c.runs)}); err != nil {
		return err
	}
	for len(h) > 0 {
		if err := visit(&h[0].head); err != nil {
			return err
		}
		ok, err := h[0].next()
		switch {
		case err != nil:
			return err
		case ok:
			heap.Fix(&h, 0)
		default:
			heap.Pop(&h)
		}
	}
	return nil
}
