package profile

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
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
