package runner_test

import (
	"bufio"
	"bytes"
	"container/list"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"strings"
	"sync"
	"testing"

	"headroom/analyze/stat"
	"headroom/runner/send"
)

const keys = 200_000

func keysPlan(exponent float64, rate int, length string) string {
	return fmt.Sprintf(`
name: keys
seed: 11
target: {url: "http://127.0.0.1:1"}
load: {steady: {rate: %d, length: %s}}
data: {item: {zipf: {count: %d, exponent: %g}}}
requests: [{class: item, weight: 1, get: "/items/{item}"}]
`, rate, length, keys, exponent)
}

// zipf is the probability of each rank.
func zipf(n int, s float64) []float64 {
	p := make([]float64, n)
	sum := 0.0
	for i := range p {
		p[i] = math.Pow(float64(i+1), -s)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// checkFrequencies compares how many keys were seen how often with what Zipf's
// law says, without asking which key has which rank: the number of keys seen
// exactly j times is expected to be the sum over all keys of the Poisson
// probability of j. The most popular keys are compared one by one.
func checkFrequencies(t *testing.T, seen map[string]int, s float64) {
	t.Helper()
	total := 0
	for _, n := range seen {
		total += n
	}
	bounds := []int{0, 1, 2, 3, 5, 9, 17, 33, 65, 129, 257, 513, math.MaxInt} // [0], [1], [2], [3,4], …
	observed := make([]float64, len(bounds)-1)
	expected := make([]float64, len(bounds)-1)
	bin := func(n int) int {
		for b := range observed {
			if n < bounds[b+1] {
				return b
			}
		}
		return len(observed) - 1
	}
	for _, n := range seen {
		observed[bin(n)]++
	}
	observed[0] = float64(keys - len(seen))
	for _, p := range zipf(keys, s) {
		mean := p * float64(total)
		below := 0.0
		for j, b := 0, 0; j < 513; j++ {
			lg, _ := math.Lgamma(float64(j + 1))
			q := math.Exp(float64(j)*math.Log(mean) - mean - lg)
			b = bin(j)
			expected[b] += q
			below += q
			if float64(j) > mean+12*math.Sqrt(mean)+12 {
				break
			}
		}
		expected[len(expected)-1] += max(0, 1-below)
	}
	x, df := 0.0, -1.0
	for b := range observed {
		if expected[b] < 5 {
			continue
		}
		x += (observed[b] - expected[b]) * (observed[b] - expected[b]) / expected[b]
		df++
	}
	p := stat.ChiSquaredUpperTail(x, df)
	if p < 0.001 {
		t.Errorf("exponent %g, %d requests: chi-square %.1f at %g degrees of freedom, p %.2g\nseen     %.0f\nexpected %.0f", s, total, x, df, p, observed, expected)
	}
	top := 0
	for _, n := range seen {
		top = max(top, n)
	}
	if want := zipf(keys, s)[0] * float64(total); math.Abs(float64(top)-want) > 4*math.Sqrt(want) {
		t.Errorf("exponent %g: the most popular key was asked for %d times, want %.0f", s, top, want)
	}
	t.Logf("exponent %g: %d requests, %d different keys, chi-square %.1f at %g, p %.3f", s, total, len(seen), x, df, p)
}

// Two hundred thousand keys: what is asked for follows Zipf's law, popular keys
// are no neighbours, and a cache of 10,000 meets what theory says of it.
func TestKeysFollowZipf(t *testing.T) {
	for _, s := range []float64{0.8, 1.2} {
		o := constant(1_000_000)
		seen := map[string]int{}
		cache := newLRU(10_000)
		spy := &spy{fired: func(r *send.Request, _ int64) {
			key := string(bytes.TrimPrefix(r.Path, []byte("/items/")))
			seen[key]++
			cache.ask(key)
		}}
		execute(t, parse(t, keysPlan(s, 10_000, "30s")), o, context.Background(), context.Background(), watched(spy, o))
		checkFrequencies(t, seen, s)
		want := stat.CheLRU(zipf(keys, s), 10_000)
		// The cache begins empty: it is full long before the half of the run that counts.
		if got := cache.ratio(); want.Refused != "" || math.Abs(got-want.Hit) > 0.01 {
			t.Errorf("exponent %g: %.4f of the requests hit a cache of 10,000, want %.4f", s, got, want.Hit)
		}
	}
}

// lru is a cache that forgets what was asked for longest ago.
type lru struct {
	size  int
	order *list.List
	at    map[string]*list.Element
	hit   []bool
}

func newLRU(size int) *lru {
	return &lru{size: size, order: list.New(), at: map[string]*list.Element{}}
}

func (c *lru) ask(key string) {
	e, ok := c.at[key]
	c.hit = append(c.hit, ok)
	if ok {
		c.order.MoveToFront(e)
		return
	}
	c.at[key] = c.order.PushFront(key)
	if c.order.Len() > c.size {
		last := c.order.Back()
		delete(c.at, last.Value.(string))
		c.order.Remove(last)
	}
}

// ratio is the share of hits in the second half.
func (c *lru) ratio() float64 {
	half := c.hit[len(c.hit)/2:]
	n := 0
	for _, h := range half {
		if h {
			n++
		}
	}
	return float64(n) / float64(len(half))
}

// The same as a server sees it, on the wire.
func TestServerSeesZipf(t *testing.T) {
	for _, s := range []float64{0.8, 1.2} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		seen := map[string]int{}
		go func() {
			for {
				c, err := ln.Accept()
				if err != nil {
					return
				}
				go func() {
					defer c.Close()
					r := bufio.NewReader(c)
					for {
						line, err := r.ReadString('\n')
						if err != nil {
							return
						}
						for h := line; h != "\r\n"; {
							if h, err = r.ReadString('\n'); err != nil {
								return
							}
						}
						mu.Lock()
						seen[strings.TrimPrefix(strings.Fields(line)[1], "/items/")]++
						mu.Unlock()
						if _, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"); err != nil {
							return
						}
					}
				}()
			}
		}()
		l, _ := drive(t, parse(t, keysPlan(s, 3000, "8s")), ln.Addr().String())
		ln.Close()
		mu.Lock()
		total := 0
		for _, n := range seen {
			total += n
		}
		if uint64(total) != l.total.Sent {
			t.Errorf("the server saw %d requests, %d were sent", total, l.total.Sent)
		}
		checkFrequencies(t, seen, s)
		mu.Unlock()
	}
}
