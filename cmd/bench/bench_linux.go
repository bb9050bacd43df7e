package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// bench is what all measurements share.
type bench struct {
	headroom string // path of the program
	self     string
	dir      string // for temporary files
	rounds   int
	length   time.Duration // of one measurement
	probe    time.Duration // of one rung of the search
	quick    bool
	sender   int // core of the generators
	server   int // core of the server
	turn     int // of the addresses of the built-in service
	t        table
}

// The parts of the work, in order.
var parts = []string{"compare", "search", "exact", "truth", "budgets"}

func run(ctx context.Context, args []string) int {
	if len(args) > 0 {
		if role, ok := roles[args[0]]; ok {
			if err := role(ctx, args[1:]); err != nil {
				fmt.Fprintln(os.Stderr, "bench "+args[0]+":", err)
				return 2
			}
			return 0
		}
	}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	b := bench{}
	f.IntVar(&b.rounds, "rounds", 3, "how often each measurement is made")
	f.DurationVar(&b.length, "length", 8*time.Second, "how long each takes")
	f.BoolVar(&b.quick, "quick", false, "one short round: to see that it works, not to measure")
	f.StringVar(&b.headroom, "headroom", "bin/headroom", "the program under test")
	only := f.String("only", strings.Join(parts, ","), "which parts")
	markdown := f.String("markdown", "", "write the table to this file, too, as Markdown")
	install := f.String("install", "vegeta,k6", "which generators to install where they are missing: vegeta, k6 (AGPL, used as a program only), comma-separated, or none")
	wait := f.Duration("wait", 0, "how long to wait, at most, for other work on the machine to end")
	check := f.Bool("check", false, "exit with 1 where a budget is missed")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	b.probe = 3 * time.Second
	if b.quick {
		b.rounds, b.length, b.probe = 1, 2*time.Second, time.Second
	}
	if err := quiet(ctx, *wait); err != nil {
		return 2
	}
	if err := b.all(ctx, strings.Split(*only, ","), strings.Split(*install, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 2
	}
	fmt.Print(b.t.text())
	if *markdown != "" {
		if err := os.WriteFile(*markdown, []byte(b.t.markdown()), 0o666); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			return 2
		}
	}
	if *check && b.t.missed() {
		return 1
	}
	return 0
}

func (b *bench) all(ctx context.Context, only, install []string) (err error) {
	for _, p := range only {
		if !slices.Contains(parts, p) {
			return fmt.Errorf("-only %q: there are %s", p, strings.Join(parts, ", "))
		}
	}
	if b.rounds < 1 || b.length < time.Second {
		return errors.New("at least one round of at least a second")
	}
	if b.headroom, err = filepath.Abs(b.headroom); err != nil {
		return err
	}
	if _, err := os.Stat(b.headroom); err != nil {
		return fmt.Errorf("%w; make build makes it", err)
	}
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "headroom-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	b.sender, b.server = 0, runtime.NumCPU()-1
	b.t.machine = machine()
	if b.server == b.sender {
		b.t.note("this machine has one core, which the server and the generators share: nothing here can be compared")
	}
	all := b.generators(ctx, install)
	for _, p := range parts {
		if !slices.Contains(only, p) {
			continue
		}
		say("%s", p)
		before := busyTimes()
		switch p {
		case "compare":
			err = b.compare(ctx, all)
		case "search":
			err = b.search(ctx, all)
		case "exact":
			err = b.exact(ctx)
		case "truth":
			err = b.truth(ctx, all)
		case "budgets":
			err = b.budgets(ctx)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		b.t.others(p, busyTimes().since(before))
	}
	b.judge()
	return nil
}

// say tells what is being done; the table goes to stdout, alone.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...)
}
