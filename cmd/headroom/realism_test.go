package main

import (
	"bufio"
	"container/list"
	"fmt"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"headroom/prep/profile"
	"headroom/runner/schedule"
)

// lru is a cache of so many entries. Only what comes after the first requests,
// which fill it, is counted.
type lru struct {
	mu          sync.Mutex
	size, fill  int
	order       *list.List
	at          map[string]*list.Element
	asked, hits int
}

func newLRU(size, fill int) *lru {
	return &lru{size: size, fill: fill, order: list.New(), at: map[string]*list.Element{}}
}

// get reports whether the cache had the key, which it has afterwards.
func (c *lru) get(key string) (hit bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.at[key]
	if e != nil {
		c.order.MoveToFront(e)
	} else {
		c.at[key] = c.order.PushFront(key)
		if len(c.at) > c.size {
			delete(c.at, c.order.Remove(c.order.Back()).(string))
		}
	}
	if c.asked++; c.asked > c.fill && e != nil {
		c.hits++
	}
	return e != nil
}

func (c *lru) counts() (counted int, ratio float64, full bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	counted = c.asked - c.fill
	return counted, float64(c.hits) / float64(counted), len(c.at) == c.size
}

func (c *lru) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if c.get(r.URL.Path) {
		w.Header().Set("X-Cache", "hit")
	}
	fmt.Fprintln(w, "{}")
}

// TestCacheOfARealServer: a log, its profile, a plan whose requests come from
// the profile, and a run of it, all by the program itself, against an HTTP
// server with an LRU cache of 5,000 entries. The server's hit ratio is within 2
// points of the one that the same cache had in the log.
//
// Both caches are counted once they are full. Over 44,000 requests, 30 simulated
// runs with other seeds hit 0.47 points more often than the log, since counts of
// the seldom ones are themselves draws, and spread by a standard deviation of
// 0.23 points: two points are more than six of them away.
func TestCacheOfARealServer(t *testing.T) {
	if testing.Short() {
		t.Skip("a real run of 20 s")
	}
	t.Parallel()
	const (
		size, fill   = 5000, 16_000
		rate, length = 3000, 20 * time.Second // the first 16,000 fill the cache
		logged       = 300_000
		enough       = 20_000 // counted requests of the run: 0.33 points
	)
	dir := t.TempDir()
	production := newLRU(size, fill)
	writeItemsLog(t, filepath.Join(dir, "access.log"), logged, production)

	server := newLRU(size, fill)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: server}
	go srv.Serve(l)
	defer srv.Close()

	text := fmt.Sprintf("name: cache\ntarget: {url: \"http://%s\"}\nhttp: {timeout: 10s}\nload: {steady: {rate: %d, length: %s}}\nrequests: {from_profile: items.json}\n", l.Addr(), rate, length)
	if err := os.WriteFile(filepath.Join(dir, "plan.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"prep", "profile", "access.log", "-o", "items.json", "--no-progress"},
		{"run", "plan.yaml", "-o", "runs", "--no-progress"},
	} {
		cmd := exec.Command("headroom", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("headroom %v: %v\n%s", args, err, out)
		}
	}

	n, want, full := production.counts()
	if !full || n != logged-fill {
		t.Fatalf("the log's cache: %d requests counted, full: %v", n, full)
	}
	n, got, full := server.counts()
	if !full || n < enough {
		t.Fatalf("the server's cache: %d requests counted, %d are needed; full: %v", n, enough, full)
	}
	se := math.Sqrt(want * (1 - want) / float64(n))
	t.Logf("the server's cache hits %.4f of %d requests, the log's %.4f; standard error %.4f", got, n, want, se)
	if math.Abs(got-want) > 0.02 {
		t.Errorf("the server's cache hits %.4f, the log's %.4f, standard error %.4f", got, want, se)
	}

	// The profile's own figure counts from an empty cache: at most size misses more.
	p, err := profile.Load(filepath.Join(dir, "items.json"))
	if err != nil {
		t.Fatal(err)
	}
	id, err := p.Find("/items/{id}", "")
	if err != nil {
		t.Fatal(err)
	}
	if told := id.LRUHit["5000"]; told > want+0.005 || told < want-float64(size)/logged-0.005 {
		t.Errorf("the profile says that a cache of 5,000 hits %.4f, and it hits %.4f once it is full", told, want)
	}
}

// writeItemsLog writes requests for 30,000 items with a Zipf law of exponent
// 0.9, and asks the cache for each.
func writeItemsLog(t *testing.T, name string, n int, c *lru) {
	t.Helper()
	items, err := schedule.NewSource(schedule.SourceSpec{Name: "items", Kind: schedule.ZipfKind, Count: 30_000, First: 1, Exponent: 0.9})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	start := time.Date(2024, 1, 3, 10, 0, 0, 0, time.UTC)
	var path []byte
	for i := range n {
		path = items.Append(append(path[:0], "/items/"...), 1, uint64(i))
		c.get(string(path))
		at := start.Add(time.Duration(i/100) * time.Second)
		fmt.Fprintf(w, "192.0.2.1 - - [%s] \"GET %s HTTP/1.1\" 200 10\n", at.Format("02/Jan/2006:15:04:05 -0700"), path)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
