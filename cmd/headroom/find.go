package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"headroom/analyze"
	"headroom/report"
	"headroom/runner"
	"headroom/runner/plan"
	"headroom/store/record"
)

// findTimeout is the time-out of find where none is given: long enough that a
// queue shows as a queue, rather than as failures.
const findTimeout = 10 * time.Second

func findCommand(std IO) *cli.Command {
	return &cli.Command{
		Name: "find", Usage: "find out how much a service can take, without a plan; the exit code is the verdict", ArgsUsage: "URL",
		Flags: commonFlags(
			&cli.Float64Flag{Name: "peak", Usage: "production's peak in requests per second, for the margin"},
			&cli.DurationFlag{Name: "timeout", Value: findTimeout, Usage: "no answer within this time is none"},
			&cli.DurationFlag{Name: "within", Value: 6 * time.Minute, Usage: "about how long all of it may take"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "headroom-find", Usage: "`DIR` for the evidence and the report"},
			&cli.BoolFlag{Name: "print-plan", Usage: "print the plan and do nothing"},
		),
		Action: func(c *cli.Context) error {
			url, err := oneArgument(c, "the URL")
			if err != nil {
				return err
			}
			p, text, err := findPlan(c, url, std)
			if err != nil {
				return err
			}
			if c.Bool("print-plan") {
				_, err := std.Out.Write(text)
				return err
			}
			return find(c, std, p)
		},
	}
}

// findPlan is the plan of find, which recording and people read alike.
func findPlan(c *cli.Context, url string, std IO) (*plan.Plan, []byte, error) {
	timeout, within := c.Duration("timeout"), c.Duration("within")
	if timeout <= 0 {
		return nil, nil, usagef("--timeout %s: it is a duration above 0, as in 2s", timeout)
	}
	q := plan.Quick{
		Name: "find", URL: url, Timeout: timeout, Interval: findInterval, Peak: c.Float64("peak"),
		Load: fmt.Sprintf("{step: {from: auto, within: %s}}", within),
	}
	text, err := q.Plan()
	if err != nil {
		return nil, nil, usagef("%w", err)
	}
	p, err := plan.Parse("find", text, std.Env)
	if err != nil {
		return nil, nil, &exitError{exitUsage, err}
	}
	return p, text, nil
}

// findInterval is short, since a trial of a few seconds needs several intervals.
const findInterval = 250 * time.Millisecond

func find(c *cli.Context, std IO, p *plan.Plan) error {
	if err := answersAtAll(c, std, p); err != nil {
		return err
	}
	dir := c.String("out")
	if !c.Bool("quiet") {
		fmt.Fprintf(std.Err, "looking for the rate that the service can take: this takes about %s\n", p.Load.Step.Within)
	}
	path, err := recordRun(c.Context, std, p, recordOptions{dir: dir, quiet: c.Bool("quiet"), progress: !c.Bool("no-progress")})
	if path == "" {
		return err
	}
	files, a, reportErr := writeReport(path, filepath.Join(dir, strings.TrimSuffix(filepath.Base(path), ".db")), report.English, analyze.Options{})
	if reportErr != nil {
		return errors.Join(err, reportErr)
	}
	if printErr := printAnalysis(std, a, "text", path); printErr != nil {
		return printErr
	}
	if words := timeNeeded(a, p.Load.Step.Within); words != "" {
		fmt.Fprintf(std.Out, "\n%s\n", words)
	}
	fmt.Fprintf(std.Out, "\nreport: %s\n", reportPage(files))
	if err != nil {
		return err
	}
	return verdictExit(a.Verdict)
}

// answersAtAll sends one request: six minutes are not spent on a service that
// is not there, or on an address that answers with an error.
func answersAtAll(c *cli.Context, std IO, p *plan.Plan) error {
	rows, err := dryRun(c.Context, p, std)
	if err != nil {
		return err
	}
	for _, r := range rows {
		switch {
		case r.Outcome == record.OK.String() || r.Outcome == record.Late.String() || r.Outcome == record.Shed.String():
		case r.Status != 0:
			return fmt.Errorf("one request was answered with status %d (%s); give an address that answers with 2xx, or write a plan that expects this: headroom find --print-plan", r.Status, r.Outcome)
		default:
			return fmt.Errorf("one request got no answer: %s %s; is the service running?", strings.ReplaceAll(r.Outcome, "_", " "), r.Error)
		}
	}
	return nil
}

// timeNeeded says how long find would need, where time was what was missing.
func timeNeeded(a *analyze.Analysis, within time.Duration) string {
	k := a.Knee
	if k == nil || k.Status != analyze.KneeInconclusive || k.Reason != "too_noisy" && k.Reason != "too_few_steps" {
		return ""
	}
	rate := 0.0
	for _, s := range a.Steps {
		rate = math.Max(rate, s.GoodputRPS)
	}
	need := runner.FindTime(rate)
	if need == 0 {
		return ""
	}
	if need <= within {
		need = 2 * within
	}
	need = need.Round(time.Minute)
	return fmt.Sprintf("at about %.3g requests per second too few requests fall into %s to say more; about %s would do: --within %s", rate, short(within), short(need), short(need))
}

// short writes whole minutes without their seconds.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
