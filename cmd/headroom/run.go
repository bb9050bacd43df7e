package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"headroom/runner"
	"headroom/runner/observe"
	"headroom/runner/plan"
	"headroom/runner/send"
	"headroom/store"
	"headroom/store/record"
)

func runCommand(std IO) *cli.Command {
	return &cli.Command{
		Name: "run", Usage: "record one run of a plan; the last line on stdout is the evidence file", ArgsUsage: "PLAN -o DIR | --url URL --rate R --length D -o DIR",
		Flags: commonFlags(
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "runs", Usage: "`DIR` for the evidence file"},
			&cli.StringFlag{Name: "release", Usage: "label of the release under test, instead of the plan's"},
			&cli.Uint64Flag{Name: "seed", Usage: "seed of the schedule and the data, instead of the plan's"},
			&cli.StringFlag{Name: "ui", Usage: "show the run while it goes on, at `ADDRESS` as in 127.0.0.1:8078"},
			&cli.StringFlag{Name: "url", Usage: "a quick look at one `URL` at a steady rate, without a plan"},
			&cli.Float64Flag{Name: "rate", Usage: "with --url: requests per second"},
			&cli.DurationFlag{Name: "length", Usage: "with --url: how long, as in 30s"},
			&cli.BoolFlag{Name: "print-plan", Usage: "with --url: print the plan and do nothing"},
		),
		Action: func(c *cli.Context) error {
			p, text, err := planOf(c, std)
			if err != nil {
				return err
			}
			if c.Bool("print-plan") {
				_, err := std.Out.Write(text)
				return err
			}
			if c.IsSet("release") {
				p.Release = c.String("release")
			}
			if c.IsSet("seed") {
				p.Seed = c.Uint64("seed")
			}
			path, err := recordRun(c.Context, std, p, recordOptions{dir: c.String("out"), ui: c.String("ui"), quiet: c.Bool("quiet"), progress: !c.Bool("no-progress")})
			if path != "" {
				if _, printErr := fmt.Fprintln(std.Out, path); err == nil {
					err = printErr
				}
			}
			return err
		},
	}
}

// planOf is the plan that run was given: a file, or a quick one with its text.
func planOf(c *cli.Context, std IO) (*plan.Plan, []byte, error) {
	if url := c.String("url"); url != "" {
		if err := noArguments(c); err != nil {
			return nil, nil, err
		}
		return quickPlan(url, c.Float64("rate"), c.Duration("length"), std)
	}
	for _, name := range []string{"rate", "length", "print-plan"} {
		if c.IsSet(name) {
			return nil, nil, usagef("--%s belongs to --url; a plan says it itself", name)
		}
	}
	file, err := oneArgument(c, "the plan")
	if err != nil {
		return nil, nil, err
	}
	p, err := loadPlan(file, std)
	return p, nil, err
}

type recordOptions struct {
	dir      string
	ui       string // address of the live page; "" none
	quiet    bool
	progress bool
}

// recordRun starts the target where the plan owns one, records the run and
// seals it. The path is that of the evidence file, also where the run was
// interrupted or failed; the error carries the exit code.
func recordRun(ctx context.Context, std IO, p *plan.Plan, o recordOptions) (path string, err error) {
	if err := os.MkdirAll(o.dir, 0o777); err != nil {
		return "", fmt.Errorf("folder for the evidence: %w; give another with -o", err)
	}
	script, err := runner.ScriptOf(p)
	if err != nil {
		return "", &exitError{exitUsage, err}
	}
	h := header(p, time.Now())
	traffic, err := runner.NewTraffic(p, h)
	if err != nil {
		return "", &exitError{exitUsage, err}
	}
	say := func(format string, args ...any) {
		if !o.quiet {
			fmt.Fprintf(std.Err, format+"\n", args...)
		}
	}
	stops := watchStops(ctx, func() {
		say("stopping: nothing more is sent, what is in flight may still be answered; once more ends the run at once")
	})
	defer stops.release()
	t, err := startTarget(stops, p)
	if err != nil {
		if code := stops.code(); code != 0 {
			return "", exit(code)
		}
		return "", err
	}
	defer func() {
		if err := t.stop(); err != nil && stops.hard.Err() == nil {
			say("%v", err)
		}
	}()
	makeRoom()
	watch, err := startObserver(stops.soft, p, t)
	if err != nil {
		return "", err
	}
	defer watch.Stop()
	h.Observed = watch.Series()
	engine, err := newEngine(t.config(p))
	if err != nil {
		return "", err
	}
	defer engine.Close()

	// The evidence file comes before the first request: a folder that can't be
	// written must not be found out about afterwards.
	rec, err := store.Create(o.dir, h)
	if err != nil {
		return "", err
	}
	finished := false
	defer func() {
		if !finished {
			_ = rec.Abort() // the error that brought us here is the one to tell
		}
	}()
	facts := gatherFacts(t)
	say("run %s: %s against %s", h.RunID, h.Format, t.describe())
	page, err := startUI(o.ui, o.dir, h, say)
	if err != nil {
		return "", err
	}
	var end record.End
	defer func() { page.end(end) }()
	line := newProgress(std.Err, o.progress && !o.quiet, h)
	cfg := runner.Config{
		Header: h, Facts: facts, Script: script, Traffic: traffic, Engine: engine, Sink: page.sink(rec), Watch: watch,
		Arrivals: runner.ArrivalsOf(p, h.Seed), Rules: p.Abort, OwnThread: useLoop(t.config(p)), Progress: func(s runner.Status) {
			line.show(s)
			page.show(s)
		},
	}
	if c := p.Load.Closed; c != nil {
		cfg.Pacing, cfg.Think = int64(c.Pacing), int64(c.Think)
	}
	end = cfg.Record(stops.soft, stops.hard)
	line.clear()
	if late := closing(rec, watch, end.AtNS, laterFacts(facts, gatherFacts(t), engine.Stats())); late != nil && end.State == record.Complete {
		end.State, end.Reason = record.Failed, "storage: "+late.Error()
	}
	finished = true
	path, err = rec.Finish(end)
	if err != nil {
		return path, fmt.Errorf("the run can't be sealed: %w", err)
	}
	return path, outcome(end, stops, say)
}

// closing writes what is known only when the last request has ended.
func closing(sink record.Sink, watch *observe.Observer, at int64, f record.Facts) error {
	if err := sink.PutFacts(f); err != nil {
		return err
	}
	if s := watch.Readings.Stop(); len(s) > 0 {
		if err := sink.PutSamples(s); err != nil {
			return err
		}
	}
	for _, n := range watch.Notes(at, true) {
		if err := sink.PutNote(n); err != nil {
			return err
		}
	}
	return nil
}

// outcome says how a run ended and with which exit code.
func outcome(end record.End, s *stops, say func(string, ...any)) error {
	switch {
	case s.code() != 0:
		say("stopped from outside: the evidence so far is sealed as interrupted")
		return exit(s.code())
	case end.State == record.Failed:
		return fmt.Errorf("the run failed: %s", end.Reason)
	case end.State == record.Interrupted:
		say("the run ended early: %s", end.Reason)
		return exit(exitInconclusive)
	}
	return nil
}

// header is the plan's header with what only this moment knows.
func header(p *plan.Plan, now time.Time) record.Header {
	h := p.Header()
	h.Started = now.UTC()
	h.ToolVersion = version
	h.RunID = runID(h.Name, now)
	return h
}

// runID is the plan's name, the instant and four random bytes: readable, sorted
// by time within a name, and unique.
func runID(name string, now time.Time) string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails, by its documentation
	return slug(name) + "-" + now.UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(b[:])
}

func slug(name string) string {
	s := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '-', r == '_':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, name)
	s = strings.Trim(s, "-")
	if len(s) > 60 {
		s = s[:60]
	}
	if s == "" {
		return "run"
	}
	return s
}

// laterFacts compares the facts at the end with those of the start.
func laterFacts(before, after record.Facts, st send.Stats) record.Facts {
	f := before
	for k, v := range after.Target {
		if old, ok := before.Target[k]; ok && old != v {
			f.Changed = append(f.Changed, "target."+k)
		}
	}
	for k, v := range after.Generator {
		if old, ok := before.Generator[k]; ok && old != v {
			f.Changed = append(f.Changed, "generator."+k)
		}
	}
	if len(st.Negotiated) > 0 {
		target := map[string]string{}
		for k, v := range f.Target {
			target[k] = v
		}
		for k, v := range st.Negotiated {
			target[k] = v
		}
		f.Target = target
	}
	return f
}

// useLoop reports whether the fast engine can serve the target: plain HTTP/1.1
// on Linux.
func useLoop(c send.Config) bool {
	return runtime.GOOS == "linux" && c.Scheme == "http" && (c.HTTPVersion == "1.1" || c.HTTPVersion == "auto" || c.HTTPVersion == "")
}
