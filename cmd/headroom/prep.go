package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"headroom/prep/profile"
)

func prepCommand(std IO) *cli.Command {
	return &cli.Command{
		Name: "prep", Usage: "realism: learn from production's logs, and requests from what there is", ArgsUsage: "profile|curl|har|openapi …",
		Subcommands: append([]*cli.Command{prepProfileCommand(std)}, prepRequestCommands(std)...),
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usagef("prep has no part %q; it has profile, curl, har and openapi", c.Args().First())
			}
			return usagef("prep wants a part: headroom prep profile LOG... -o FILE, or prep curl, har or openapi")
		},
	}
}

func prepProfileCommand(std IO) *cli.Command {
	return &cli.Command{
		Name: "profile", Usage: "learn mix, popularity, arrivals and peak from access logs; the last line on stdout is the profile's file", ArgsUsage: "LOG... -o FILE",
		Description: "Reads access logs of the usual servers, plain, gzip or zstd, rotated and in any order, once and in bounded memory.\n" +
			"A LOG of - is stdin. No identifier, address, user agent, host or query value is kept.",
		Flags: commonFlags(
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "the `FILE` to write, - for stdout"},
			&cli.StringFlag{Name: "format-string", Usage: "the logs' `FORMAT`, an nginx log_format or an Apache LogFormat; found out otherwise"},
			&cli.StringFlag{Name: "sampled", Usage: "the `SHARE` of all requests that the logs hold, such as 1% or 0.01"},
			&cli.StringSliceFlag{Name: "route", Usage: "a `PATTERN` such as /users/{name}/posts or /users/me, where routes are not guessed right; may be repeated"},
			&cli.BoolFlag{Name: "dry-run", Usage: "print what would be kept, write nothing"},
			&cli.BoolFlag{Name: "shape-only", Usage: "keep laws, no counts of single identifiers"},
		),
		Action: func(c *cli.Context) error { return prepProfile(c, std) },
	}
}

func prepProfile(c *cli.Context, std IO) error {
	out := c.String("out")
	switch {
	case c.NArg() == 0:
		return usagef("prep profile wants at least one log, or - for stdin")
	case out == "" && !c.Bool("dry-run"):
		return usagef("prep profile wants -o FILE, or --dry-run")
	case out != "" && c.Bool("dry-run"):
		return usagef("--dry-run writes nothing; leave -o out")
	}
	o := profile.Options{Format: c.String("format-string"), Routes: c.StringSlice("route")}
	if s := c.String("sampled"); s != "" {
		share, ok := parseShare(s)
		if !ok {
			return usagef("--sampled %s: write a share of all requests, such as 1%% or 0.01", s)
		}
		o.Sampled = share
	}
	inputs, err := logs(c.Args().Slice(), out, std)
	if err != nil {
		return err
	}
	stops := watchStops(c.Context)
	defer stops.release()
	line := &readingLine{w: std.Err, started: time.Now()}
	if !c.Bool("quiet") && !c.Bool("no-progress") && isTerminal(std.Err) {
		o.Progress = line.show
	}
	p, err := profile.Read(stops.soft, inputs, o)
	line.clear()
	if code := stops.code(); code != 0 {
		return exit(code)
	}
	if err != nil {
		return prepError(err)
	}
	if c.Bool("shape-only") {
		p = p.Shape()
	}
	if c.Bool("dry-run") {
		return p.DryRun(std.Out)
	}
	if p.Requests == 0 {
		return fmt.Errorf("none of %d lines could be read as a request%s; give the format with --format-string. Nothing was written", p.Lines.Read, reasons(p.Lines))
	}
	if out == "-" {
		return p.Encode(std.Out)
	}
	if err := writeProfile(out, p); err != nil {
		return err
	}
	if !c.Bool("quiet") {
		summarise(std.Err, p)
	}
	_, err = fmt.Fprintln(std.Out, out)
	return err
}

// prepError marks what the caller asked for and cannot be had as usage.
func prepError(err error) error {
	text := err.Error()
	for _, usage := range []string{"format string:", "route ", "a sample of"} {
		if strings.HasPrefix(text, usage) {
			return &exitError{exitUsage, err}
		}
	}
	return err
}

// parseShare reads 1%, 0.01 and 1/100.
func parseShare(s string) (float64, bool) {
	scale := 1.0
	if head, ok := strings.CutSuffix(s, "%"); ok {
		s, scale = strings.TrimSpace(head), 0.01
	}
	over := "1"
	if top, bottom, ok := strings.Cut(s, "/"); ok {
		s, over = top, bottom
	}
	v, err := strconv.ParseFloat(s, 64)
	d, err2 := strconv.ParseFloat(over, 64)
	v = v * scale / d
	return v, err == nil && err2 == nil && v > 0 && v <= 1
}

// logs makes inputs of file names. The profile must not be among them.
func logs(names []string, out string, std IO) ([]profile.Input, error) {
	var all []profile.Input
	stdin := false
	for _, name := range names {
		if name == "-" {
			if stdin {
				return nil, usagef("- stands for stdin and can be read once")
			}
			stdin = true
			all = append(all, profile.Input{Name: "stdin", Once: true, Open: func() (io.ReadCloser, error) { return io.NopCloser(std.In), nil }})
			continue
		}
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			return nil, usagef("%s is a folder; name the logs in it, as in %s", name, filepath.Join(name, "access.log*"))
		}
		if other, err := os.Stat(out); err == nil && os.SameFile(info, other) {
			return nil, usagef("%s is a log and would be overwritten by -o", out)
		}
		all = append(all, profile.Input{
			Name: name, Size: info.Size(), Once: !info.Mode().IsRegular(),
			Open: func() (io.ReadCloser, error) { return os.Open(name) },
		})
	}
	return all, nil
}

// writeProfile writes the whole file or leaves what was there.
func writeProfile(name string, p *profile.Profile) error {
	return writeWhole(name, func(w io.Writer) error { return p.Encode(w) })
}

// summarise says in a few lines what was learned and what was not.
func summarise(w io.Writer, p *profile.Profile) {
	fmt.Fprintf(w, "%d lines, %d requests%s, %s to %s\n", p.Lines.Read, p.Requests, reasons(p.Lines), p.Window.From, p.Window.To)
	if s := p.Peak.Second; s != nil {
		fmt.Fprintf(w, "busiest second %g/s at %s, busiest minute %g/s\n", s.RPS, s.At, p.Peak.Minute.RPS)
	}
	seen := map[string]bool{}
	for _, r := range p.Refused {
		if !seen[r.Code] {
			where := ""
			if r.Route != "" {
				where = fmt.Sprintf(" of %s (%s)", r.Route, r.At)
			}
			fmt.Fprintf(w, "not told: %s%s: %s\n", r.Code, where, r.Text)
		}
		seen[r.Code] = true
	}
}

// reasons lists why lines were not read, largest groups as they come.
func reasons(l profile.Lines) string {
	var parts []string
	for _, code := range []string{
		"not_a_request", "unrecognised", "malformed", "bad_time", "bad_status", "bad_json",
		"fewer_values_than_names", "line_too_long", "not_text",
	} {
		if n := l.Rejected[code]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s, first in line %d", n, code, l.FirstRejected[code][0]))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

// readingLine shows how far the reading is.
type readingLine struct {
	w       io.Writer
	started time.Time
	last    time.Time
	drawn   bool
}

func (l *readingLine) show(p profile.Progress) {
	now := time.Now()
	if now.Sub(l.last) < 100*time.Millisecond {
		return
	}
	l.last, l.drawn = now, true
	part := ""
	if p.Size > 0 {
		part = fmt.Sprintf("%3d %%  ", 100*p.Bytes/p.Size)
	}
	fmt.Fprintf(l.w, "\r\x1b[K%s%d MB  %.0f MB/s  %d requests", part, p.Bytes>>20, float64(p.Bytes)/1e6/now.Sub(l.started).Seconds(), p.Parsed)
}

func (l *readingLine) clear() {
	if l.drawn {
		fmt.Fprint(l.w, "\r\x1b[K")
	}
}
