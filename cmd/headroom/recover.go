package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"headroom/runner/live"
	"headroom/store"
)

func recoverCommand(std IO) *cli.Command {
	return &cli.Command{
		Name: "recover", Usage: "find what a killed run left behind and finish it: unsealed evidence is sealed as interrupted", ArgsUsage: "[DIR...]",
		Description: "Prints the file of each run that was sealed. Without a folder it looks into runs.",
		Flags:       commonFlags(),
		Action: func(c *cli.Context) error {
			dirs := c.Args().Slice()
			if len(dirs) == 0 {
				dirs = []string{"runs"}
			}
			say := func(format string, args ...any) {
				if !c.Bool("quiet") {
					fmt.Fprintf(std.Err, format+"\n", args...)
				}
			}
			var wrong []error
			for _, dir := range dirs {
				orphans, err := store.Orphans(dir)
				if errors.Is(err, fs.ErrNotExist) && c.NArg() == 0 {
					orphans, err = nil, nil
				}
				if err != nil {
					return noFolder(dir, err)
				}
				if len(orphans) == 0 {
					say("nothing was left behind in %s", dir)
				}
				for _, path := range orphans {
					if err := recoverFile(std, path, say); err != nil {
						wrong = append(wrong, err)
					}
				}
			}
			return worstOf(wrong)
		},
	}
}

// recoverFile seals what is evidence and removes what never became any.
func recoverFile(std IO, path string, say func(string, ...any)) error {
	if filepath.Ext(path) != ".part" {
		if err := os.Remove(path); err != nil {
			return err
		}
		say("%s: removed; it never became evidence", path)
		return nil
	}
	sealed, err := store.SealInterrupted(path)
	if err != nil {
		return refused(path, err)
	}
	// The recorder that announced the run is gone as well.
	if err := os.Remove(strings.TrimSuffix(path, ".part") + live.Suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_, err = fmt.Fprintln(std.Out, sealed)
	return err
}

// worstOf joins errors under the highest of their exit codes.
func worstOf(all []error) error {
	if len(all) == 0 {
		return nil
	}
	code := 0
	for _, err := range all {
		code = max(code, codeOf(err))
	}
	return &exitError{code, errors.Join(all...)}
}
