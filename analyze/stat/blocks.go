package stat

import "slices"

// blockBounds cuts n values into b contiguous blocks whose lengths differ by
// one at most, and calls f with each block's half-open range.
func blockBounds(n, b int, f func(block, from, to int)) {
	for i := range b {
		f(i, i*n/b, (i+1)*n/b)
	}
}

// SumBlocks cuts x into b contiguous blocks, equal to within one value, and
// returns the blocks' sums. It returns nil when b < 1 or there are fewer
// values than blocks.
func SumBlocks(x []uint64, b int) []uint64 {
	if b < 1 || len(x) < b {
		return nil
	}
	out := make([]uint64, b)
	blockBounds(len(x), b, func(i, from, to int) {
		for _, v := range x[from:to] {
			out[i] += v
		}
	})
	return out
}

// MeanBlocks returns the means of b contiguous blocks of x, equal to within
// one value; nil when b < 1, there are fewer values than blocks, or one is
// not finite.
func MeanBlocks(x []float64, b int) []float64 {
	return reduceBlocks(x, b, func(block []float64) float64 { m, _ := meanM2(block); return m })
}

// MedianBlocks returns the medians of b contiguous blocks of x, as MeanBlocks.
func MedianBlocks(x []float64, b int) []float64 {
	return reduceBlocks(x, b, func(block []float64) float64 { m, _ := Median(block); return m })
}

// MinBlocks returns the minima of b contiguous blocks of x, as MeanBlocks.
func MinBlocks(x []float64, b int) []float64 {
	return reduceBlocks(x, b, slices.Min[[]float64])
}

func reduceBlocks(x []float64, b int, f func([]float64) float64) []float64 {
	if b < 1 || len(x) < b || !Finite(x) {
		return nil
	}
	out := make([]float64, b)
	blockBounds(len(x), b, func(i, from, to int) { out[i] = f(x[from:to]) })
	return out
}
