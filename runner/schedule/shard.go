package schedule

// Kept reports whether a shard, 0 to n-1, sends an arrival of the one schedule
// that all shards compute. Every arrival is kept by exactly one shard, so the
// union is the same for every n, and thinning a Poisson process independently
// of it leaves a Poisson process.
func Kept(seed, arrival uint64, shard, n int) bool {
	if n <= 1 {
		return true
	}
	return mix(mix(seed^0x5348415244)+golden*(arrival+1))%uint64(n) == uint64(shard)
}

// Numbered counts the arrivals of a phase on from those of the phases before
// it and leaves out what belongs to other shards. The number, not the instant,
// is what classes and data are drawn from.
type Numbered struct {
	arrivals Arrivals
	seed     uint64
	shard, n int
	next     uint64
}

// Number numbers the arrivals of a phase, the first of them as first, which is
// how many arrivals all phases before it had over all shards. It keeps those of
// the shard, 0 to n-1; n = 1 keeps all.
func Number(a Arrivals, first, seed uint64, shard, n int) *Numbered {
	return &Numbered{arrivals: a, next: first, seed: seed, shard: shard, n: n}
}

// Next is the next arrival that this shard sends: its number in the run and its
// instant, ns from the start of the phase. ok is false at the end.
func (a *Numbered) Next() (number uint64, at int64, ok bool) {
	for {
		at, ok = a.arrivals.Next()
		if !ok {
			return 0, 0, false
		}
		number = a.next
		a.next++
		if Kept(a.seed, number, a.shard, a.n) {
			return number, at, true
		}
	}
}

// Count is the number that the arrival after the last returned one would have:
// after the end of the phase, the first number of the next phase.
func (a *Numbered) Count() uint64 { return a.next }
