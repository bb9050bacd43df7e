package main

import (
	"context"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"headroom/runner"
	"headroom/runner/plan"
	"headroom/runner/send"
	"headroom/store/record"
)

func initCommand(std IO) *cli.Command {
	return &cli.Command{
		Name: "init", Usage: "write a commented plan to start from; never overwrites", ArgsUsage: "[FILE]",
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return usagef("init takes at most one argument, the file to write")
			}
			file := c.Args().First()
			if file == "" {
				file = "headroom.yaml"
			}
			if file == "-" {
				_, err := std.Out.Write(plan.Init())
				return err
			}
			if err := writeNew(file, plan.Init()); err != nil {
				return err
			}
			_, err := fmt.Fprintln(std.Out, file)
			return err
		},
	}
}

func checkCommand(std IO) *cli.Command {
	return &cli.Command{
		Name: "check", Usage: "validate a plan, print its schedule, send one request per class, and set the plan beside production", ArgsUsage: "PLAN",
		Flags: commonFlags(
			&cli.BoolFlag{Name: "offline", Usage: "send nothing"},
			&cli.StringFlag{Name: "profile", Usage: "production's profile, a `FILE` of prep profile, where the plan names none or another one"},
			&cli.IntFlag{Name: "cache", Value: 5000, Usage: "`ENTRIES` of the cache whose hit ratio is worked out for plan and production"},
			&cli.BoolFlag{Name: "strict", Usage: "exit 3 where the plan is not like production, 4 where that is not known"},
			formatFlag(),
		),
		Action: func(c *cli.Context) error {
			file, err := oneArgument(c, "the plan")
			if err != nil {
				return err
			}
			format, err := checkFormat(c)
			if err != nil {
				return err
			}
			p, err := loadPlan(file, std)
			if err != nil {
				return err
			}
			s, err := runner.ScheduleOf(p)
			if err != nil {
				return &exitError{exitUsage, err}
			}
			result := checked{Plan: file, Name: p.Name, schedule: s}
			if result.Realism, err = realismOf(p, c.String("profile"), c.Int("cache")); err != nil {
				return err
			}
			if !c.Bool("offline") {
				if result.Requests, err = dryRun(c.Context, p, std); err != nil {
					return err
				}
			}
			if err := result.print(std.Out, format); err != nil {
				return err
			}
			for _, r := range result.Requests {
				if r.Outcome != record.OK.String() {
					return fmt.Errorf("class %s: %s; put the request or its expectation right, or check with --offline", r.Class, r.Outcome)
				}
			}
			if c.Bool("strict") {
				return strict(result.Realism)
			}
			return nil
		},
	}
}

// dryRun sends one request of each class, or one walk through each flow, one
// after the other.
func dryRun(ctx context.Context, p *plan.Plan, std IO) ([]requestRow, error) {
	stops := watchStops(ctx)
	defer stops.release()
	t, err := startTarget(stops, p)
	if err != nil {
		return nil, err
	}
	defer t.stop()
	engine, err := newEngine(t.config(p))
	if err != nil {
		return nil, err
	}
	defer engine.Close()
	h := header(p, time.Now())
	traffic, err := runner.NewTraffic(p, h)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	var rows []requestRow
	for _, one := range runner.OneOfEach(stops.soft, h, traffic, engine) {
		row := requestRow{Class: h.Classes[one.Class].Name, Status: one.Result.Status, Outcome: one.Outcome.String(), Bytes: one.Result.BytesIn}
		if one.Err != record.ErrNone {
			row.Error = one.Err.String()
		}
		row.ConnectMS = millis(one.Result, one.Result.Sent-one.Due)
		row.FirstMS = millis(one.Result, one.Result.FirstByte-one.Result.Sent)
		row.TotalMS = millis(one.Result, one.Result.Done-one.Due)
		rows = append(rows, row)
	}
	if code := stops.code(); code != 0 {
		return nil, exit(code)
	}
	return rows, nil
}

func millis(r send.Result, ns int64) float64 {
	if r.Unsent || ns < 0 {
		return 0
	}
	return float64(ns) / 1e6
}
