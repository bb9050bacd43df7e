package profile

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"headroom/analyze/stat"
)

func bytesInput(name string, b []byte) Input {
	return Input{Name: name, Size: int64(len(b)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }}
}

// clf is a line at a second of an hour.
func clf(second int, request string) string {
	return fmt.Sprintf("192.0.2.%d - - [03/Jan/2024:%02d:%02d:%02d +0000] %q 200 10\n", second%50, 10+second/3600, second/60%60, second%60, request)
}

func day(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(clf(i/2, fmt.Sprintf("GET /items/%d HTTP/1.1", i%37)))
	}
	return b.String()
}

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPackedInputs(t *testing.T) {
	text := day(2000)
	half := strings.Index(text[len(text)/2:], "\n") + len(text)/2 + 1
	members := append(gzipped(t, text[:half]), gzipped(t, text[half:])...)
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	frames := enc.EncodeAll([]byte(text[half:]), enc.EncodeAll([]byte(text[:half]), nil))
	want := mustRead(t, Options{}, textInput(text))
	for name, b := range map[string][]byte{
		"gzip of two members": members, "zstd of two frames": frames,
		"byte-order mark and CRLF": []byte("\xef\xbb\xbf" + strings.ReplaceAll(text, "\n", "\r\n")),
		"no line end at the end":   []byte(text[:len(text)-1]),
	} {
		got := mustRead(t, Options{}, bytesInput(name, b))
		if d := cmp.Diff(withoutNames(want), withoutNames(got)); d != "" {
			t.Errorf("%s: -plain +packed:\n%s", name, d)
		}
	}
	for name, b := range map[string][]byte{"gzip": members[:len(members)-200], "zstd": frames[:len(frames)-200]} {
		got := mustRead(t, Options{}, bytesInput(name, b))
		if got.Lines.CutInputs != 1 || got.Requests < 1000 || got.Requests >= 2000 || len(got.Lines.Rejected) > 0 {
			t.Errorf("%s that is cut: %+v", name, got.Lines)
		}
	}
}

func withoutNames(p *Profile) *Profile {
	for i := range p.Identifiers {
		p.Identifiers[i].Pseudonyms = nil
	}
	return p
}

func TestRotatedLogs(t *testing.T) {
	text := day(3000)
	cut := func(n int) int { return strings.Index(text[n:], "\n") + n + 1 }
	a, b := cut(len(text)/3), cut(len(text)/3*2)
	want := withoutNames(mustRead(t, Options{}, textInput(text)))
	in := []Input{textInput(text[b:]), bytesInput("old.gz", gzipped(t, text[:a])), textInput(text[a:b])}
	got := withoutNames(mustRead(t, Options{}, in...))
	want.Lines.Inputs = 3
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("three rotated logs are not read as one: -one +three:\n%s", d)
	}
	// Two servers over the same time: counts add up, the order is not known.
	two := mustRead(t, Options{}, textInput(text), textInput(text))
	if two.Requests != 6000 || two.Peak.Second.RPS != 4 || !two.Has(Overlapping) || two.Identifiers[0].LRUHit != nil {
		t.Errorf("two logs of the same time: %d requests, peak %v, refused %v", two.Requests, two.Peak.Second, two.Refused)
	}
}

func TestRejectedLines(t *testing.T) {
	var b strings.Builder
	for i := range 8 {
		b.WriteString(clf(i, "GET / HTTP/1.1"))
		b.WriteString("junk\n")
	}
	b.WriteString("\n" + strings.Repeat("x", maxLine+10) + "\n")
	b.WriteString(clf(9, "GET / HTTP/1.1"))
	p := mustRead(t, Options{}, textInput(b.String()))
	want := Lines{
		Read: 19, Parsed: 9, Blank: 1, Rejected: map[string]uint64{"unrecognised": 8, "line_too_long": 1},
		FirstRejected: map[string][]int{"unrecognised": {2, 4, 6, 8, 10}, "line_too_long": {18}},
		RejectedInput: map[string][]int{"unrecognised": {1, 1, 1, 1, 1}, "line_too_long": {1}},
		Formats:       map[string]uint64{"combined": 9}, Inputs: 1,
	}
	if d := cmp.Diff(want, p.Lines); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestNothingToLearn(t *testing.T) {
	p := mustRead(t, Options{}, textInput("nothing\nhere\n"))
	if !p.Has(NoRequests) || p.Requests != 0 {
		t.Errorf("%+v", p.Refused)
	}
	var b bytes.Buffer
	if err := p.Encode(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(b.Bytes()); err != nil {
		t.Errorf("an empty profile cannot be read back: %v", err)
	}
}

func TestReadErrors(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := Read(ctx, nil, Options{}); err == nil {
		t.Error("no log, no error")
	}
	broken := Input{Name: "gone", Open: func() (io.ReadCloser, error) { return nil, os.ErrNotExist }}
	if _, err := Read(ctx, []Input{broken}, Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a log that is not there: %v", err)
	}
	for _, o := range []Options{{Format: "%h"}, {Sampled: 2}, {Sampled: -1}, {Routes: []string{"users"}}, {Routes: []string{"/a/{x}", "/a/{y}"}}, {Routes: []string{"/a*"}}} {
		if _, err := Read(ctx, []Input{textInput("")}, o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	cancel()
	if _, err := Read(ctx, []Input{textInput(day(10_000))}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// poisson makes a log of random arrivals at a rate that may change by the
// second; stamps have milliseconds.
func poisson(seconds int, rate func(s int) float64) string {
	r := rand.New(rand.NewPCG(5, 6))
	var b strings.Builder
	start := time.Date(2024, 1, 3, 0, 0, 0, 0, time.UTC)
	at, most := 0.0, 40.0
	for at < float64(seconds) {
		at += r.ExpFloat64() / most
		if r.Float64() > rate(int(at))/most {
			continue
		}
		fmt.Fprintf(&b, "%s|192.0.2.1|GET|/a|200|0.001\n", start.Add(time.Duration(at*1e9)).Format("2006-01-02T15:04:05.000Z"))
	}
	return b.String()
}

const piped = `$time_iso8601|$remote_addr|$request_method|$request_uri|$status|$request_time`

func TestDispersion(t *testing.T) {
	day := 8 * 3600
	for _, c := range []struct {
		name    string
		seconds int
		rate    func(int) float64
		want    map[string]float64
		within  float64
	}{
		{"random", 3600, func(int) float64 { return 20 }, map[string]float64{"0.1s": 1, "1s": 1, "10s": 1, "60s": 1}, 0.5},
		{
			"random with a daily curve", day, func(s int) float64 { return 10 + 8*math.Sin(float64(s)/float64(day)*math.Pi) },
			map[string]float64{"0.1s": 1, "1s": 1, "10s": 1, "60s": 1}, 0.3,
		},
		{ // a rate that is 0 or 40 from second to second: 1 + variance/mean of the rate = 1 + 400/20
			"bursts", 3600, func(s int) float64 { return []float64{0, 40}[stepOf(s)] }, map[string]float64{"1s": 21}, 3,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustRead(t, Options{Format: piped}, textInput(poisson(c.seconds, c.rate)))
			for w, want := range c.want {
				if got, ok := p.Dispersion[w]; !ok || math.Abs(got-want) > c.within {
					t.Errorf("at %s: %.3f (%t), want %.3f", w, got, ok, want)
				}
			}
		})
	}
}

// stepOf is a coin per second.
func stepOf(s int) int { return int(mix(uint64(s)+1) & 1) }

// TestPooledDispersion holds the sums against the method on slices.
func TestPooledDispersion(t *testing.T) {
	a := newArrivals()
	r := rand.New(rand.NewPCG(1, 1))
	counts := make([]float64, 2*segmentS)
	for i := range counts {
		n := r.IntN(5)
		counts[i] = float64(n)
		for range n {
			a.add(int64(i)*1e9+int64(r.IntN(1e9)), true)
		}
	}
	a.add(int64(len(counts))*1e9, true) // the end, which no window holds
	want := stat.DispersionOf(stat.Segments(counts, segmentS))
	if w := a.bursts()[1]; math.Abs(w.within()-want.Index) > 1e-9 {
		t.Errorf("%v, want %v", w.within(), want.Index)
	}
}

func TestArrivalIsStampLessDuration(t *testing.T) {
	// Ten answers end in one second, but their requests came one a second.
	var b strings.Builder
	for i := range 10 {
		fmt.Fprintf(&b, "2024-01-03T00:00:30.500Z|192.0.2.1|GET|/a|200|%d.000\n", i)
	}
	p := mustRead(t, Options{Format: piped}, textInput(b.String()))
	if p.Peak.Second.RPS != 1 || p.Window.Seconds != 10 {
		t.Errorf("busiest second %g/s over %g s, want 1/s over 10 s", p.Peak.Second.RPS, p.Window.Seconds)
	}
}

func TestRefusals(t *testing.T) {
	minutes, back, step := &strings.Builder{}, &strings.Builder{}, &strings.Builder{}
	for i := range 3000 {
		minutes.WriteString(clf(i/60*60, "GET / HTTP/1.1"))
		back.WriteString(clf(i-i%7*5+40, "GET / HTTP/1.1"))
		s := i
		if i > 1500 {
			s -= 600 // the clock is set back by ten minutes
		}
		step.WriteString(clf(s, "GET / HTTP/1.1"))
	}
	plain := day(3000)
	second := strings.Index(plain[len(plain)/2:], "\n") + len(plain)/2 + 1
	for _, c := range []struct {
		name, text, code string
		o                Options
		want             bool
	}{
		{"whole minutes", minutes.String(), WholeMinutes, Options{}, true},
		{"out of order", back.String(), ClockGoesBack, Options{}, true},
		{"set back", step.String(), ClockGoesBack, Options{}, true},
		{"in order", plain, ClockGoesBack, Options{}, false},
		{"logs joined in the wrong order", plain[second:] + plain[:second], ClockGoesBack, Options{}, false},
		{"sampled", plain, SampledPeak, Options{Sampled: 0.01}, true},
		{"half of all", plain, SampledPeak, Options{Sampled: 0.5}, false},
		{"short", day(60), WindowTooShort, Options{}, true},
		{"whole seconds", plain, WholeSeconds, Options{}, true},
		{"few unseen", plain, UnseenTooBig, Options{}, false},
	} {
		p := mustRead(t, c.o, textInput(c.text))
		if p.Has(c.code) != c.want {
			t.Errorf("%s: refused %v, want %s: %t", c.name, p.Refused, c.code, c.want)
		}
		switch c.code {
		case WholeMinutes, ClockGoesBack, SampledPeak:
			if c.want && len(p.Dispersion) > 0 {
				t.Errorf("%s: a dispersion is told all the same: %v", c.name, p.Dispersion)
			}
		}
		if c.code == SampledPeak && c.want != (p.Peak.Second == nil) {
			t.Errorf("%s: busiest second %v", c.name, p.Peak.Second)
		}
	}
	half := mustRead(t, Options{Sampled: 0.5}, textInput(plain))
	if half.Peak.Second.RPS != 4 || half.Peak.Second.Requests != 2 || half.Sampled != 0.5 {
		t.Errorf("half of all requests: %+v", half.Peak.Second)
	}
}

func TestRoutes(t *testing.T) {
	var b strings.Builder
	for i := range 600 {
		for _, r := range []string{
			fmt.Sprintf("GET /customers/%d/orders?limit=20&page=%d HTTP/1.1", i, i%3),
			fmt.Sprintf("GET /files/%08x-aaaa-4aaa-8aaa-%012x.png HTTP/1.1", i, i),
			fmt.Sprintf("GET /users/%c%c%c/posts HTTP/1.1", 'a'+i%26, 'a'+i/26%26, 'x'),
			"GET /users/me HTTP/1.1",
			"GET /health HTTP/1.1",
			fmt.Sprintf("POST /api/v2/things/a1%x HTTP/1.1", mix(uint64(i+1))),
			fmt.Sprintf("GET /search/%%D8%%B3%d HTTP/1.1", i),
		} {
			b.WriteString(clf(i, r))
		}
	}
	b.WriteString(clf(600, "GET /secret/of/one HTTP/1.1"))
	b.WriteString(clf(601, "-"))
	p := mustRead(t, Options{}, textInput(b.String()))
	var got []string
	for _, r := range p.Routes {
		got = append(got, fmt.Sprintf("%d %s %s", r.Requests, r.Method, r.Template))
	}
	slices.Sort(got)
	wanted := []string{
		"1 (odd request) (odd request)", "1 * {other}",
		"600 GET /customers/{id}/orders", "600 GET /files/{uuid}.png", "600 GET /health", "600 GET /search/{text}",
		"600 GET /users/{name}", "600 GET /users/{name}/posts", "600 POST /api/v2/things/{hash}",
	}
	if d := cmp.Diff(wanted, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	id, err := p.Find("/customers/{id}/orders", "")
	if err != nil || id.Distinct != 600 || id.At != "segment 2" {
		t.Errorf("customers: %+v, %v", id, err)
	}
	if id, err := p.Find("/customers/{id}/orders", "page"); err != nil || id.Distinct != 3 {
		t.Errorf("pages: %+v, %v", id, err)
	}
	// What is folded may be named, and what is not folded may be folded.
	p = mustRead(t, Options{Routes: []string{"/users/me", "/users/{user}/posts", "/{page}"}}, textInput(b.String()))
	found := map[string]bool{}
	for _, r := range p.Routes {
		found[r.Template] = true
	}
	for _, r := range []string{"/users/me", "/users/{user}/posts", "/{page}"} {
		if !found[r] {
			t.Errorf("the pattern %s has no route: %v", r, found)
		}
	}
	if found["/health"] {
		t.Error("/health is kept beside /{page}")
	}
}

func TestPathsMadeUpByTheThousand(t *testing.T) {
	var b strings.Builder
	for i := range 60_000 {
		w := func(n int) string { return fmt.Sprintf("%c%c%c", 'a'+n%26, 'a'+n/26%26, 'a'+n/676%26) }
		b.WriteString(clf(i/100, "GET /"+w(i%300)+"/"+w(i/300%90)+"/"+w(i/7)+"/x HTTP/1.1"))
	}
	p := mustRead(t, Options{}, textInput(b.String()))
	if len(p.Routes) > keptRoutes+1 {
		t.Errorf("%d routes", len(p.Routes))
	}
}

func TestTailThatCosts(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		path, took := "/view", "0.010"
		if i%100 == 0 {
			path, took = "/export", "0.300"
		}
		fmt.Fprintf(&b, "2024-01-03T00:%02d:%02d.500Z|192.0.2.1|GET|%s|200|%s\n", i/60, i%60, path, took)
	}
	p := mustRead(t, Options{Format: piped}, textInput(b.String()))
	for _, r := range p.Routes {
		if r.Template == "/export" && math.Abs(r.Cost-30) > 1 {
			t.Errorf("/export costs %g times the median, want 30", r.Cost)
		}
	}
}

func TestDailyMaxima(t *testing.T) {
	var b strings.Builder
	for day := 1; day <= 20; day++ {
		for i := range 10 * day {
			fmt.Fprintf(&b, "192.0.2.1 - - [%02d/Mar/2024:12:00:%02d +0000] \"GET / HTTP/1.1\" 200 1\n", day, i%10)
		}
	}
	p := mustRead(t, Options{}, textInput(b.String()))
	if len(p.Peak.Daily) != 20 {
		t.Fatalf("%d days", len(p.Peak.Daily))
	}
	for i, d := range p.Peak.Daily {
		if d.SecondRPS != float64(i+1) || d.Requests != uint64(10*(i+1)) {
			t.Errorf("%+v", d)
		}
	}
	if p.Peak.Second.At != "2024-03-20T12:00:00Z" || p.Peak.Second.Ties != 10 {
		t.Errorf("%+v", p.Peak.Second)
	}
}

// TestPackedSegments: a year of seconds passes through the packed form.
func TestPackedSegments(t *testing.T) {
	a, b := newArrivals(), newArrivals()
	r := rand.New(rand.NewPCG(9, 9))
	b.open = map[int64]*segment{}
	for i := range 40_000 {
		at := int64(i)*800*1e9 + int64(r.IntN(700))*1e9 // 370 days
		a.add(at, false)
		if i%5 == 0 {
			a.add(at-int64(r.IntN(20))*1e9*3600, false) // and back into what is packed
		}
	}
	var sum uint64
	a.each(func(s *segment) {
		for _, n := range s.seconds {
			sum += uint64(n)
		}
	})
	if sum+a.lost != a.total {
		t.Errorf("%d arrivals kept and %d lost of %d", sum, a.lost, a.total)
	}
	if len(a.open) > openMost {
		t.Errorf("%d open segments", len(a.open))
	}
}

func TestSegmentsClassified(t *testing.T) {
	for seg, want := range map[string]kind{
		"orders": word, "v2": word, "index.html": word, "jquery-3.6.0.min.js": word, "sts-71": word, "favicon.ico": word, "": word,
		"12": number, "60844": number, "M17286": number, "2024-01-02": number, "10.0.0.1": number, "123.jpg": number, "18182835-my-first": number,
		"0a9b8c7d-1234-4abc-8def-0123456789ab": uuid, "0a9b8c7d-1234-4abc-8def-0123456789ab.png": uuid,
		"deadbeef12": hash, "9f86d081884c7d659a2feaa0c55ad015": hash, "eyJhbGciOiJIUzI1NiIsInR5cCI6": hash,
		"%D8%B3": text, "jo@example.org": text, "a,b": text, "shop.example": text, "~jo": text, "caf\xc3\xa9": text,
	} {
		if got, _ := classify([]byte(seg)); got != want {
			t.Errorf("%q: %s, want %s", seg, kindNames[got], kindNames[want])
		}
	}
}

func TestSizes(t *testing.T) {
	var s sizes
	for v := uint64(1); v <= 100_000; v++ {
		s.add(v)
	}
	for _, q := range []float64{0.001, 0.5, 0.9, 0.99, 1} {
		if got, want := float64(s.quantile(q)), q*100_000; math.Abs(got/want-1) > 0.03 {
			t.Errorf("quantile %g: %g, want %g", q, got, want)
		}
	}
	for _, v := range []uint64{0, 1, 63, 64, 65, 1000, 1 << 40, math.MaxUint64} {
		if got := bucketValue(bucketOf(v)); math.Abs(float64(got)-float64(v)) > 0.02*float64(v) {
			t.Errorf("%d is in the bucket of %d", v, got)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	good := &bytes.Buffer{}
	if err := mustRead(t, Options{}, textInput(day(100))).Encode(good); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "p.json")
	if err := os.WriteFile(name, good.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(name); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"headroom.profile/1"`, `"headroom.profile/2"`, "schema"},
		{`"headroom.profile/1"`, `"x"`, "not a profile"},
		{`"requests":100`, `"requests":101`, "damaged"},
		{`"clients"`, `"client"`, "unknown"},
		{`"status":{"200":100}`, `"status":{"200":-1}`, "cannot unmarshal"},
	} {
		text := strings.Replace(good.String(), c.old, c.new, 1)
		if text == good.String() {
			t.Fatalf("%s is not in the profile", c.old)
		}
		if _, err := Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.new, err)
		}
	}
	if _, err := Decode(append(good.Bytes(), "{}"...)); err == nil {
		t.Error("two values in one file")
	}
	if _, err := Load(name + ".gone"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func FuzzDecode(f *testing.F) {
	var b bytes.Buffer
	p, err := Read(context.Background(), []Input{textInput(day(50))}, Options{})
	if err != nil {
		f.Fatal(err)
	}
	if err := p.Encode(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := Decode(raw)
		if err != nil {
			return
		}
		for i := range p.Identifiers {
			p.Identifiers[i].Popularity()
		}
	})
}

// FuzzRead reads anything, packed or not, and reads its profile back.
func FuzzRead(f *testing.F) {
	f.Add([]byte(day(20)))
	f.Add([]byte("\x1f\x8b\x08\x00\x00"))
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x00, 0x01})
	f.Add([]byte("a - - [03/Jan/2024:10:00:00 +0000] \"GET /%00//x?a=b&c&=d;e=%ff HTTP/1.1\" 200 1\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := Read(context.Background(), []Input{bytesInput("fuzz", raw)}, Options{})
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := p.Encode(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(b.Bytes()); err != nil {
			t.Fatalf("%v in %s", err, b.Bytes())
		}
	})
}
