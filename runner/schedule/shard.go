package schedule

// Kept reports whether a shard, 0 to n-1, sends an arrival of the one schedule
// that all shards compute, by the arrival's number in the run. Exactly one
// shard keeps each arrival, so the union is the same for every n, and thinning
// a Poisson process independently of it leaves a Poisson process.
func Kept(seed, arrival uint64, shard, n int) bool {
	if n <= 1 {
		return true
	}
	return mix(mix(seed^0x5348415244)+golden*(arrival+1))%uint64(n) == uint64(shard)
}
