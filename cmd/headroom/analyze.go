package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"headroom/analyze"
	"headroom/report"
	"headroom/store"
	"headroom/store/record"
)

func gateFlags() []cli.Flag {
	return []cli.Flag{
		&cli.Float64Flag{Name: "peak", Usage: "production's peak in requests per second, instead of the plan's"},
		&cli.StringSliceFlag{Name: "gate", Usage: "a further `RULE`, as in \"margin >= 2\"; may be given several times"},
	}
}

func analyzeOptions(c *cli.Context) (analyze.Options, error) {
	o := analyze.Options{Gates: c.StringSlice("gate")}
	if c.IsSet("peak") {
		if o.PeakRPS = c.Float64("peak"); o.PeakRPS <= 0 {
			return o, usagef("--peak %g: it is a rate above 0, in requests per second", o.PeakRPS)
		}
	}
	for _, rule := range o.Gates {
		if _, err := record.ParseGate(rule); err != nil {
			return o, &exitError{exitUsage, fmt.Errorf("--gate: %w", err)}
		}
	}
	return o, nil
}

func analyzeCommand(std IO) *cli.Command {
	return &cli.Command{
		Name: "analyze", Usage: "say what the evidence of runs means; the exit code is the verdict", ArgsUsage: "RUN... | --table FILE.csv | --series FILE.csv",
		Flags: commonFlags(append(append(gateFlags(), seriesFlags()...), gateFormatFlag(),
			&cli.StringFlag{Name: "table", Usage: "a step table made elsewhere, instead of runs: `FILE` with the columns offered_rps, sent_rps, goodput_rps and, where known, duration_s, p50_ms and p99_ms; - for stdin"})...),
		Action: func(c *cli.Context) error {
			format, err := checkGateFormat(c)
			if err != nil {
				return err
			}
			opt, err := analyzeOptions(c)
			if err != nil {
				return err
			}
			if opt.KneeRPS = c.Float64("knee"); c.IsSet("knee") && !(opt.KneeRPS > 0) {
				return usagef("--knee %g: it is a rate above 0, in requests per second", opt.KneeRPS)
			}
			lang, err := report.ParseLang(c.String("lang"))
			if err != nil {
				return &exitError{exitUsage, err}
			}
			if c.String("series") != "" {
				return analyzeSeries(c, std, format)
			}
			if table := c.String("table"); table != "" {
				if err := noArguments(c); err != nil {
					return err
				}
				a, err := analyzeTable(table, std, opt)
				if err != nil {
					return err
				}
				if err := tellAnalysis(std, a, format, lang, table); err != nil {
					return err
				}
				return verdictExit(a.Verdict)
			}
			if c.NArg() == 0 {
				return usagef("analyze wants at least one evidence file; `headroom ls DIR` lists them")
			}
			worst := analyze.Pass
			for i, path := range c.Args().Slice() {
				a, _, err := analyzeFile(path, opt)
				if err != nil {
					return err
				}
				if i > 0 {
					fmt.Fprintln(std.Out)
				}
				if err := tellAnalysis(std, a, format, lang, path); err != nil {
					return err
				}
				worst = worseOf(worst, a.Verdict)
			}
			return verdictExit(worst)
		},
	}
}

// analyzeFile opens and analyses one run. The evidence is closed again.
func analyzeFile(path string, opt analyze.Options) (*analyze.Analysis, string, error) {
	ev, err := openEvidence(path)
	if err != nil {
		return nil, "", err
	}
	defer ev.Close()
	a, err := analyze.Run(ev, opt)
	if err != nil {
		return nil, "", refused(path, err)
	}
	return a, path, nil
}

// analyzeTable analyses a step table made elsewhere; - is stdin.
func analyzeTable(path string, std IO, opt analyze.Options) (*analyze.Analysis, error) {
	in := std.In
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, refused(path, err)
		}
		defer f.Close()
		in = f
	}
	r := csv.NewReader(in)
	r.FieldsPerRecord = -1 // the analysis says which row is short
	records, err := r.ReadAll()
	if err != nil {
		return nil, usagef("%s: %w", path, err)
	}
	a, err := analyze.Table(records, opt)
	if err != nil {
		return nil, usagef("%s: %w", path, err)
	}
	return a, nil
}

func openEvidence(path string) (*store.Run, error) {
	r, err := store.Open(path)
	if err != nil {
		return nil, refused(path, err)
	}
	return r, nil
}

// refused maps what the store says of a file to the exit code for evidence that
// can't be used.
func refused(path string, err error) error {
	switch {
	case errors.Is(err, store.ErrDamaged), errors.Is(err, store.ErrForeign), errors.Is(err, store.ErrTooNew):
		return &exitError{exitRefused, err}
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s: there is no such file; `headroom ls DIR` lists the runs in a folder", path)
	}
	return err
}

func worseOf(a, b analyze.Verdict) analyze.Verdict {
	rank := map[analyze.Verdict]int{analyze.Pass: 0, analyze.Inconclusive: 1, analyze.Fail: 2}
	if rank[b] > rank[a] {
		return b
	}
	return a
}

func verdictExit(v analyze.Verdict) error {
	switch v {
	case analyze.Pass:
		return nil
	case analyze.Fail:
		return exit(exitGate)
	}
	return exit(exitInconclusive)
}

func printAnalysis(std IO, a *analyze.Analysis, format, path string) error {
	return tellAnalysis(std, a, format, report.English, path)
}

// tellAnalysis prints an analysis; the language is that of Markdown and of a
// job's summary.
func tellAnalysis(std IO, a *analyze.Analysis, format string, lang report.Lang, path string) error {
	var out []byte
	var err error
	switch format {
	case "json":
		out, err = report.JSON(a)
	case "csv":
		out, err = report.StepsCSV(a)
	case "markdown":
		out = report.Markdown(a, lang)
	case "junit":
		out, err = report.JUnit(a)
	case "github":
		return tellGitHub(std, a, lang)
	default:
		out = []byte(report.Text(a, report.TextOptions{Width: terminalWidth(std.Out), Color: wantColor(std), Files: []string{path}}))
	}
	if err != nil {
		return err
	}
	_, err = std.Out.Write(out)
	return err
}

func reportCommand(std IO) *cli.Command {
	return &cli.Command{
		Name: "report", Usage: "write what a run means as JSON, CSV, pictures, Markdown and one HTML page", ArgsUsage: "RUN -o DIR",
		Flags: commonFlags(append(gateFlags(),
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "`DIR` for the report", Required: true},
			&cli.StringFlag{Name: "lang", Value: "en", Usage: "en or pt-BR"})...),
		Action: func(c *cli.Context) error {
			path, err := oneArgument(c, "the evidence file")
			if err != nil {
				return err
			}
			opt, err := analyzeOptions(c)
			if err != nil {
				return err
			}
			lang, err := report.ParseLang(c.String("lang"))
			if err != nil {
				return &exitError{exitUsage, err}
			}
			files, a, err := writeReport(path, c.String("out"), lang, opt)
			if err != nil {
				return err
			}
			for _, f := range files {
				fmt.Fprintln(std.Out, f)
			}
			if !c.Bool("quiet") {
				fmt.Fprintln(std.Err, a.Sentence.EN)
			}
			return nil
		},
	}
}

func writeReport(path, dir string, lang report.Lang, opt analyze.Options) ([]string, *analyze.Analysis, error) {
	ev, err := openEvidence(path)
	if err != nil {
		return nil, nil, err
	}
	defer ev.Close()
	a, err := analyze.Run(ev, opt)
	if err != nil {
		return nil, nil, refused(path, err)
	}
	files, err := report.Write(dir, a, ev, report.Options{Lang: lang})
	return files, a, err
}
