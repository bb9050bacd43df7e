package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"headroom/analyze"
	"headroom/report"
	"headroom/store"
	"headroom/store/record"
)

func langFlag() cli.Flag {
	return &cli.StringFlag{Name: "lang", Value: "en", Usage: "en or pt-BR, of Markdown and HTML"}
}

func trendCommand(std IO) *cli.Command {
	return &cli.Command{
		Name: "trend", Usage: "tell the history of one plan: slopes, changes of level, missing runs", ArgsUsage: "DIR",
		Description: "The exit code is 3 where a gated metric got worse, 4 where too few runs can be used to say so. Gated are the metrics of the latest run's gates, and those of --gate.",
		Flags: commonFlags(
			&cli.StringFlag{Name: "format", Value: "text", Usage: "text, json, csv, markdown or html"}, langFlag(),
			&cli.StringFlag{Name: "name", Usage: "the plan's `NAME`, where the folder holds runs of several"},
			&cli.StringSliceFlag{Name: "metric", Usage: "tell this `METRIC` only; may be given several times"},
			&cli.StringSliceFlag{Name: "gate", Usage: "a `METRIC`, or a rule about it, that must not get worse"},
			&cli.StringFlag{Name: "since", Usage: "leave out runs that began before this `DATE`, yyyy-mm-dd"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "also write trend.html, .md, .json, .csv and the pictures into `DIR`"},
		),
		Action: func(c *cli.Context) error {
			dir, err := oneArgument(c, "the folder with the runs")
			if err != nil {
				return err
			}
			format := c.String("format")
			if !slices.Contains(append([]string{"html"}, formats...), format) {
				return usagef("--format %s: it is one of text, json, csv, markdown and html", format)
			}
			lang, err := report.ParseLang(c.String("lang"))
			if err != nil {
				return &exitError{exitUsage, err}
			}
			opt := analyze.TrendOptions{Metrics: c.StringSlice("metric"), Gates: c.StringSlice("gate")}
			if _, err := analyze.Trend(nil, opt); err != nil {
				return &exitError{exitUsage, err}
			}
			points, err := pointHistory(std, dir, c.String("name"), c.String("since"), c.Bool("quiet"))
			if err != nil {
				return err
			}
			paths, err := historyFiles(std, dir, c.String("name"), c.String("since"), c.Bool("quiet"))
			if err != nil && (len(points) == 0 || c.String("name") == "") {
				return err
			}
			t, err := analyze.Trend(append(analyzeHistory(std, paths, c.Bool("quiet")), points...), opt)
			if err != nil {
				return &exitError{exitUsage, err}
			}
			if out := c.String("out"); out != "" {
				if err := writeTrend(std, out, lang, t); err != nil {
					return err
				}
			}
			if err := printTrend(std.Out, t, format, lang); err != nil {
				return err
			}
			return verdictExit(t.Verdict)
		},
	}
}

// historyFiles are the runs of one plan in a folder, oldest first.
func historyFiles(std IO, dir, name, since string, quiet bool) ([]string, error) {
	entries, err := store.List(dir)
	if err != nil {
		return nil, err
	}
	names := map[string]int{}
	var paths []string
	for _, e := range entries {
		if e.Err != nil {
			if !quiet {
				fmt.Fprintf(std.Err, "left out %s: %v\n", e.Path, e.Err)
			}
			continue
		}
		if since != "" && e.Header.Started.UTC().Format("2006-01-02") < since {
			continue
		}
		names[e.Header.Name]++
		if name == "" || e.Header.Name == name {
			paths = append(paths, e.Path)
		}
	}
	if name == "" && len(names) > 1 {
		return nil, usagef("%s holds runs of several plans; choose one with --name: %s", dir, strings.Join(slices.Sorted(maps.Keys(names)), ", "))
	}
	if len(paths) == 0 && name != "" {
		return nil, usagef("%s holds no run of a plan named %q%s", dir, name, orNothing(record.Nearest(name, slices.Sorted(maps.Keys(names)))))
	}
	return paths, nil
}

func orNothing(near string) string {
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", near)
}

// analyzeHistory analyses runs side by side; one that can't be read is named
// and left out.
func analyzeHistory(std IO, paths []string, quiet bool) []*analyze.Analysis {
	// Many analyses, each forgotten but for its result: collecting garbage after
	// every second one would take a third of the time.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	out := make([]*analyze.Analysis, len(paths))
	errs := make([]error, len(paths))
	inParallel(len(paths), func(i int) { out[i], _, errs[i] = analyzeFile(paths[i], analyze.Options{Brief: true}) })
	for i, err := range errs {
		if err != nil && !quiet {
			fmt.Fprintf(std.Err, "left out %s: %v\n", paths[i], err)
		}
	}
	return slices.DeleteFunc(out, func(a *analyze.Analysis) bool { return a == nil })
}

// inParallel calls f for 0 to n-1, on as many goroutines as there are
// processors.
func inParallel(n int, f func(i int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				f(int(i))
			}
		})
	}
	wait.Wait()
}

func printTrend(w io.Writer, t *analyze.TrendResult, format string, lang report.Lang) error {
	var out []byte
	var err error
	switch format {
	case "json":
		out, err = report.TrendJSON(t)
	case "csv":
		out, err = report.TrendCSV(t)
	case "markdown":
		out = report.TrendMarkdown(t, lang)
	case "html":
		out, err = report.TrendHTML(t, lang)
	default:
		out = []byte(report.TrendText(t))
	}
	_, werr := w.Write(out)
	return errors.Join(err, werr)
}

func writeTrend(std IO, dir string, lang report.Lang, t *analyze.TrendResult) error {
	html, err := report.TrendHTML(t, lang)
	if err != nil {
		return err
	}
	json, err := report.TrendJSON(t)
	if err != nil {
		return err
	}
	csv, err := report.TrendCSV(t)
	if err != nil {
		return err
	}
	files := []report.File{{Name: "trend.html", Data: html}, {Name: "trend.md", Data: report.TrendMarkdown(t, lang)}, {Name: "trend.json", Data: json}, {Name: "trend.csv", Data: csv}}
	pictures, err := pictureFiles(report.TrendPictures(t, lang))
	if err != nil {
		return err
	}
	return writeFiles(std, dir, append(files, pictures...))
}

func writeBytes(path string, data []byte) error {
	return writeWhole(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}
