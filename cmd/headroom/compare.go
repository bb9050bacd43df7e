package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"headroom/analyze"
	"headroom/report"
)

func compareCommand(std IO) *cli.Command {
	return &cli.Command{
		Name: "compare", Usage: "say whether two releases are different, by how much and with what confidence", ArgsUsage: "BASE... -- NEW...",
		Description: "Each run is one observation: give at least three a side, five to find a slowdown of 10 %. The exit code is 3 where a metric that a gate of the plan is about got worse, 4 where the runs can't be compared.",
		Flags: commonFlags(formatFlag(), langFlag(),
			&cli.StringSliceFlag{Name: "metric", Usage: "compare this `METRIC` only; may be given several times"},
			&cli.BoolFlag{Name: "force", Usage: "compare runs of unlike plans all the same; the result says so"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "also write compare.html, .md, .json, .csv and the pictures into `DIR`"},
		),
		Action: func(c *cli.Context) error {
			format, err := checkFormat(c)
			if err != nil {
				return err
			}
			lang, err := report.ParseLang(c.String("lang"))
			if err != nil {
				return &exitError{exitUsage, err}
			}
			all := c.Args().Slice()
			at := slices.Index(all, separator)
			if at <= 0 || at == len(all)-1 {
				return usagef("compare wants runs on both sides of --, as in: headroom compare old1.db old2.db old3.db -- new1.db new2.db new3.db")
			}
			base, err := analyzeAll(all[:at])
			if err != nil {
				return err
			}
			new, err := analyzeAll(all[at+1:])
			if err != nil {
				return err
			}
			result, err := analyze.Compare(base, new, analyze.CompareOptions{Force: c.Bool("force"), Metrics: c.StringSlice("metric")})
			if err != nil {
				return &exitError{exitUsage, err}
			}
			if dir := c.String("out"); dir != "" {
				if err := writeComparison(std, dir, lang, result, base, new); err != nil {
					return err
				}
			}
			if err := printComparison(std, result, format, lang); err != nil {
				return err
			}
			switch result.Worst() {
			case analyze.Worse:
				return exit(exitGate)
			case analyze.Unknown:
				return exit(exitInconclusive)
			}
			return nil
		},
	}
}

// analyzeAll analyses runs, in order; the first that can't be read ends it.
func analyzeAll(paths []string) ([]*analyze.Analysis, error) {
	out := make([]*analyze.Analysis, len(paths))
	errs := make([]error, len(paths))
	inParallel(len(paths), func(i int) { out[i], _, errs[i] = analyzeFile(paths[i], analyze.Options{Brief: true}) })
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func printComparison(std IO, c *analyze.Comparison, format string, lang report.Lang) error {
	var out []byte
	var err error
	switch format {
	case "json":
		out, err = report.CompareJSON(c)
	case "csv":
		out, err = report.CompareCSV(c)
	case "markdown":
		out = report.CompareMarkdown(c, lang)
	default:
		out = []byte(report.CompareText(c))
	}
	if err != nil {
		return err
	}
	_, err = std.Out.Write(out)
	return err
}

func writeComparison(std IO, dir string, lang report.Lang, c *analyze.Comparison, base, new []*analyze.Analysis) error {
	html, err := report.CompareHTML(c, base, new, lang)
	if err != nil {
		return err
	}
	json, err := report.CompareJSON(c)
	if err != nil {
		return err
	}
	csv, err := report.CompareCSV(c)
	if err != nil {
		return err
	}
	files := []report.File{{Name: "compare.html", Data: html}, {Name: "compare.md", Data: report.CompareMarkdown(c, lang)}, {Name: "compare.json", Data: json}, {Name: "compare.csv", Data: csv}}
	pictures, err := pictureFiles(report.ComparePictures(c, base, new, lang))
	if err != nil {
		return err
	}
	return writeFiles(std, dir, append(files, pictures...))
}

// pictureFiles renders pictures as SVG and PNG.
func pictureFiles(pictures []report.Picture) ([]report.File, error) {
	var out []report.File
	for _, p := range pictures {
		svg, err := p.Figure.SVG()
		if err != nil {
			return nil, err
		}
		png, err := p.Figure.PNG()
		if err != nil {
			return nil, err
		}
		out = append(out, report.File{Name: p.Name + ".svg", Data: svg}, report.File{Name: p.Name + ".png", Data: png})
	}
	return out, nil
}

// writeFiles writes files into a folder, each completely or not at all, and
// names them on stderr: stdout holds the result.
func writeFiles(std IO, dir string, files []report.File) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if err := writeBytes(path, f.Data); err != nil {
			return err
		}
		fmt.Fprintln(std.Err, path)
	}
	return nil
}
