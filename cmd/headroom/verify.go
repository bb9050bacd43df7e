package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"headroom/store"
)

func verifyCommand(std IO) *cli.Command {
	return &cli.Command{
		Name: "verify", Usage: "check evidence files: structure, checksums, seal, the law of accounting", ArgsUsage: "RUN...",
		Flags: commonFlags(formatFlag()),
		Action: func(c *cli.Context) error {
			format, err := checkFormat(c)
			if err != nil {
				return err
			}
			if c.NArg() == 0 {
				return usagef("verify wants at least one evidence file; `headroom ls DIR` lists them")
			}
			all := make([]verified, c.NArg())
			code := exitDone
			for i, path := range c.Args().Slice() {
				all[i] = verify(path)
				code = max(code, all[i].code)
			}
			if err := printVerified(std.Out, format, all); err != nil {
				return err
			}
			if code != exitDone {
				return exit(code)
			}
			return nil
		},
	}
}

// verified is what there is to say of one file.
type verified struct {
	File      string            `json:"file"`
	Sound     bool              `json:"sound"`
	Refused   string            `json:"refused,omitempty"` // why it could not be read at all
	State     string            `json:"state,omitempty"`
	Sealed    bool              `json:"sealed"`
	Digest    string            `json:"sha256,omitempty"`
	Intervals int               `json:"intervals"`
	Requests  uint64            `json:"requests"`
	Format    int               `json:"format"`
	Findings  []verifiedFinding `json:"findings"`
	code      int
}

type verifiedFinding struct {
	Code    string `json:"code"`
	Harmful bool   `json:"harmful"`
	Text    string `json:"text"`
}

func verify(path string) verified {
	v := verified{File: path, Findings: []verifiedFinding{}}
	r, err := store.Verify(path)
	if err != nil {
		err = refused(path, err)
		v.Refused, v.code = err.Error(), codeOf(err)
		return v
	}
	v.Sound, v.State, v.Sealed, v.Digest = r.Err() == nil, string(r.State), r.Sealed, r.Digest
	v.Intervals, v.Requests, v.Format = r.Intervals, r.Scheduled, r.Format
	for _, f := range r.Findings {
		v.Findings = append(v.Findings, verifiedFinding{f.Code, f.Harmful, f.Text})
	}
	if !v.Sound {
		v.code = exitRefused
	}
	return v
}

func (v *verified) word() string {
	switch {
	case v.Refused != "":
		return "refused"
	case v.Sound:
		return "sound"
	}
	return "NOT sound"
}

func (v *verified) note() string {
	if v.Refused != "" {
		return v.Refused
	}
	all := make([]string, len(v.Findings))
	for i, f := range v.Findings {
		all[i] = f.Code + ": " + f.Text
	}
	return strings.Join(all, "; ")
}

func printVerified(w io.Writer, format string, all []verified) error {
	if format == "json" {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(all)
	}
	head := []string{"file", "verdict", "state", "sealed", "intervals", "requests", "format", "sha256", "note"}
	rows := make([][]string, len(all))
	for i := range all {
		v := &all[i]
		rows[i] = []string{
			v.File, v.word(), v.State, strconv.FormatBool(v.Sealed), strconv.Itoa(v.Intervals),
			strconv.FormatUint(v.Requests, 10), strconv.Itoa(v.Format), v.Digest, v.note(),
		}
	}
	switch format {
	case "csv":
		return csv.NewWriter(w).WriteAll(append([][]string{head}, rows...))
	case "markdown":
		printMarkdownTable(w, head, rows)
		return nil
	}
	for i := range all {
		printVerifiedText(w, &all[i])
	}
	return nil
}

func printVerifiedText(w io.Writer, v *verified) {
	if v.Refused != "" {
		fmt.Fprintf(w, "%s: refused: %s\n", v.File, v.Refused)
		return
	}
	sealed := "sealed, SHA-256 " + v.Digest
	if !v.Sealed {
		sealed = "not sealed"
	}
	fmt.Fprintf(w, "%s: %s, %s, %s, %d intervals, %d requests, format %d\n", v.File, v.word(), v.State, sealed, v.Intervals, v.Requests, v.Format)
	for _, f := range v.Findings {
		kind := "harmless"
		if f.Harmful {
			kind = "harmful"
		}
		fmt.Fprintf(w, "  %s: %s (%s)\n", f.Code, f.Text, kind)
	}
}
