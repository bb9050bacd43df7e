package main

import (
	"errors"
	"fmt"
	"io"

	"headroom/prep/profile"
	"headroom/prep/realism"
	"headroom/runner"
	"headroom/runner/plan"
)

// realismOf sets a plan beside the profile that it names, or beside that of a
// file.
func realismOf(p *plan.Plan, file string, cache int) ([]realism.Row, error) {
	if cache < 1 {
		return nil, usagef("--cache %d: a cache has at least one entry", cache)
	}
	facts, err := runner.FactsOf(p)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	facts.Cache = cache
	production := p.Profile()
	if file != "" {
		if production, err = profile.Load(file); err != nil {
			return nil, &exitError{exitUsage, err}
		}
	}
	return realism.Table(facts, production), nil
}

// strict turns the gravest verdict into an exit code.
func strict(rows []realism.Row) error {
	switch realism.Worst(rows) {
	case realism.Caution:
		return &exitError{exitGate, errors.New("the plan is not like production, see the table; without --strict this is no failure")}
	case realism.Unknown:
		return &exitError{exitInconclusive, errors.New("whether the plan is like production is not known, see the table; without --strict this is no failure")}
	}
	return nil
}

var realismHead = []string{"reason", "verdict", "plan", "production", "change"}

func (r *checked) realismTable() [][]string {
	var rows [][]string
	for _, q := range r.Realism {
		rows = append(rows, []string{q.Reason, string(q.Verdict), q.Plan, q.Production, q.Change})
	}
	return rows
}

func (r *checked) printRealism(w io.Writer) {
	fmt.Fprintln(w, "\nsix reasons why a test passes and production falls over:")
	for i, q := range r.Realism {
		fmt.Fprintf(w, "%d. %s: %s\n   plan        %s\n   production  %s\n", i+1, q.Reason, q.Verdict, q.Plan, q.Production)
		if q.Change != "" {
			fmt.Fprintf(w, "   change      %s\n", q.Change)
		}
	}
}
