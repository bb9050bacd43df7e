package std

import (
	"container/heap"
	"math"
)

const never = int64(math.MaxInt64)

// deadlines holds everything in flight, the earliest deadline first.
type deadlines []*call

func (d deadlines) Len() int           { return len(d) }
func (d deadlines) Less(i, j int) bool { return d[i].deadline < d[j].deadline }
func (d deadlines) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].place, d[j].place = i, j
}

func (d *deadlines) Push(x any) {
	c := x.(*call)
	c.place = len(*d)
	*d = append(*d, c)
}

func (d *deadlines) Pop() any {
	old := *d
	c := old[len(old)-1]
	old[len(old)-1] = nil
	*d = old[:len(old)-1]
	return c
}

func (d *deadlines) add(c *call)    { heap.Push(d, c) }
func (d *deadlines) remove(c *call) { heap.Remove(d, c.place) }

func (d *deadlines) move(c *call, at int64) {
	c.deadline = at
	heap.Fix(d, c.place)
}

func (d deadlines) next() int64 {
	if len(d) == 0 {
		return never
	}
	return d[0].deadline
}
