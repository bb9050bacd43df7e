package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// vegeta keeps an even schedule with as many workers as that takes. Its results
// are recorded, as ours are.
type vegeta struct {
	b    *bench
	path string
}

func (vegeta) name() string { return "vegeta" }
func (vegeta) open() bool   { return true }

func (vegeta) held(t task, o outcome) bool { return kept(t, o) && o.lag.p99 <= lagLimitUS }

// vegetaWorkers bounds what a vegeta that falls behind takes of the machine.
const vegetaWorkers = 5000

func (g vegeta) run(ctx context.Context, t task) (outcome, error) {
	targets, results := filepath.Join(g.b.dir, "targets"), filepath.Join(g.b.dir, "vegeta.bin")
	if err := os.WriteFile(targets, []byte("GET "+t.url+"\n"), 0o666); err != nil {
		return outcome{}, err
	}
	defer os.Remove(results)
	_, u, err := pinned(ctx, g.b.sender, t.limit(), g.path, "attack",
		"-rate", fmt.Sprintf("%.0f/1s", t.rate), "-duration", t.length.String(), "-targets", targets, "-output", results,
		"-timeout", "10s", "-max-workers", strconv.Itoa(vegetaWorkers), "-connections", strconv.Itoa(vegetaWorkers))
	if err != nil {
		return outcome{}, err
	}
	o, err := g.read(ctx, results, t)
	o.used = u
	return o, err
}

func (g vegeta) read(ctx context.Context, results string, t task) (outcome, error) {
	cmd := exec.CommandContext(ctx, g.path, "encode", "-to", "csv", results)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return outcome{}, err
	}
	if err := cmd.Start(); err != nil {
		return outcome{}, err
	}
	o, err := readVegeta(out, t)
	if err != nil {
		_ = cmd.Process.Kill() // the reading error is the one to tell
		_ = cmd.Wait()
		return outcome{}, err
	}
	return o, cmd.Wait()
}

// readVegeta reads results as CSV: instant in ns, status, latency in ns, bytes
// out, bytes in, error, body, name, number, … The lag of the nth is its instant
// against n periods after the schedule's start, which is set so that the
// earliest has none.
func readVegeta(r io.Reader, t task) (outcome, error) {
	var sent, latency []int64
	o := outcome{}
	period := float64(second) / math.Round(t.rate)
	first, end := int64(math.MaxInt64), int64(0)
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		f := strings.SplitN(s.Text(), ",", 10)
		if len(f) < 9 {
			return o, fmt.Errorf("vegeta's results: a line with %d fields", len(f))
		}
		at, err1 := strconv.ParseInt(f[0], 10, 64)
		took, err2 := strconv.ParseInt(f[2], 10, 64)
		number, err3 := strconv.ParseInt(f[8], 10, 64)
		if err := errors.Join(err1, err2, err3); err != nil {
			return o, fmt.Errorf("vegeta's results: %w", err)
		}
		if f[1] != "200" {
			o.failed++
			continue
		}
		lag := at - int64(float64(number)*period)
		first, end = min(first, lag), max(end, at+took)
		sent, latency = append(sent, lag), append(latency, took)
	}
	if err := s.Err(); err != nil {
		return o, err
	}
	if len(sent) == 0 {
		return o, errors.New("vegeta has not one good answer")
	}
	for i := range sent {
		sent[i] -= first
		latency[i] += sent[i]
	}
	o.answered = float64(len(sent))
	wanted := math.Round(t.rate) * t.length.Seconds()
	seconds := max(t.length.Seconds(), float64(end-first)/1e9)
	o.achieved = o.answered / seconds
	if o.answered >= wanted && end-first < int64(t.length+100*time.Millisecond) {
		o.achieved = o.answered / t.length.Seconds() // the last answer's own time is no delay
	}
	o.lag, o.response = quantilesOf(sent), quantilesOf(latency)
	return o, nil
}
