package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"headroom/analyze"
	"headroom/runner/plan"
)

// loadPlan reads a plan with all that it names.
func loadPlan(file string, std IO) (*plan.Plan, error) {
	p, err := plan.Load(file, std.Env)
	var problems plan.Errors
	switch {
	case errors.As(err, &problems):
		return nil, &exitError{exitUsage, err}
	case errors.Is(err, fs.ErrNotExist):
		return nil, usagef("%s: there is no such plan; `headroom init %[1]s` writes one to start from", file)
	case err != nil:
		return nil, &exitError{exitUsage, err}
	}
	if err := soakRate(p, filepath.Dir(file)); err != nil {
		return nil, err
	}
	return p, nil
}

// quickPlan makes the plan of a quick look at one URL, and its text.
func quickPlan(url string, rate float64, length time.Duration, std IO) (*plan.Plan, []byte, error) {
	if rate <= 0 || length <= 0 {
		return nil, nil, usagef("run --url wants --rate, in requests per second, and --length, as in 30s, both above 0")
	}
	q := plan.Quick{URL: url, Load: fmt.Sprintf("{steady: {rate: %s, length: %s}}", decimal(rate), length)}
	text, err := q.Plan()
	if err != nil {
		return nil, nil, usagef("--url %s: %w", url, err)
	}
	p, err := plan.Parse("--url", text, std.Env)
	if err != nil {
		return nil, nil, &exitError{exitUsage, err}
	}
	return p, text, nil
}

// soakRate works out the rate of a soak that is a share of the knee of an
// earlier run, which is looked for beside the plan.
func soakRate(p *plan.Plan, dir string) error {
	s := p.Load.Soak
	if s == nil || s.OfKnee == 0 {
		return nil
	}
	run := s.KneeFrom
	if !filepath.IsAbs(run) {
		run = filepath.Join(dir, run)
	}
	a, _, err := analyzeFile(run, analyze.Options{})
	if err != nil {
		return fmt.Errorf("load.soak.knee_from: %w", err)
	}
	if a.Knee == nil || a.Knee.RPS == nil {
		return usagef("load.soak.knee_from: %s found no knee, so there is nothing to take %g of; give a rate, or a run with a knee", run, s.OfKnee)
	}
	s.Rate = s.OfKnee * *a.Knee.RPS
	return nil
}
