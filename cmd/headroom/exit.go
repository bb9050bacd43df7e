package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
)

// The exit codes. This table is the only one; `headroom help exit-codes` prints it.
const (
	exitDone         = 0
	exitFailed       = 1
	exitUsage        = 2
	exitGate         = 3
	exitInconclusive = 4
	exitRefused      = 5
	exitSIGINT       = 130
	exitSIGTERM      = 143
)

var exitCodes = []struct {
	code    int
	meaning string
}{
	{exitDone, "done, or every gate passed"},
	{exitFailed, "could not do the job"},
	{exitUsage, "usage or plan error"},
	{exitGate, "a gate failed"},
	{exitInconclusive, "inconclusive: the evidence is untrusted or insufficient"},
	{exitRefused, "evidence refused: damaged, not evidence, or too new"},
	{exitSIGINT, "stopped by SIGINT; the evidence so far is sealed"},
	{exitSIGTERM, "stopped by SIGTERM; the evidence so far is sealed"},
}

func printExitCodes(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range exitCodes {
		fmt.Fprintf(t, "%d\t%s\n", c.code, c.meaning)
	}
	return t.Flush()
}

// exitError is an error with a code of the table. A nil err means that
// everything there is to say has been said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

func exit(code int) error { return &exitError{code: code} }

// codeOf maps an error to the table.
func codeOf(err error) int {
	var e *exitError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &e):
		return e.code
	}
	return exitFailed
}
