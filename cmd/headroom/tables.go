package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"headroom/analyze"
	"headroom/report"
)

// gateFormats are those of a command whose result is a verdict.
var gateFormats = append(slices.Clone(formats), "junit", "github")

func gateFormatFlag() cli.Flag {
	return &cli.StringFlag{Name: "format", Value: "text", Usage: "text, json, csv, markdown, junit, or github (annotations, and a summary where $GITHUB_STEP_SUMMARY is set)"}
}

func checkGateFormat(c *cli.Context) (string, error) {
	f := c.String("format")
	if slices.Contains(gateFormats, f) {
		return f, nil
	}
	return "", usagef("--format %s: it is one of text, json, csv, markdown, junit and github", f)
}

// seriesFlags are those of analyze --series.
func seriesFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "series", Usage: "resource series of any origin, instead of runs: `FILE` with a column of time and one per series; - for stdin"},
		&cli.StringFlag{Name: "time", Usage: "with --series: the `COLUMN` of time"},
		&cli.StringSliceFlag{Name: "column", Usage: "with --series: judge this `COLUMN` only; may be given several times"},
		&cli.StringSliceFlag{Name: "limit", Usage: "with --series: a `COLUMN=NUMBER` that must not be reached, for the time until then"},
		&cli.Float64Flag{Name: "knee", Usage: "the service's knee in requests per second, for what the recovery from a burst is compared with"},
		langFlag(),
	}
}

// analyzeSeries judges series of any origin and prints them.
func analyzeSeries(c *cli.Context, std IO, format string) error {
	if err := noArguments(c); err != nil {
		return err
	}
	path := c.String("series")
	lang, err := report.ParseLang(c.String("lang"))
	if err != nil {
		return &exitError{exitUsage, err}
	}
	o := analyze.SeriesOptions{Time: c.String("time"), Columns: c.StringSlice("column"), Limits: map[string]float64{}}
	for _, l := range c.StringSlice("limit") {
		at := strings.LastIndexByte(l, '=')
		if at <= 0 {
			return usagef("--limit %s: write COLUMN=NUMBER", l)
		}
		v, err := strconv.ParseFloat(l[at+1:], 64)
		if err != nil || !(v-v == 0) {
			return usagef("--limit %s: %q is no number", l, l[at+1:])
		}
		o.Limits[l[:at]] = v
	}
	records, err := readCSV(path, std.In)
	if err != nil {
		return err
	}
	s, err := analyze.Series(records, o)
	if err != nil {
		return usagef("%s: %w", path, err)
	}
	var out []byte
	switch format {
	case "json":
		out, err = report.SeriesJSON(s)
	case "csv":
		out, err = report.SeriesCSV(s)
	case "markdown":
		out = report.SeriesMarkdown(s, lang)
	case "text":
		out = []byte(report.SeriesText(s))
	default:
		return usagef("--format %s tells gates; series have none", format)
	}
	if err != nil {
		return err
	}
	_, err = std.Out.Write(out)
	return err
}

// readCSV reads a table; - is stdin. The separator is a comma, or what the
// first line has more of: a semicolon or a tab.
func readCSV(path string, stdin io.Reader) ([][]string, error) {
	in := stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, refused(path, err)
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord = -1
	first, _, _ := bytes.Cut(data, []byte("\n"))
	for _, sep := range ";\t" {
		if bytes.Count(first, []byte(string(sep))) > bytes.Count(first, []byte(string(r.Comma))) {
			r.Comma = sep
		}
	}
	records, err := r.ReadAll()
	if err != nil {
		return nil, usagef("%s: %w", path, err)
	}
	return records, nil
}

// maxJobSummary is how much a job's summary may hold in all; GitHub aborts the
// upload above 1 MiB.
const maxJobSummary = 900_000

// tellGitHub prints annotations, and appends a summary to the job's where there is
// one.
func tellGitHub(std IO, a *analyze.Analysis, lang report.Lang) error {
	if _, err := io.WriteString(std.Out, report.Annotations(a)); err != nil {
		return err
	}
	path, ok := std.Env("GITHUB_STEP_SUMMARY")
	if !ok || path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("GITHUB_STEP_SUMMARY: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return fmt.Errorf("GITHUB_STEP_SUMMARY: %w", err)
	}
	text := cutSummary(report.Summary(a, lang), maxJobSummary-int(min(info.Size(), maxJobSummary)))
	_, err = f.Write(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("GITHUB_STEP_SUMMARY: %w", err)
	}
	return nil
}

// cutSummary cuts at a line so that no more than room is used.
func cutSummary(text []byte, room int) []byte {
	const more = "\n…\n"
	if len(text) <= room {
		return text
	}
	if room < len(more) {
		return nil
	}
	text = text[:room-len(more)]
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		text = text[:i+1]
	} else {
		text = nil
	}
	return append(bytes.Clone(text), more...)
}
