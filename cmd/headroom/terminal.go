package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"headroom/runner"
	"headroom/store/record"
)

// fileOf is the file behind an output, or nil.
func fileOf(w io.Writer) *os.File {
	if r, ok := w.(*result); ok {
		w = r.to
	}
	f, _ := w.(*os.File)
	return f
}

func isTerminal(w io.Writer) bool {
	f := fileOf(w)
	return f != nil && term.IsTerminal(int(f.Fd()))
}

// terminalWidth is the width in which lines fit, in characters.
func terminalWidth(w io.Writer) int {
	if f := fileOf(w); f != nil {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 40 {
			return min(n, 140)
		}
	}
	return 100
}

// wantColor honours NO_COLOR and CLICOLOR_FORCE; otherwise colour is for terminals.
func wantColor(std IO) bool {
	if v, _ := std.Env("NO_COLOR"); v != "" {
		return false
	}
	if v, _ := std.Env("CLICOLOR_FORCE"); v != "" && v != "0" {
		return true
	}
	t, _ := std.Env("TERM")
	return isTerminal(std.Out) && t != "dumb"
}

// progress is the one line that a terminal shows while a run goes on.
type progress struct {
	w     io.Writer
	h     record.Header
	drawn bool
}

func newProgress(w io.Writer, wanted bool, h record.Header) *progress {
	if !wanted || !isTerminal(w) {
		w = nil
	}
	return &progress{w: w, h: h}
}

// show draws the line. It is called on the sending loop once an interval and
// writes at most a few hundred bytes.
func (p *progress) show(s runner.Status) {
	if p.w == nil {
		return
	}
	c := s.Counters
	elapsed := time.Duration(s.AtNS).Round(time.Second)
	inPhase := float64(s.AtNS-s.Phase.StartNS) / 1e9
	var errs uint64
	for o, n := range c.By {
		if record.Outcome(o) != record.OK && record.Outcome(o) != record.Shed {
			errs += n
		}
	}
	what := string(s.Phase.Kind)
	if s.Phase.Step >= 0 {
		what = fmt.Sprintf("%s %d", s.Phase.Kind, s.Phase.Step)
	}
	line := fmt.Sprintf("%s  %s  target %.0f/s  offered %.0f/s  good %.0f/s  shed %d  errors %d  in flight %d",
		elapsed, what, s.Phase.TargetRPS, rate(c.Scheduled, inPhase), rate(c.By[record.OK], inPhase), c.By[record.Shed], errs, s.InFlight)
	if width := terminalWidth(p.w); len(line) >= width {
		line = line[:width-1]
	}
	p.drawn = true
	fmt.Fprintf(p.w, "\r\x1b[K%s", line)
}

func rate(n uint64, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return float64(n) / seconds
}

func (p *progress) clear() {
	if p.w != nil && p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
