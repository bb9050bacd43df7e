package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"headroom/prep/request"
	"headroom/runner/plan"
)

// maxCommandLine bounds what is read of a file with curl commands, in bytes.
const maxCommandLine = 16 << 20

func prepRequestCommands(std IO) []*cli.Command {
	out := &cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "-", Usage: "the plan's `FILE`, which must not exist; - for stdout"}
	const leftOut = "Cookies, credentials, keys, passwords and tokens are left out: the plan takes them from the\n" +
		"environment as ${NAME}, and stderr says which. The plan is a start; its comments say what to put right."
	return []*cli.Command{
		{
			Name: "curl", Usage: "a plan from curl commands, as a shell or a browser's Copy as cURL (bash) writes them", ArgsUsage: "FILE | - | -- curl …",
			Description: "FILE has the commands, - is stdin; behind -- stands one command, taken apart by your shell.\n" + leftOut,
			Flags:       commonFlags(out),
			Action:      func(c *cli.Context) error { return prepRequests(c, std, curlDraft) },
		},
		{
			Name: "har", Usage: "a plan from a recording of a browser, HTTP Archive", ArgsUsage: "FILE",
			Description: "Weights are how often each kind of request was recorded.\n" + leftOut,
			Flags: commonFlags(out,
				&cli.StringFlag{Name: "host", Usage: "the `HOST` under test, with its port where it is not the usual one; otherwise that of the most requests"}),
			Action: func(c *cli.Context) error { return prepRequests(c, std, harDraft) },
		},
		{
			Name: "openapi", Usage: "a plan from an OpenAPI 3 document, JSON or YAML", ArgsUsage: "FILE",
			Description: "Operations that change something get weight 0 where there are others.\n" + leftOut,
			Flags:       commonFlags(out),
			Action:      func(c *cli.Context) error { return prepRequests(c, std, openAPIDraft) },
		},
	}
}

func prepRequests(c *cli.Context, std IO, draft func(*cli.Context, IO) (*request.Draft, error)) error {
	if c.NArg() == 0 {
		return usagef("prep %s wants a file, or - for stdin", c.Command.Name)
	}
	d, err := draft(c, std)
	if err != nil {
		return err
	}
	text := d.Plan()
	if _, err := plan.Parse("the plan made of it", text, func(string) (string, bool) { return "x", true }); err != nil {
		return fmt.Errorf("these requests make no plan that can be read: %w", err)
	}
	out := c.String("out")
	if out == "-" {
		_, err = std.Out.Write(text)
	} else {
		err = writeNew(out, text)
	}
	if err != nil {
		return err
	}
	if !c.Bool("quiet") {
		tellDraft(std.Err, d)
	}
	if out != "-" {
		_, err = fmt.Fprintln(std.Out, out)
	}
	return err
}

// tellDraft says what became of the requests.
func tellDraft(w io.Writer, d *request.Draft) {
	if n := d.Classes(); n == 1 {
		fmt.Fprintln(w, "1 class")
	} else {
		fmt.Fprintf(w, "%d classes\n", n)
	}
	for _, v := range d.Variables() {
		fmt.Fprintf(w, "left out: %s; set %s before check and run\n", strings.Join(v.Where, ", "), v.Name)
	}
	for _, n := range d.Notes() {
		fmt.Fprintln(w, n)
	}
}

func curlDraft(c *cli.Context, std IO) (*request.Draft, error) {
	args := c.Args().Slice()
	if len(args) > 1 {
		return request.CurlWords(args)
	}
	if strings.HasPrefix(strings.TrimSpace(args[0]), "curl ") {
		return request.Curl(args[0])
	}
	r, err := openArgument(args[0], std)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	command, err := io.ReadAll(io.LimitReader(r, maxCommandLine+1))
	if err != nil {
		return nil, err
	}
	return draftOf(args[0])(request.Curl(string(command)))
}

func harDraft(c *cli.Context, std IO) (*request.Draft, error) {
	name, err := oneArgument(c, "the HAR file")
	if err != nil {
		return nil, err
	}
	r, err := openArgument(name, std)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return draftOf(name)(request.HAR(r, c.String("host")))
}

func openAPIDraft(c *cli.Context, std IO) (*request.Draft, error) {
	name, err := oneArgument(c, "the OpenAPI document")
	if err != nil {
		return nil, err
	}
	r, err := openArgument(name, std)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return draftOf(name)(request.OpenAPI(r))
}

// draftOf puts the file's name before an error.
func draftOf(file string) func(*request.Draft, error) (*request.Draft, error) {
	return func(d *request.Draft, err error) (*request.Draft, error) {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		return d, nil
	}
}

// openArgument opens a file, or stdin for -.
func openArgument(name string, std IO) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(std.In), nil
	}
	return os.Open(name)
}

// writeNew writes a file that must not exist yet.
func writeNew(file string, data []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s exists already and is left as it is; give another name", file)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(file)
	}
	return err
}
