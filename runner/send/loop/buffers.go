package loop

const (
	bufferSize  = 4 << 10 // of a fresh buffer
	buffersKept = 8 << 20 // bytes in the free list; what is more goes back to the heap
)

// buffers is a free list. Only connections with an unfinished answer hold a
// buffer, so that idle connections cost nothing.
type buffers struct {
	free [][]byte
	size int // bytes in free
}

func (b *buffers) get() []byte {
	if n := len(b.free); n > 0 {
		p := b.free[n-1]
		b.free[n-1] = nil
		b.free = b.free[:n-1]
		b.size -= cap(p)
		return p
	}
	return make([]byte, 0, bufferSize)
}

func (b *buffers) put(p []byte) {
	if cap(p) == 0 || b.size+cap(p) > buffersKept {
		return
	}
	b.size += cap(p)
	b.free = append(b.free, p[:0])
}
