package sim

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseService(t *testing.T) {
	good := map[string]Service{
		"20ms constant":        {20 * time.Millisecond, Constant, 0},
		"20ms":                 {20 * time.Millisecond, Constant, 0},
		" 1.5ms  exponential ": {1500 * time.Microsecond, Exponential, 0},
		"20ms lognormal(0.5)":  {20 * time.Millisecond, Lognormal, .5},
	}
	for text, want := range good {
		got, err := ParseService(text)
		if err != nil || got != want {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
	bad := []string{
		"", "constant", "0ms constant", "-1ms constant", "20 constant", "20ms gamma", "20ms lognormal",
		"20ms lognormal()", "20ms lognormal(0)", "20ms lognormal(NaN)", "20ms lognormal(9)", "20ms constant twice", "2h constant",
	}
	for _, text := range bad {
		if got, err := ParseService(text); err == nil {
			t.Errorf("%q: read as %v, want an error", text, got)
		}
	}
}

func FuzzParseService(f *testing.F) {
	for _, s := range []string{"20ms constant", "1ns exponential", "20ms lognormal(0.5)", "1h lognormal(1e-9)", "20ms lognormal(0x1p-2)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseService(text)
		if err != nil {
			return
		}
		again, err := ParseService(s.String())
		if err != nil || again != s {
			t.Errorf("%q is %v, printed %q, read back as %v, %v", text, s, s.String(), again, err)
		}
	})
}

// The mean is exact for every shape, and the spread is that of the shape.
func TestServiceMoments(t *testing.T) {
	for text, cv := range map[string]float64{"20ms constant": 0, "20ms exponential": 1, "20ms lognormal(0.5)": math.Sqrt(math.Expm1(.25))} {
		s, err := ParseService(text)
		if err != nil {
			t.Fatal(err)
		}
		const n = 400_000
		r := newStream(1, forService)
		var sum, sq float64
		for range n {
			v := s.draw(r) / 20e6
			sum += v
			sq += v * v
		}
		mean := sum / n
		if math.Abs(mean-1) > .005 {
			t.Errorf("%s: mean %g of the stated one", text, mean)
		}
		if got := math.Sqrt(max(0, sq/n-mean*mean)); math.Abs(got-cv) > .01 {
			t.Errorf("%s: coefficient of variation %g, want %g", text, got, cv)
		}
	}
}

func TestOptionsRoundTrip(t *testing.T) {
	lines := []string{
		``,
		`--workers=8 --service=10ms exponential --queue=100`,
		`--queue=0 --shed-after=1.5s --abandon=false --freeze=30s,6s;1m0s,500ms`,
		`--leak=2/s --slow=0.01,30 --wrong=0.002 --noise=0.05 --seed=7`,
		`--leak=512KiB/s --listen=127.0.0.1:8080 --tls --ca-file=ca.pem --log=arrivals.log`,
		`--leak=1ms/m --depends=http://127.0.0.1:1 --h2c --with-parent`,
	}
	for _, line := range lines {
		var args []string
		for _, a := range strings.Split(line, " --") {
			if a = strings.TrimPrefix(a, "--"); a != "" {
				args = append(args, "--"+a)
			}
		}
		o, err := ParseOptions(args)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		again, err := ParseOptions(o.Args())
		if diff := cmp.Diff(o, again); diff != "" || err != nil {
			t.Errorf("%s: %v, printed %q and read back: %s", line, err, o.Args(), diff)
		}
	}
	o, err := ParseOptions([]string{"--workers", "8", "-queue", "0", "--tls", "--slow", "0.1, 11"})
	want := Options{Workers: 8, Queue: NoQueue, TLS: true, Slow: Slow{.1, 11}}
	if diff := cmp.Diff(want, o); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}

func TestOptionsRefused(t *testing.T) {
	tests := map[string]string{
		"--workers":                   "wants a value",
		"--workers=0x":                "whole number",
		"--workers=-1":                "1 to 100000",
		"--queue=-5":                  "places to wait",
		"--service=20ms gamma":        "unknown shape",
		"--worker=3":                  "no such option",
		"target":                      "no other arguments",
		"--freeze=30s":                "AT,FOR",
		"--freeze=1s,5s;2s,1s":        "overlaps",
		"--slow=0.5":                  "SHARE,FACTOR",
		"--slow=0.5,0":                "factor",
		"--wrong=2":                   "share",
		"--wrong=NaN":                 "share",
		"--leak=5":                    "rate",
		"--leak=5/d":                  "rate",
		"--leak=1ms/s memory":         "leaks latency, not memory",
		"--leak=20s/s":                "below 10",
		"--leak=0/s":                  "above 0",
		"--leak=B/s":                  "neither",
		"--leak=/s":                   "neither",
		"--ca-file=x":                 "without tls",
		"--abandon=maybe":             "abandon",
		"--seed=-1":                   "seed",
		"--noise=0.9":                 "noise",
		"--shed-after=-1s":            "negative",
		"--shed-after=5":              "duration",
		"--service=10ms lognormal(x)": "sigma",
	}
	for arg, want := range tests {
		if o, err := ParseOptions([]string{arg}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %+v, %v; want an error with %q", arg, o, err, want)
		}
	}
}

func TestOptionSet(t *testing.T) {
	var o Options
	for name, value := range map[string]string{"workers": "8", "shed_after": "2s", "service": "20ms exponential", "queue": "200"} {
		if err := o.Set(name, value); err != nil {
			t.Error(err)
		}
	}
	if got := o.Capacity(); got != 400 {
		t.Errorf("capacity %g, want 400", got)
	}
	o.Slow = Slow{Share: .1, Factor: 11}
	if got := o.Capacity(); got != 200 {
		t.Errorf("capacity with a tail that doubles the mean: %g, want 200", got)
	}
}
