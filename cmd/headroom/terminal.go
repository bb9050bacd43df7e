package main

import (
	"fmt"
	"io"
	"os"
	"strings"
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

// progress is the one line that a terminal shows while a run goes on. It is
// drawn by a goroutine of its own, so that the sending loop never waits for a
// terminal; what comes while it draws is shown the next time.
type progress struct {
	w    io.Writer
	in   chan runner.Status
	done chan struct{}
}

func newProgress(w io.Writer, wanted bool, h record.Header) *progress {
	if !wanted || !isTerminal(w) {
		return &progress{}
	}
	p := &progress{w: w, in: make(chan runner.Status, 16), done: make(chan struct{})}
	go p.draw(runner.NewTracker(h))
	return p
}

// show takes the state of the run at an interval's end. It never blocks.
func (p *progress) show(s runner.Status) {
	if p.in == nil {
		return
	}
	select {
	case p.in <- s:
	default:
	}
}

func (p *progress) draw(t *runner.Tracker) {
	defer close(p.done)
	drawn := false
	for s := range p.in {
		t.Add(s)
		if len(p.in) > 0 {
			continue
		}
		line := glanceLine(t.Glance(s))
		if width := terminalWidth(p.w); len([]rune(line)) >= width {
			line = string([]rune(line)[:width-1])
		}
		drawn = true
		fmt.Fprintf(p.w, "\r\x1b[K%s", line)
	}
	if drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// clear ends the line.
func (p *progress) clear() {
	if p.in != nil {
		close(p.in)
		<-p.done
	}
}

// glanceLine says the most important first, since a narrow terminal cuts it.
func glanceLine(g runner.Glance) string {
	what := string(g.Phase.Kind)
	if g.Phase.Step >= 0 && g.Phase.Kind != record.Drain {
		what = fmt.Sprintf("%s %d", g.Phase.Kind, g.Phase.Step)
	}
	line := fmt.Sprintf("%s %s  offered %.0f  sent %.0f  good %.0f/s", g.Elapsed.Round(time.Second), what, g.Offered, g.Sent, g.Goodput)
	if g.Shed > 0 {
		line += fmt.Sprintf("  shed %.0f/s", g.Shed)
	}
	line += fmt.Sprintf("  errors %.0f/s  p99 %s, service %s, lag %s  in flight %d",
		g.Errors, micros(g.Response), micros(g.Service), micros(g.Lag), g.InFlight)
	if g.Trust != "" {
		line += "  " + g.Trust
		if len(g.Reasons) > 0 {
			line += " (" + strings.Join(g.Reasons, ", ") + ")"
		}
	}
	if g.Knee != nil {
		line += fmt.Sprintf("  knee near %.0f/s", *g.Knee)
	}
	return line
}

// micros writes microseconds for people.
func micros(us *float64) string {
	switch {
	case us == nil:
		return "-"
	case *us >= 1e6:
		return fmt.Sprintf("%.3g s", *us/1e6)
	case *us >= 1000:
		return fmt.Sprintf("%.3g ms", *us/1000)
	}
	return fmt.Sprintf("%.0f µs", *us)
}
