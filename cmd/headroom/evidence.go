package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"headroom/store"
)

func lsCommand(std IO) *cli.Command {
	return &cli.Command{
		Name: "ls", Usage: "list the runs in a folder", ArgsUsage: "DIR",
		Flags: commonFlags(formatFlag()),
		Action: func(c *cli.Context) error {
			dir, err := oneArgument(c, "the folder")
			if err != nil {
				return err
			}
			format, err := checkFormat(c)
			if err != nil {
				return err
			}
			entries, err := store.List(dir)
			if err != nil {
				return noFolder(dir, err)
			}
			return printEntries(std.Out, format, dir, entries)
		},
	}
}

// noFolder says what to do where the folder of runs is missing.
func noFolder(dir string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no such folder; `headroom run PLAN -o DIR` writes runs into the folder DIR", dir)
	}
	return err
}

func printEntries(w io.Writer, format, dir string, entries []store.Entry) error {
	head := []string{"started", "name", "release", "format", "state", "size_bytes", "file", "note"}
	rows := make([][]string, len(entries))
	for i, e := range entries {
		started := ""
		if !e.Header.Started.IsZero() {
			started = e.Header.Started.UTC().Format("2006-01-02T15:04:05Z")
		}
		rows[i] = []string{started, e.Header.Name, e.Header.Release, e.Header.Format, string(e.State), fmt.Sprint(e.Bytes), filepath.Base(e.Path), entryNote(e)}
	}
	switch format {
	case "json":
		all := make([]map[string]any, len(entries))
		for i, r := range rows {
			all[i] = map[string]any{"run_id": entries[i].Header.RunID, "size_bytes": entries[i].Bytes}
			for k, name := range head {
				if name != "size_bytes" {
					all[i][name] = r[k]
				}
			}
		}
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(all)
	case "csv":
		out := csv.NewWriter(w)
		if err := out.Write(head); err != nil {
			return err
		}
		if err := out.WriteAll(rows); err != nil {
			return err
		}
		return out.Error()
	case "markdown":
		printMarkdownTable(w, head, rows)
		return nil
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintf(w, "no runs in %s\n", dir)
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "STARTED\tNAME\tRELEASE\tFORMAT\tSTATE\tSIZE\tFILE\tNOTE")
	for i, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r[0], r[1], r[2], r[3], r[4], sizeText(entries[i].Bytes), r[6], r[7])
	}
	return t.Flush()
}

// printMarkdownTable prints a table; cells can't break out of it.
func printMarkdownTable(w io.Writer, head []string, rows [][]string) {
	line := func(cells []string) {
		for _, c := range cells {
			fmt.Fprintf(w, "| %s ", strings.NewReplacer("|", "\\|", "\n", " ").Replace(c))
		}
		fmt.Fprintln(w, "|")
	}
	line(head)
	fmt.Fprintln(w, strings.Repeat("|---", len(head))+"|")
	for _, r := range rows {
		line(r)
	}
}

// entryNote is why an entry can't be read, or how its run ended.
func entryNote(e store.Entry) string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return e.End.Reason
}

func sizeText(n int64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d B", n)
}

func exportCommand(std IO) *cli.Command {
	return &cli.Command{
		Name: "export", Usage: "write a run's evidence in another format", ArgsUsage: "RUN --as hlog|csv|json",
		Flags: commonFlags(
			&cli.StringFlag{Name: "as", Usage: "hlog (HdrHistogram interval log), csv (a row per interval and class) or json", Required: true},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write to `FILE` instead of stdout"},
		),
		Action: func(c *cli.Context) error {
			path, err := oneArgument(c, "the evidence file")
			if err != nil {
				return err
			}
			as := c.String("as")
			if as != "hlog" && as != "csv" && as != "json" {
				return usagef("--as %s: it is one of hlog, csv and json", as)
			}
			ev, err := openEvidence(path)
			if err != nil {
				return err
			}
			defer ev.Close()
			if o := c.String("out"); o == "" || o == "-" {
				return store.Export(ev, as, std.Out)
			}
			return writeWhole(c.String("out"), func(w io.Writer) error { return store.Export(ev, as, w) })
		},
	}
}

func mergeCommand(std IO) *cli.Command {
	return &cli.Command{
		Name: "merge", Usage: "merge the shards of one plan into one run; the last line on stdout is its file", ArgsUsage: "SHARD... -o FILE",
		Flags: commonFlags(&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "the merged `FILE`", Required: true}),
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return usagef("merge wants the evidence files of the shards")
			}
			if err := store.Merge(c.Args().Slice(), c.String("out")); err != nil {
				return refused("", err)
			}
			_, err := fmt.Fprintln(std.Out, c.String("out"))
			return err
		},
	}
}
