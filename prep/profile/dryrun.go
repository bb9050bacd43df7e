package profile

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// DryRun prints what the profile would keep, every word of it that comes from
// the logs included, so that somebody can say no before anything is written.
func (p *Profile) DryRun(w io.Writer) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "lines: %d read, %d requests, %d directives, %d blank\n", p.Lines.Read, p.Lines.Parsed, p.Lines.Directives, p.Lines.Blank)
	for _, reason := range sorted(p.Lines.Rejected) {
		fmt.Fprintf(b, "  not read: %d %s, the first in lines %s\n", p.Lines.Rejected[reason], reason, strings.Trim(fmt.Sprint(p.Lines.FirstRejected[reason]), "[]"))
	}
	for _, f := range sorted(p.Lines.Formats) {
		fmt.Fprintf(b, "  format %s: %d\n", f, p.Lines.Formats[f])
	}
	fmt.Fprintf(b, "\ntime: %s to %s\n", p.Window.From, p.Window.To)
	if s := p.Peak.Second; s != nil {
		fmt.Fprintf(b, "busiest second: %g/s at %s; if random within its minute: %g/s\n", s.RPS, s.At, s.PoissonRPS)
	}
	if m := p.Peak.Minute; m != nil {
		fmt.Fprintf(b, "busiest minute: %g/s at %s\n", m.RPS, m.At)
	}
	for _, d := range p.Burstiness {
		fmt.Fprintf(b, "dispersion at %s: %.3g (1 is random)\n", d.Window, d.Index)
	}
	fmt.Fprintf(b, "clients: %d, as a number; no address is kept\n", p.Clients.Distinct)
	fmt.Fprintf(b, "\nwords that are kept, each in at least %d requests:\n", Fold)
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "requests\tmethod\troute\tquery parameters")
	for _, r := range p.Routes {
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\n", r.Requests, r.Method, r.Template, strings.Join(r.Params, " "))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(b, "\nidentifiers, as counts; the values themselves are not kept:")
	fmt.Fprintln(t, "requests\tdifferent\tseen once\tmost popular 1 %\troute\tat")
	for _, id := range p.Identifiers {
		fmt.Fprintf(t, "%d\t%d\t%d\t%.3g %%\t%s\t%s\n", id.Requests, id.Distinct, id.Single, 100*id.TopShare["1%"], id.Route, id.At)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, list := range []struct {
		title string
		all   []Refusal
	}{{"not told", p.Refused}, {"keep in mind", p.Notes}} {
		if len(list.all) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n%s:\n", list.title)
		for _, r := range list.all {
			where := ""
			if r.Route != "" {
				where = " " + r.Route + " (" + r.At + ")"
			}
			fmt.Fprintf(b, "  %s%s: %s\n", r.Code, where, r.Text)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func sorted(m map[string]uint64) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
