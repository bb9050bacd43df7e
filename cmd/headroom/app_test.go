package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"headroom/runner"
	"headroom/store/record"
)

// Flags may stand anywhere before --; what they are does not depend on where.
func TestArrange(t *testing.T) {
	app := newApp(IO{})
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"run", "run"},
		{"run p.yaml", "run -- p.yaml"},
		{"run p.yaml -o dir", "run -o dir -- p.yaml"},
		{"run -o dir p.yaml", "run -o dir -- p.yaml"},
		{"run p.yaml --out=dir -q", "run --out=dir -q -- p.yaml"},
		{"run -q p.yaml --seed 3", "run -q --seed 3 -- p.yaml"},
		{"run -- -q", "run -- -q"},
		{"init -", "init -- -"},
		{"run p.yaml --help", "run --help"},
		{"-h", "help"},
		{"--help run", "help run"},
		{"help run", "help run"},
		{"nonsense -x y", "nonsense -x y"},
		{"target --workers 3", "target --workers 3"},
		{"run p.yaml --generate-bash-completion", "run p.yaml --generate-bash-completion"},
	} {
		got, err := arrange(app, strings.Fields(c.in))
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%q becomes %q, %v; want %q", c.in, strings.Join(got, " "), err, c.want)
		}
	}
	for _, c := range []struct{ in, want string }{
		{"run p.yaml -o", "the flag -o of run needs a value"},
		{"report x", "report needs the flag --out"},
		{"merge a b", "merge needs the flag --out"},
	} {
		if _, err := arrange(app, strings.Fields(c.in)); codeOf(err) != exitUsage || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.in, err, c.want)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	names := []string{"analyze", "run", "ls", "report", "--seed"}
	for _, c := range []struct{ in, want string }{
		{"anlyze", "analyze"},
		{"analyse", "analyze"},
		{"runn", "run"},
		{"sl", ""},
		{"lss", "ls"},
		{"reprt", "report"},
		{"x", ""},
		{"frobnicate", ""},
		{"--sed", "--seed"},
		{"-q", ""},
	} {
		got := didYouMean(c.in, names)
		if want := c.want; want != "" && got != " (did you mean "+want+"?)" || want == "" && got != "" {
			t.Errorf("%q: %q, want %q", c.in, got, want)
		}
	}
}

// A file is replaced as a whole or not at all.
func TestWriteWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.csv")
	broken := errors.New("broken")
	if err := writeWhole(path, func(w io.Writer) error { io.WriteString(w, "half"); return broken }); !errors.Is(err, broken) {
		t.Errorf("%v, want the error of writing", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%d files left behind", len(left))
	}
	for _, text := range []string{"first", "second"} {
		if err := writeWhole(path, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); string(got) != text {
			t.Errorf("%q, want %q", got, text)
		}
	}
	if err := writeWhole(path, func(io.Writer) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("%v, want the error of writing", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "second" {
		t.Errorf("a failed write left %q", got)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeWhole(path, func(io.Writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 || info.Size() != 0 {
		t.Errorf("the new file is open to others, or not new: %v, %v", info, err)
	}
	if err := writeWhole(os.DevNull, func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }); err != nil {
		t.Errorf("a device: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%d files, want 1", len(left))
	}
}

// The progress line says how it goes, is drawn over itself, cut to the width and
// cleared in the end; away from a terminal there is none.
func TestProgress(t *testing.T) {
	p99 := 1500.0
	g := runner.Glance{
		Phase: record.Phase{Kind: record.Step, Step: 3}, Elapsed: 130 * time.Second,
		Offered: 800, Sent: 799.6, Goodput: 750, Shed: 25, Errors: 2, Response: &p99, InFlight: 12,
	}
	got := glanceLine(g)
	for _, want := range []string{"2m10s", "step 3", "offered 800", "sent 800", "good 750/s", "shed 25/s", "errors 2/s", "p99 1.5 ms", "service -", "in flight 12"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
	var b bytes.Buffer
	p := &progress{w: &b, in: make(chan runner.Status, 1), done: make(chan struct{})}
	go p.draw(runner.NewTracker(record.Header{Classes: []record.Class{{Name: "a", Weight: 1}}}))
	p.show(runner.Status{Phase: record.Phase{Kind: record.Step, Step: 3}, AtNS: 3e9})
	p.clear()
	got = b.String()
	if strings.Contains(got, "\n") || !strings.HasPrefix(got, "\r\x1b[K3s step 3") || !strings.HasSuffix(got, "\r\x1b[K") {
		t.Errorf("%q is more than a line, or is not cleared", got)
	}
	for _, line := range strings.Split(got, "\r\x1b[K") {
		if len([]rune(line)) >= terminalWidth(&b) {
			t.Errorf("%q does not fit", line)
		}
	}
	before := b.Len()
	none := newProgress(&b, true, record.Header{})
	none.show(runner.Status{})
	none.clear()
	if b.Len() != before {
		t.Error("something is drawn where there is no terminal")
	}
}

// The first error of stdout is kept, and nothing is written after it.
func TestResultKeepsItsError(t *testing.T) {
	full := errors.New("full")
	r := &result{to: writerFunc(func([]byte) (int, error) { return 0, full })}
	for range 2 {
		if _, err := io.WriteString(r, "x"); !errors.Is(err, full) {
			t.Errorf("%v, want %v", err, full)
		}
	}
	var errs bytes.Buffer
	code := Main(t.Context(), []string{"version"}, IO{Out: r.to, Err: &errs, Env: os.LookupEnv})
	if code != exitFailed || !strings.Contains(errs.String(), "can't be written: full") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// Names of runs are plain file names, whatever the plan is called.
func TestRunID(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 30, 0, 0, time.FixedZone("", 3600))
	for _, c := range []struct{ name, want string }{
		{"Checkout v2", "checkout-v2-20261120T083000Z-"},
		{"../../etc/passwd", "etc-passwd-20261120T083000Z-"},
		{"żółw", "w-20261120T083000Z-"},
		{"日本", "run-20261120T083000Z-"},
		{strings.Repeat("x", 300), strings.Repeat("x", 60) + "-20261120T083000Z-"},
	} {
		got := runID(c.name, now)
		if !strings.HasPrefix(got, c.want) || len(got) != len(c.want)+8 {
			t.Errorf("%q: %s, want %s and eight digits", c.name, got, c.want)
		}
	}
	if one, other := runID("a", now), runID("a", now); one == other {
		t.Error("two runs of one instant have one name")
	}
}

// Each code of the table is one line of it, once.
func TestExitCodes(t *testing.T) {
	var seen []int
	for _, c := range exitCodes {
		if c.meaning == "" || slices.Contains(seen, c.code) {
			t.Errorf("code %d is twice in the table, or means nothing", c.code)
		}
		seen = append(seen, c.code)
	}
	if want := []int{0, 1, 2, 3, 4, 5, 130, 143}; !slices.Equal(seen, want) {
		t.Errorf("codes %v, want %v", seen, want)
	}
	if codeOf(nil) != exitDone || codeOf(errors.New("x")) != exitFailed || codeOf(exit(exitGate)) != exitGate {
		t.Error("errors are not mapped to the table")
	}
}
