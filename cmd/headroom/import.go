package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"headroom/prep/foreign"
	"headroom/store"
	"headroom/store/record"
)

func importCommand(std IO) *cli.Command {
	return &cli.Command{
		Name: "import", Usage: "turn another tool's results into evidence; the last line on stdout is its file", ArgsUsage: "FILE --from FORMAT -o DIR",
		Description: "Files with one row per request, and histogram logs, become evidence: " + strings.Join(foreign.Formats(), ", ") + ".\n" +
			"Files of aggregates become points of the trend (FILE.point.json): " + strings.Join(foreign.PointFormats(), ", ") + ".\n" +
			"A file of - is stdin; gzip is unpacked.",
		Flags: commonFlags(
			&cli.StringFlag{Name: "from", Usage: "the file's `FORMAT`", Required: true},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "runs", Usage: "`DIR` for the evidence file"},
			&cli.StringFlag{Name: "scheduled-column", Usage: "the `COLUMN[:UNIT]` that says when each request was due; the omission factor is measured from it"},
			&cli.StringFlag{Name: "expected-interval", Usage: "the time `D` from one request to the next that the tool was told to keep; the schedule is rebuilt and the omission factor estimated"},
			&cli.StringSliceFlag{Name: "columns", Usage: "csv: `FIELD=COLUMN[:UNIT]`, fields start, end, duration, status, success, class, bytes_in, bytes_out, seq, error; units ns, us, ms, s, rfc3339; may be repeated or separated by commas"},
			&cli.StringFlag{Name: "model", Usage: "open, closed or unknown, where you know better than the format"},
			&cli.StringFlag{Name: "unit", Usage: "hlog: the `UNIT` of the log's values, ns, us or ms"},
			&cli.BoolFlag{Name: "end-stamps", Usage: "jtl: time stamps are those of the end of each request"},
			&cli.StringFlag{Name: "name", Usage: "name of the run, as a plan would give it"},
			&cli.StringFlag{Name: "release", Usage: "label of the release that was tested"},
			&cli.StringSliceFlag{Name: "gate", Usage: "a `RULE` whose limits are counted exactly while importing; may be repeated"},
		),
		Action: func(c *cli.Context) error {
			file, err := oneArgument(c, "the file to import")
			if err != nil {
				return err
			}
			o, err := importOptions(c)
			if err != nil {
				return err
			}
			in, err := openInput(file, std)
			if err != nil {
				return err
			}
			defer in.Close()
			if err := os.MkdirAll(c.String("out"), 0o777); err != nil {
				return fmt.Errorf("folder for the evidence: %w; give another with -o", err)
			}
			say := func(format string, args ...any) {
				if !c.Bool("quiet") {
					fmt.Fprintf(std.Err, format+"\n", args...)
				}
			}
			stops := watchStops(c.Context)
			defer stops.release()
			var paths []string
			if slices.Contains(foreign.PointFormats(), o.From) {
				paths, err = importPoints(in, o, c.String("out"), say)
			} else {
				paths, err = importRun(stops.soft, in, o, c.String("out"), say)
			}
			if code := stops.code(); code != 0 {
				return exit(code)
			}
			if err != nil {
				return importError(file, err)
			}
			for _, p := range paths {
				if _, err := fmt.Fprintln(std.Out, p); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// importError maps a refusal to the exit code of the table: what the caller
// asked for and cannot be had is usage, what the file is not is refused.
func importError(file string, err error) error {
	var r *foreign.Refusal
	if !errors.As(err, &r) {
		return err
	}
	err = fmt.Errorf("%s: %w (%s)", file, err, r.Code)
	switch r.Code {
	case foreign.BadColumns, foreign.NoScheduledColumn, foreign.ClockTooCoarse, foreign.IntervalTooLong, foreign.IntervalTooShort, foreign.UnknownUnit:
		return &exitError{exitUsage, err}
	}
	return &exitError{exitRefused, err}
}

func openInput(file string, std IO) (io.ReadCloser, error) {
	if file == "-" {
		return io.NopCloser(std.In), nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func importOptions(c *cli.Context) (foreign.Options, error) {
	o := foreign.Options{
		From: c.String("from"), ScheduledColumn: c.String("scheduled-column"), EndStamps: c.Bool("end-stamps"),
		Name: c.String("name"), Release: c.String("release"), Gates: c.StringSlice("gate"), Started: time.Now(), Model: record.Model(c.String("model")),
	}
	known := append(foreign.Formats(), foreign.PointFormats()...)
	if !slices.Contains(known, o.From) {
		return o, usagef("--from %s: it is one of %s%s", o.From, strings.Join(known, ", "), didYouMean(o.From, known))
	}
	for _, list := range c.StringSlice("columns") {
		o.Columns = append(o.Columns, strings.Split(list, ",")...)
	}
	if len(o.Columns) > 0 && o.From != "csv" {
		return o, usagef("--columns is for --from csv; %s knows its own columns", o.From)
	}
	if d := c.String("expected-interval"); d != "" {
		ns, err := record.ParseDuration(d)
		if err != nil || ns == 0 {
			return o, usagef("--expected-interval %s: write a duration above 0, such as 10ms", d)
		}
		if o.ScheduledColumn != "" {
			return o, usagef("--scheduled-column and --expected-interval contradict each other: give one of them")
		}
		o.ExpectedIntervalNS = ns
	}
	switch o.Model {
	case "", record.Open, record.Closed, record.Unknown:
	default:
		return o, usagef("--model %s: it is one of open, closed and unknown", o.Model)
	}
	for _, rule := range o.Gates {
		if _, err := record.ParseGate(rule); err != nil {
			return o, usagef("--gate %w", err)
		}
	}
	switch u := c.String("unit"); u {
	case "":
	case "ns", "us", "ms":
		o.UnitNS = map[string]int64{"ns": 1, "us": 1e3, "ms": 1e6}[u]
	default:
		return o, usagef("--unit %s: it is one of ns, us and ms", u)
	}
	return o, nil
}

// importRun writes the evidence of a file of requests.
func importRun(ctx context.Context, in io.Reader, o foreign.Options, dir string, say func(string, ...any)) ([]string, error) {
	im, err := foreign.Read(ctx, in, o)
	if err != nil {
		return nil, err
	}
	defer im.Close()
	h := im.Header()
	h.RunID, h.ToolVersion = runID(h.Name, h.Started), version
	rec, err := store.CreateWith(dir, h, store.Options{Bulk: true})
	if err != nil {
		return nil, err
	}
	end, err := im.Write(rec)
	if err != nil {
		return nil, errors.Join(err, rec.Abort())
	}
	path, err := rec.Finish(end)
	if err != nil {
		return nil, fmt.Errorf("the import can't be sealed: %w", err)
	}
	say("imported %s", im.Summary())
	if e := end.Omission; e != nil {
		say("omission factor at p99, estimated: between %.3g and %.3g; %d requests were due and are not in the file", e.Low[2], e.High[2], e.Omitted)
	}
	return []string{path}, nil
}

// importPoints writes one file for each run that a summary holds.
func importPoints(in io.Reader, o foreign.Options, dir string, say func(string, ...any)) ([]string, error) {
	points, err := foreign.ReadPoints(in, o)
	if err != nil {
		return nil, err
	}
	var paths []string
	for i := range points {
		p := &points[i]
		p.Imported = o.Started.UTC().Format(time.RFC3339)
		path := filepath.Join(dir, runID(p.Name, o.Started)+pointSuffix)
		err := writeWhole(path, func(w io.Writer) error {
			e := json.NewEncoder(w)
			e.SetIndent("", "  ")
			return e.Encode(p)
		})
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
		say("a point of the trend from %s, model %s; missing: %s", p.Tool, p.Model, strings.Join(p.Missing, ", "))
	}
	return paths, nil
}
