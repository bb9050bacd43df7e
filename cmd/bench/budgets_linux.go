package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// budgets measures what is not compared with anybody.
func (b *bench) budgets(ctx context.Context) error {
	for _, part := range []func(context.Context) error{b.stepRun, b.soak, b.profile, b.pages} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// stepRun times the analysis of a step run of 40 minutes, made in virtual time.
func (b *bench) stepRun(ctx context.Context) error {
	say("simulating a step run of 40 minutes")
	path, err := simulatedSteps(filepath.Join(b.dir, "step.db"))
	if err != nil {
		return err
	}
	return b.timed(ctx, "analyze step", path)
}

// timed measures `headroom analyze` of a file, as often as there are rounds.
func (b *bench) timed(ctx context.Context, key, path string) error {
	for range b.rounds {
		_, u, err := pinned(ctx, anywhere, 5*time.Minute, b.headroom, "analyze", path, "--format", "json")
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() < 5 {
			err = nil // a verdict
		}
		if err != nil {
			return err
		}
		b.t.values(key, u.wall.Seconds())
	}
	return nil
}

// soak feeds the real tally and the real store with four hours of results, for
// each width of interval, in a process of its own.
func (b *bench) soak(ctx context.Context) error {
	for _, width := range []string{"1s", "10s"} {
		say("four hours of results, intervals of %s", width)
		path := filepath.Join(b.dir, "soak-"+width+".db")
		out, u, err := pinned(ctx, anywhere, 10*time.Minute, b.self, "soak", width, path)
		if err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		b.t.values("evidence "+width, float64(info.Size())/1e6)
		b.t.values("memory "+width, float64(u.memory)/1e6)
		b.t.note("of the peak memory of the soak with intervals of %s at most %.0f MB were its own, the rest pages of its evidence file, which the kernel takes back when it needs them", width, float64(u.own)/1e6)
		var quarter, end float64
		if _, err := fmt.Sscanf(out, "heap %f %f", &quarter, &end); err != nil {
			return fmt.Errorf("soak: %q: %w", out, err)
		}
		b.t.values("growth "+width, (end-quarter)/1e6)
		if err := b.timed(ctx, "analyze "+width, path); err != nil {
			return err
		}
	}
	return nil
}

// logSize is the size of the log that `prep profile` reads, in bytes.
const logSize = 256 << 20

func (b *bench) profile(ctx context.Context) error {
	say("a log of %d MB", logSize>>20)
	path := filepath.Join(b.dir, "access.log")
	size, err := writeLog(path, logSize)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	for range b.rounds {
		_, u, err := pinned(ctx, b.sender, 5*time.Minute, b.headroom, "prep", "profile", path, "-o", filepath.Join(b.dir, "profile.json"))
		if err != nil {
			return err
		}
		_ = os.Remove(filepath.Join(b.dir, "profile.json"))
		b.t.values("profile", float64(size)/1e6/u.cpu.Seconds())
		b.t.values("profile memory", float64(u.memory)/1e6)
	}
	return nil
}

// writeLog writes a log in the combined format: a hundred thousand clients, a
// few routes, a million items of which some are popular.
func writeLog(path string, size int64) (int64, error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	rng := rand.New(rand.NewPCG(1, 2))
	at := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	routes := []string{"/items/%d", "/users/%d/orders", "/search?q=word%d", "/static/app-%d.js"}
	written := int64(0)
	for written < size && err == nil {
		at = at.Add(time.Duration(rng.ExpFloat64() * float64(5*time.Millisecond)))
		item := int(1e6 * math.Pow(rng.Float64(), 4))
		status := 200
		if rng.IntN(50) == 0 {
			status = 404
		}
		client := rng.IntN(100_000)
		var n int
		n, err = fmt.Fprintf(w, "10.%d.%d.%d - - [%s] \"GET %s HTTP/1.1\" %d %d \"https://shop.example/\" \"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36\"\n",
			client>>16, client>>8&255, client&255, at.Format("02/Jan/2006:15:04:05 -0700"), fmt.Sprintf(routes[rng.IntN(len(routes))], item), status, 200+rng.IntN(20000))
		written += int64(n)
	}
	return written, errors.Join(err, w.Flush(), f.Close())
}

// pages times the analysis server over a thousand runs.
func (b *bench) pages(ctx context.Context) error {
	const runs = 1000
	say("a folder of %d runs", runs)
	dir := filepath.Join(b.dir, "history")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	last, err := history(dir, runs)
	if err != nil {
		return err
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, b.headroom, "serve", dir, "--listen", address)
	if err := start(cmd, b.server); err != nil {
		return err
	}
	s := &background{url: "http://" + address + "/healthz", cmd: cmd}
	defer s.stop()
	if err := s.ready(ctx); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	client := http.Client{Timeout: 5 * time.Minute}
	defer client.CloseIdleConnections()
	get := func(path string) (time.Duration, error) {
		from := time.Now()
		r, err := client.Get("http://" + address + path)
		if err != nil {
			return 0, err
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err == nil && (r.StatusCode != 200 || !strings.Contains(string(text), "<html")) {
			err = fmt.Errorf("serve: %s answered %s", path, r.Status)
		}
		return time.Since(from), err
	}
	for _, page := range []struct{ key, path string }{{"history", "/en/"}, {"run page", "/en/runs/" + last}} {
		first, err := get(page.path)
		if err != nil {
			return err
		}
		b.t.values(page.key+" first", float64(first.Milliseconds()))
		var all []float64
		for range 9 {
			d, err := get(page.path)
			if err != nil {
				return err
			}
			all = append(all, float64(d.Microseconds())/1e3)
		}
		slices.Sort(all)
		b.t.values(page.key, all...)
	}
	return nil
}
