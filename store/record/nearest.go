package record

// Nearest is the member of known that word was probably meant to be, by edit
// distance with swapped neighbours counted once, or "" where none is near. Of
// equals the first wins.
func Nearest(word string, known []string) string {
	if len(word) < 2 || len(word) > 64 {
		return ""
	}
	best, at := "", max(1, len([]rune(word))/3)+1
	for _, k := range known {
		if d := distance([]rune(word), []rune(k)); d < at {
			best, at = k, d
		}
	}
	return best
}

// distance is the optimal string alignment distance.
func distance(a, b []rune) int {
	before := make([]int, len(b)+1)
	last := make([]int, len(b)+1)
	now := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		now[0] = i + 1
		for j := range b {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			now[j+1] = min(change, last[j+1]+1, now[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				now[j+1] = min(now[j+1], before[j-1]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}
