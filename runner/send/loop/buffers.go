package loop

const (
	bufferSize  = 4 << 10   // of a fresh buffer
	bufferKeep  = 256 << 10 // larger ones go back to the heap
	buffersKept = 1024
)

// buffers is a free list. Only connections with an unfinished answer hold a
// buffer, so that idle connections cost nothing.
type buffers struct {
	free [][]byte
}

func (b *buffers) get() []byte {
	if n := len(b.free); n > 0 {
		p := b.free[n-1]
		b.free[n-1] = nil
		b.free = b.free[:n-1]
		return p
	}
	return make([]byte, 0, bufferSize)
}

func (b *buffers) put(p []byte) {
	if cap(p) == 0 || cap(p) > bufferKeep || len(b.free) >= buffersKept {
		return
	}
	b.free = append(b.free, p[:0])
}
