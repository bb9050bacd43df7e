package runner

import (
	"container/list"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"headroom/prep/profile"
	"headroom/runner/plan"
	"headroom/runner/schedule"
	"headroom/runner/send"
	"headroom/store/record"
)

// cache is an LRU cache of a server.
type cache struct {
	size  int
	order *list.List
	at    map[string]*list.Element
	hits  int
}

func (c *cache) ask(key string) {
	if e := c.at[key]; e != nil {
		c.hits++
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

func newCache(size int) *cache {
	return &cache{size: size, order: list.New(), at: map[string]*list.Element{}}
}

// TestCacheHitsAsInProduction: the requests that a plan makes of a profile hit
// a cache of 5,000 entries as often as the log's own did, within two points.
func TestCacheHitsAsInProduction(t *testing.T) {
	const n, size = 300_000, 5000
	items, err := schedule.NewSource(schedule.SourceSpec{Name: "items", Kind: schedule.ZipfKind, Count: 30_000, First: 1, Exponent: 0.9})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	log, err := os.Create(filepath.Join(dir, "access.log"))
	if err != nil {
		t.Fatal(err)
	}
	production := newCache(size)
	var path []byte
	var b strings.Builder
	for i := range n {
		path = items.Append(append(path[:0], "/items/"...), 1, uint64(i))
		production.ask(string(path))
		fmt.Fprintf(&b, "192.0.2.1 - - [03/Jan/2024:10:%02d:%02d +0000] \"GET %s HTTP/1.1\" 200 10\n", i/100/60%60, i/100%60, path)
		if b.Len() > 1<<20 {
			if _, err := io.WriteString(log, b.String()); err != nil {
				t.Fatal(err)
			}
			b.Reset()
		}
	}
	if _, err := io.WriteString(log, b.String()); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Read(context.Background(), []profile.Input{{Name: "log", Open: func() (io.ReadCloser, error) { return os.Open(log.Name()) }}}, profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "items.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Encode(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "plan.yaml")
	text := "name: p\ntarget: {url: \"http://127.0.0.1:1\"}\nload: {steady: {rate: 100, length: 10s}}\nrequests: {from_profile: items.json}\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	pl, err := plan.Load(name, func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	traffic, err := NewTraffic(pl, pl.Header())
	if err != nil {
		t.Fatal(err)
	}
	tested := newCache(size)
	var r send.Request
	for i := range uint64(n) {
		if e := traffic.Prepare(&r, traffic.Class(i), i, nil); e != record.ErrNone {
			t.Fatal(e)
		}
		if !strings.HasPrefix(string(r.Path), "/items/") {
			t.Fatalf("a request for %s", r.Path)
		}
		tested.ask(string(r.Path))
	}
	want, got := float64(production.hits)/n, float64(tested.hits)/n
	t.Logf("production's cache hits %.4f, the test's %.4f", want, got)
	if math.Abs(got-want) > 0.02 {
		t.Errorf("the test's cache hits %.4f, production's %.4f", got, want)
	}
}

// TestFacts: what a plan does, and where it fills values in.
func TestFacts(t *testing.T) {
	p, err := plan.Parse("p.yaml", []byte(`name: p
target: {url: "http://127.0.0.1:1/api"}
load: {burst: {base: 100, factor: 4, length: 1s, before: 1m, after: 1m}}
data:
  who: {zipf: {count: 50, exponent: 1}}
  size: {choice: [20, 100]}
  unused: {range: [1, 9]}
requests:
  - {class: view, weight: 3, get: "/customers/{who}/orders?sort=up&limit={size}"}
  - {class: buy, post: /carts, body: "{who}"}
`), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	f, err := FactsOf(p)
	if err != nil {
		t.Fatal(err)
	}
	if f.Highest != 400 || f.Arrivals != "poisson" || len(f.Mix) != 2 || f.Mix[0].Path != "/api/customers/{who}/orders" {
		t.Errorf("%+v", f)
	}
	var used []string
	for _, s := range f.Sources {
		for _, u := range s.Used {
			used = append(used, s.Name+" "+u.At+" of "+u.Path+" "+strconv.FormatUint(s.Distinct, 10))
		}
	}
	want := "who segment 3 of /api/customers/{who}/orders 50, size limit of /api/customers/{who}/orders 2"
	if got := strings.Join(used, ", "); got != want {
		t.Errorf("used: %s, want %s", got, want)
	}
}

// TestCurve: arrivals follow production's curve and keep the load's mean rate.
func TestCurve(t *testing.T) {
	p := &plan.Plan{Arrivals: plan.Arrivals{Kind: "poisson", Curve: []float64{0.5, 2, 0, 1.5}}}
	a, err := ArrivalsOf(p, 7)(Span{Kind: record.Steady, RPS: 100, Length: 400e9}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var counts [4]float64
	for {
		at, ok := a.Next()
		if !ok {
			break
		}
		counts[at/100e9]++
	}
	for i, want := range []float64{5000, 20_000, 0, 15_000} {
		if math.Abs(counts[i]-want) > 5*math.Sqrt(want) {
			t.Errorf("quarter %d: %g arrivals, want about %g", i+1, counts[i], want)
		}
	}
}
