package analyze

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// specCase is one case of testdata/knee.txt.
type specCase struct {
	name   string
	system system
	load   load
	expect []string
	seeds  int
}

func readSpec(t *testing.T, path string) []specCase {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var out []specCase
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		verb, rest, _ := strings.Cut(line, " ")
		if verb == "case" {
			out = append(out, specCase{name: rest, seeds: 5})
			continue
		}
		if err := out[len(out)-1].read(verb, rest); err != nil {
			t.Fatalf("%s:%d: %v", path, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func (c *specCase) read(verb, rest string) error {
	fields := strings.Fields(rest)
	switch verb {
	case "curve":
		for _, f := range fields[1:] {
			if err := c.system.set(f); err != nil {
				return err
			}
		}
	case "rates":
		from, to, ok := strings.Cut(fields[0], "..")
		if !ok || len(fields) != 3 {
			return fmt.Errorf("rates %q", rest)
		}
		a, b, by := number64(from), number64(to), number64(fields[2])
		if fields[1] == "factor" {
			c.load.rates = ladder(a, by, b)
		} else {
			for r := a; r <= b; r += by {
				c.load.rates = append(c.load.rates, r)
			}
		}
	case "plateau":
		c.load.plateau, c.load.interval = duration(fields[0]), time.Second
		for _, f := range fields[1:] {
			switch key, value, _ := strings.Cut(f, "="); key {
			case "settle":
				c.load.settle = duration(value)
			case "interval":
				c.load.interval = duration(value)
			case "arrivals":
				c.load.constant = value == "constant"
			default:
				return fmt.Errorf("plateau: unknown %q", key)
			}
		}
	case "seeds":
		c.seeds = int(number64(rest))
	case "expect":
		c.expect = append(c.expect, rest)
	default:
		return fmt.Errorf("unknown line %q", verb)
	}
	return nil
}

func (s *system) set(field string) error {
	key, value, _ := strings.Cut(field, "=")
	switch key {
	case "servers":
		s.servers = int(number64(value))
	case "service":
		s.service = duration(value)
	case "law":
		s.law = value
	case "queue":
		s.room = int(number64(value))
	case "timeout":
		s.timeout = duration(value)
	case "deadline":
		s.deadline = duration(value)
	case "latency":
		s.latency = duration(value)
	case "cap":
		s.capRPS = number64(value)
	case "limit":
		s.limitRPS = number64(value)
	case "failure":
		s.failure = number64(value)
	case "slowdown":
		s.slowdown = number64(value)
	default:
		return fmt.Errorf("curve: unknown %q", key)
	}
	return nil
}

func number64(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(err)
	}
	return v
}

func duration(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		panic(err)
	}
	return d
}

// met says which expectation a knee does not meet, "" where it meets all.
func (c *specCase) met(k *Knee) string {
	for _, e := range c.expect {
		verb, rest, _ := strings.Cut(e, " ")
		ok := false
		switch verb {
		case "knee":
			from, to, _ := strings.Cut(rest, "..")
			ok = k.RPS != nil && *k.RPS >= number64(from) && *k.RPS <= number64(to)
		case "interval":
			ok = k.CI95 != nil && k.CI95[0] <= number64(rest) && k.CI95[1] >= number64(rest)
		case "kind":
			ok = k.Kind == rest
		default:
			ok = k.Status == verb && (rest == "" || k.Reason == rest)
		}
		if !ok {
			return e
		}
	}
	return ""
}

func tellKnee(k *Knee) string {
	text := fmt.Sprintf("%s %s %s %s", k.Status, k.Reason, k.Kind, k.Method)
	if k.RPS != nil {
		text += fmt.Sprintf(" %.1f [%.1f, %.1f]", *k.RPS, k.CI95[0], k.CI95[1])
	}
	return text
}

func TestKneeOfKnownCapacity(t *testing.T) {
	for _, c := range readSpec(t, "testdata/knee.txt") {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			var missed []string
			seeds := uint64(c.seeds)
			if testing.Short() {
				seeds = 2
			}
			for seed := uint64(1); seed <= seeds; seed++ {
				l := c.load
				l.seed = seed
				// Not on the same rates every time, as far as the ladder allows.
				l.rates = nil
				for _, r := range c.load.rates {
					l.rates = append(l.rates, r*(1+0.002*float64(seed)))
				}
				k := FindKnee(plateausOf(t, simulate(c.system, l)), seed)
				if e := c.met(&k); e != "" {
					missed = append(missed, fmt.Sprintf("seed %d: expected %q, got %s", seed, e, tellKnee(&k)))
				}
				sane(t, &k)
			}
			if len(missed) > 1 {
				t.Errorf("%d of %d seeds: %s", len(missed), seeds, strings.Join(missed, "\n"))
			}
		})
	}
}

// sane asserts what must hold of every knee, whatever its status.
func sane(t *testing.T, k *Knee) {
	t.Helper()
	if (k.Status == KneeFound) != (k.RPS != nil) || (k.RPS == nil) != (k.CI95 == nil) {
		t.Errorf("a knee with status %s has rps %v and interval %v", k.Status, k.RPS, k.CI95)
	}
	if k.RPS != nil && !(k.CI95[0] <= *k.RPS && *k.RPS <= k.CI95[1] && (k.CI95[1]-k.CI95[0])/(*k.RPS) <= maxWidth+1e-9) {
		t.Errorf("interval %v around %v", *k.CI95, *k.RPS)
	}
	if k.Status == KneeInconclusive && k.Reason == "" {
		t.Error("inconclusive without a reason")
	}
	if k.Status != KneeFound && k.NextRun == "" {
		t.Errorf("%s %s: nothing said about the next run", k.Status, k.Reason)
	}
	for _, p := range []*float64{k.RPS, k.HighestHeld, k.LowestFailed, k.AtLeast, k.DwellS} {
		if p != nil && (math.IsNaN(*p) || math.IsInf(*p, 0) || *p <= 0) {
			t.Errorf("a rate of %v in %s", *p, tellKnee(k))
		}
	}
}
