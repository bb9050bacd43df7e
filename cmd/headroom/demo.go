package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"headroom/analyze"
	"headroom/report"
	"headroom/runner/plan"
)

// demoPlan is the plan of the demo: a service of 8 workers that need 8 ms on
// average, so that it can answer exactly 1000 requests per second, with room for
// 100 to wait; beyond them it refuses.
const demoPlan = `name: demo
release: built-in
seed: 4
target:
  builtin: {workers: 8, service: 8ms exponential, queue: 100}
http: {timeout: 2s}
load:
  step: {from: %s, factor: %s, to: 2500, plateau: %s, settle: %s, drain: 2s, stop_after: 2, refine: %d, beyond: [1.5]}
warmup: {length: %s, rate: 200}
interval: 250ms
requests:
  - {class: view, weight: 4, get: "/item/{item}"}
  - {class: search, weight: 1, get: "/search?q={item}"}
data:
  item: {zipf: {count: 100000, exponent: 0.9}}
production: {peak: 400, window: 90d, resolution: 1s, taken: 2026-11-20, source: made up for the demo}
gates: [margin >= 2.0, post_saturation(1.5) >= 0.70, omission <= 2]
`

const demoCapacity = 1000 // workers / mean service time, per second

func demoText(quick bool) string {
	if quick {
		return fmt.Sprintf(demoPlan, "450", "1.2", "1750ms", "250ms", 1, "1s")
	}
	return fmt.Sprintf(demoPlan, "400", "1.15", "5s", "1s", 2, "2s")
}

func demoCommand(std IO) *cli.Command {
	return &cli.Command{
		Name: "demo", Usage: "the whole story on a built-in service whose capacity is known: run, analysis, report",
		Flags: commonFlags(
			&cli.BoolFlag{Name: "quick", Usage: "in under 25 s, with a wider interval"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "headroom-demo", Usage: "`DIR` for the evidence and the report"},
			&cli.BoolFlag{Name: "print-plan", Usage: "print the plan and do nothing"},
		),
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			text := demoText(c.Bool("quick"))
			if c.Bool("print-plan") {
				_, err := fmt.Fprint(std.Out, text)
				return err
			}
			return demo(c, std, text)
		},
	}
}

func demo(c *cli.Context, std IO, text string) error {
	p, err := plan.Parse("demo.yaml", []byte(text), std.Env)
	if err != nil {
		return err
	}
	dir := c.String("out")
	if !c.Bool("quiet") {
		fmt.Fprintf(std.Err, "a service of 8 workers with 8 ms of work on average can answer %d requests per second; let us see what the run says\n", demoCapacity)
	}
	path, err := recordRun(c.Context, std, p, recordOptions{dir: dir, quiet: c.Bool("quiet"), progress: !c.Bool("no-progress")})
	if err != nil {
		return err
	}
	files, a, err := writeReport(path, filepath.Join(dir, "report"), report.English, analyze.Options{})
	if err != nil {
		return err
	}
	if err := printAnalysis(std, a, "text", path); err != nil {
		return err
	}
	fmt.Fprintf(std.Out, "\n%s\ntrue capacity: %d requests per second", a.Sentence.EN, demoCapacity)
	if k := a.Knee; k != nil && k.CI95 != nil {
		word := "inside"
		if demoCapacity < k.CI95[0] || demoCapacity > k.CI95[1] {
			word = "NOT inside"
		}
		fmt.Fprintf(std.Out, ", %s the interval %.0f to %.0f", word, k.CI95[0], k.CI95[1])
	}
	fmt.Fprintf(std.Out, "\nreport: %s\n", reportPage(files))
	return verdictExit(a.Verdict)
}

func reportPage(files []string) string {
	for _, f := range files {
		if filepath.Base(f) == "report.html" {
			if abs, err := filepath.Abs(f); err == nil {
				if _, err := os.Stat(abs); err == nil {
					return abs
				}
			}
		}
	}
	return "not written"
}
