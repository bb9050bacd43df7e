package web

import (
	"cmp"
	"html/template"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// filter is what the history is asked for.
type filter struct {
	Name, Release, Format, Verdict, State string
	From, To                              string // dates, yyyy-mm-dd
	Sort, Order                           string
	Page                                  int
}

const perPage = 50

// sorts are the columns that the history can be sorted by.
var sorts = []string{"started", "name", "release", "format", "state", "verdict", "knee", "margin", "size"}

func parseFilter(q url.Values) (filter, error) {
	f := filter{
		Name: q.Get("name"), Release: q.Get("release"), Format: q.Get("format"), Verdict: q.Get("verdict"), State: q.Get("state"),
		From: q.Get("from"), To: q.Get("to"), Sort: q.Get("sort"), Order: q.Get("order"), Page: 1,
	}
	for _, s := range []string{f.Name, f.Release, f.Format, f.Verdict, f.State} {
		if len(s) > 200 {
			return f, badRequest("a filter of %d bytes, not at most 200", len(s))
		}
	}
	for _, d := range []string{f.From, f.To} {
		if _, err := time.Parse(time.DateOnly, d); d != "" && err != nil {
			return f, badRequest("%q is not a date as in 2026-11-20", clip(d, 40))
		}
	}
	if f.Sort == "" {
		f.Sort = "started"
	}
	if !slices.Contains(sorts, f.Sort) {
		return f, badRequest("sort %q: it is one of %s", clip(f.Sort, 40), strings.Join(sorts, ", "))
	}
	if f.Order == "" {
		f.Order = "desc"
		if f.Sort == "name" || f.Sort == "release" {
			f.Order = "asc"
		}
	}
	if f.Order != "asc" && f.Order != "desc" {
		return f, badRequest("order %q: it is asc or desc", clip(f.Order, 40))
	}
	if p := q.Get("page"); p != "" {
		n, err := strconv.Atoi(p)
		if err != nil || n < 1 || n > 1_000_000 {
			return f, badRequest("page %q is not a number from 1", clip(p, 40))
		}
		f.Page = n
	}
	return f, nil
}

// query is the filter as names and values, without what is usual.
func (f filter) query() []string {
	q := []string{"name", f.Name, "release", f.Release, "format", f.Format, "verdict", f.Verdict, "state", f.State, "from", f.From, "to", f.To}
	if f.Sort != "started" || f.Order != "desc" {
		q = append(q, "sort", f.Sort, "order", f.Order)
	}
	if f.Page > 1 {
		q = append(q, "page", strconv.Itoa(f.Page))
	}
	return q
}

// row is an entry with what is known of its analysis.
type row struct {
	Entry
	Sum *summary
}

func (r *row) state() string {
	switch {
	case r.Refused != "":
		return "refused"
	case r.Recording:
		return "recording"
	}
	return string(r.State)
}

func (r *row) verdict() string {
	if r.Sum == nil || r.Sum.failed != "" {
		return ""
	}
	return string(r.Sum.Verdict)
}

func (f *filter) matches(r *row) bool {
	date := r.Started.UTC().Format(time.DateOnly)
	return (f.Name == "" || strings.Contains(strings.ToLower(r.Header.Name+"\x00"+r.RunID), strings.ToLower(f.Name))) &&
		(f.Release == "" || strings.Contains(strings.ToLower(r.Header.Release), strings.ToLower(f.Release))) &&
		(f.Format == "" || r.Header.Format == f.Format) &&
		(f.Verdict == "" || r.verdict() == f.Verdict) &&
		(f.State == "" || r.state() == f.State) &&
		(f.From == "" || date >= f.From) && (f.To == "" || date <= f.To)
}

// knee is what a run is sorted and drawn by; NaN where there is none.
func (r *row) knee() float64 {
	if r.Sum == nil || r.Sum.KneeRPS == nil {
		return math.NaN()
	}
	return *r.Sum.KneeRPS
}

func (r *row) margin() float64 {
	if r.Sum == nil || r.Sum.Margin == nil {
		return math.NaN()
	}
	return *r.Sum.Margin
}

// sortRows sorts rows; those without the value come last either way.
func sortRows(rows []row, by, order string) {
	sign := 1
	if order == "desc" {
		sign = -1
	}
	numbers := func(a, b float64) int {
		switch {
		case math.IsNaN(a) && math.IsNaN(b):
			return 0
		case math.IsNaN(a):
			return 1
		case math.IsNaN(b):
			return -1
		}
		return sign * cmp.Compare(a, b)
	}
	words := func(a, b string) int {
		if (a == "") != (b == "") {
			return cmp.Compare(b, a)
		}
		return sign * strings.Compare(a, b)
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		switch by {
		case "name":
			return words(a.Header.Name, b.Header.Name)
		case "release":
			return words(a.Header.Release, b.Header.Release)
		case "format":
			return words(a.Header.Format, b.Header.Format)
		case "state":
			return words(a.state(), b.state())
		case "verdict":
			return words(a.verdict(), b.verdict())
		case "knee":
			return numbers(a.knee(), b.knee())
		case "margin":
			return numbers(a.margin(), b.margin())
		case "size":
			return sign * cmp.Compare(a.Bytes, b.Bytes)
		}
		return sign * a.Started.Compare(b.Started)
	})
}

// rows lists all runs with what is known of them; pending counts those that
// were not summarised yet.
func (s *Server) rows(r *http.Request) (rows []row, pending int, err error) {
	all, err := s.entries(r.Context())
	if err != nil {
		return nil, 0, err
	}
	rows = make([]row, len(all))
	for i := range all {
		rows[i].Entry = all[i]
		if all[i].Readable() {
			if rows[i].Sum = s.digest(&all[i]); rows[i].Sum == nil {
				pending++
			}
		}
	}
	if pending > 0 {
		s.wake()
	}
	return rows, pending, nil
}

// planCard is one plan at the top of the history.
type planCard struct {
	Name, Knee, When string
	Runs             int
	Last             *row
	Spark            template.HTML
}

const (
	maxCards  = 8
	sparkRuns = 30
)

// cards are the plans whose runs are the latest.
func (p *pageOf) cards(rows []row) []planCard {
	byName := map[string][]*row{}
	for i := range rows {
		if rows[i].Readable() {
			byName[rows[i].Header.Name] = append(byName[rows[i].Header.Name], &rows[i])
		}
	}
	var cards []planCard
	for name, of := range byName {
		slices.SortStableFunc(of, func(a, b *row) int { return a.Started.Compare(b.Started) })
		c := planCard{Name: name, Runs: len(of), Last: of[len(of)-1]}
		c.When = p.Date(c.Last.Started)
		var values []float64
		for _, r := range of[max(0, len(of)-sparkRuns):] {
			values = append(values, r.knee())
			if k := r.knee(); !math.IsNaN(k) {
				c.Knee = p.Say.Rate(k)
			}
		}
		c.Spark = sparkline(values, p.W.f(p.W.SparkName, name, orElse(c.Knee, p.Say.Absent())))
		cards = append(cards, c)
	}
	slices.SortFunc(cards, func(a, b planCard) int {
		return cmp.Or(b.Last.Started.Compare(a.Last.Started), strings.Compare(a.Name, b.Name))
	})
	return cards[:min(len(cards), maxCards)]
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// historyData is what the history's template sees.
type historyData struct {
	F                  filter
	Cards              []planCard
	Rows               []row
	Total, Of, Pending int
	Names, Formats     []string
	Verdicts, States   []choice
	Columns            []sortLink
	Prev, Next         string
	From, Until        int
}

type choice struct{ Code, Word string }

type sortLink struct {
	Name, Href, Aria string
	Number           bool
}

func (s *Server) history(w http.ResponseWriter, r *http.Request, p *pageOf) error {
	f, err := parseFilter(r.URL.Query())
	if err != nil {
		return err
	}
	rows, pending, err := s.rows(r)
	if err != nil {
		return err
	}
	d := &historyData{F: f, Of: len(rows), Pending: pending, Cards: p.cards(rows)}
	seen := map[string]bool{}
	for i := range rows {
		h := &rows[i].Header
		for _, v := range []struct {
			in   *[]string
			name string
		}{{&d.Names, h.Name}, {&d.Formats, h.Format}} {
			if key := v.name; key != "" && !slices.Contains(*v.in, key) && len(*v.in) < 200 {
				*v.in = append(*v.in, key)
			}
		}
		seen[rows[i].state()] = true
	}
	slices.Sort(d.Names)
	slices.Sort(d.Formats)
	for _, v := range []string{"pass", "fail", "inconclusive"} {
		d.Verdicts = append(d.Verdicts, choice{v, p.Say.Code(v)})
	}
	for _, v := range []string{"complete", "interrupted", "failed", "recording", "refused"} {
		if seen[v] || f.State == v {
			word := p.Say.Code(v)
			if v == "refused" {
				word = p.W.RefusedState
			}
			d.States = append(d.States, choice{v, word})
		}
	}
	rows = slices.DeleteFunc(rows, func(r row) bool { return !f.matches(&r) })
	sortRows(rows, f.Sort, f.Order)
	d.Total = len(rows)
	from := min((f.Page-1)*perPage, len(rows))
	until := min(from+perPage, len(rows))
	d.Rows, d.From, d.Until = rows[from:until], from+1, until
	page := func(n int) string {
		g := f
		g.Page = n
		return With(p.Home(), g.query()...)
	}
	if f.Page > 1 {
		d.Prev = page(min(f.Page-1, max(1, (len(rows)+perPage-1)/perPage)))
	}
	if until < len(rows) {
		d.Next = page(f.Page + 1)
	}
	for _, c := range []struct {
		key, name string
		number    bool
	}{
		{"started", p.W.Started, false},
		{"name", p.W.Plan, false},
		{"format", p.W.Format, false},
		{"state", p.W.State, false},
		{"verdict", p.W.Verdict, false},
		{"knee", p.W.Knee, true},
		{"margin", p.W.Margin, true},
		{"size", p.W.Size, true},
	} {
		g, aria := f, "none"
		g.Page, g.Sort, g.Order = 1, c.key, "desc"
		if c.key == f.Sort {
			aria = map[string]string{"asc": "ascending", "desc": "descending"}[f.Order]
			if f.Order == "desc" {
				g.Order = "asc"
			}
		}
		d.Columns = append(d.Columns, sortLink{Name: c.name, Href: With(p.Home(), g.query()...), Aria: aria, Number: c.number})
	}
	p.Title, p.Where, p.Data = p.W.History, "history", d
	if pending > 0 {
		p.Refresh = 5
	}
	return p.show(w, "history", http.StatusOK)
}

// KneeText is the knee of a row with its interval.
func (p *pageOf) KneeText(s *summary) string {
	switch {
	case s == nil:
		return "…"
	case s.KneeRPS != nil:
		return p.Say.Rate(*s.KneeRPS)
	case s.KneeAtLeast != nil:
		return "> " + p.Say.Rate(*s.KneeAtLeast)
	}
	return p.Say.Absent()
}

// KneeRange is the 95 % interval of a row's knee, "" where there is none.
func (p *pageOf) KneeRange(s *summary) string {
	if s == nil || s.KneeCI95 == nil {
		return ""
	}
	return p.Say.Span(s.KneeCI95)
}

// MarginText is the margin of a row.
func (p *pageOf) MarginText(s *summary) string {
	switch {
	case s == nil:
		return "…"
	case s.Margin == nil:
		return p.Say.Absent()
	case s.MarginAtLeast:
		return "≥ " + p.Say.Number(*s.Margin)
	}
	return p.Say.Number(*s.Margin)
}
