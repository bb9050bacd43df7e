package sim

// ring is a FIFO of jobs that grows as needed.
type ring struct {
	buf  []*Job // length is a power of two, or 0
	head int
	n    int
}

func (r *ring) push(j *Job) {
	if r.n == len(r.buf) {
		grown := make([]*Job, max(16, 2*len(r.buf)))
		for i := range r.n {
			grown[i] = r.buf[(r.head+i)&(len(r.buf)-1)]
		}
		r.buf, r.head = grown, 0
	}
	r.buf[(r.head+r.n)&(len(r.buf)-1)] = j
	r.n++
}

func (r *ring) front() *Job {
	if r.n == 0 {
		return nil
	}
	return r.buf[r.head]
}

func (r *ring) pop() *Job {
	j := r.buf[r.head]
	r.buf[r.head] = nil
	r.head = (r.head + 1) & (len(r.buf) - 1)
	r.n--
	return j
}

// keep drops the jobs for which ok is false.
func (r *ring) keep(ok func(*Job) bool) {
	for range r.n {
		if j := r.pop(); ok(j) {
			r.push(j)
		}
	}
}
