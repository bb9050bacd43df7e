package web

import (
	"net/http"
	"slices"
	"strconv"

	"headroom/analyze"
	"headroom/report"
)

// shown is a picture on a page.
type shown struct {
	Name, Title, Caption, Src, Data, Steps string
	OverTime                               bool
}

// shows are the pictures of a run, or of a stretch of it, that the page shows.
func (p *pageOf) shows(e *Entry, set *pictureSet, sp span, only []string) []shown {
	var all []shown
	for _, name := range set.names {
		if len(only) > 0 && !slices.Contains(only, name) {
			continue
		}
		q := sp.query()
		if !slices.Contains(overTime, name) {
			q = nil
		}
		sh := shown{
			Name: name, Title: set.titles[name], Caption: p.Say.Caption(name), OverTime: slices.Contains(overTime, name),
			Src:  With(p.To("runs", e.Key, "pictures", name+".svg"), q...),
			Data: With("/api/v1/runs/"+pathEscape(e.Key)+"/pictures/"+name, append([]string{"lang", p.L.lang}, q...)...),
		}
		if name == "knee" || name == "latency" {
			sh.Steps = p.To("runs", e.Key, "steps") + "/"
		}
		all = append(all, sh)
	}
	return all
}

// runData is what the templates of a run and of a step see.
type runData struct {
	E              *Entry
	P              *report.Parts
	Before, After  []report.Part // around the pictures
	Pictures       []shown
	Span           span
	From, To       string
	Whole          string // the address of the page without a span
	Files          []fileLink
	Others         []Entry // of the same plan, the latest first
	Step           *analyze.StepResult
	Prev, Next, Up string
	Labels         string // JSON, for the script
}

func (s *Server) runPage(w http.ResponseWriter, r *http.Request, p *pageOf) error {
	sp, err := parseSpan(r.URL.Query())
	if err != nil {
		return err
	}
	ctx := r.Context()
	e, err := s.entry(ctx, r.PathValue("id"))
	if err != nil {
		return err
	}
	if !e.Readable() {
		return s.brokenPage(w, p, e)
	}
	a, err := s.analysis(ctx, e)
	if err != nil {
		return err
	}
	set, err := s.picturesOf(ctx, e, a, p.L, sp)
	if err != nil {
		return err
	}
	parts, err := report.PartsOf(a.a, p.L.lang, func(i int) string { return p.To("runs", e.Key, "steps", strconv.Itoa(i)) })
	if err != nil {
		return err
	}
	d := &runData{E: e, P: parts, Span: sp, Pictures: p.shows(e, set, sp, nil), Files: p.files(e, set), Whole: p.To("runs", e.Key)}
	d.Labels = p.labels()
	for _, part := range parts.Sections { // sentence, verdict, gates and findings first
		if part.ID == "gates" || part.ID == "findings" {
			d.Before = append(d.Before, part)
		} else {
			d.After = append(d.After, part)
		}
	}
	d.spanFields()
	all, err := s.entries(ctx)
	if err != nil {
		return err
	}
	for i := len(all) - 1; i >= 0 && len(d.Others) < 12; i-- {
		if o := all[i]; o.Readable() && o.Key != e.Key && o.Header.Comparable == e.Header.Comparable && o.Header.Name == e.Header.Name {
			d.Others = append(d.Others, o)
		}
	}
	p.Title, p.Where, p.Data, p.Script = p.NameOf(*e), "run", d, true
	return p.show(w, "run", http.StatusOK)
}

func (d *runData) spanFields() {
	if q := d.Span.query(); q != nil {
		d.From, d.To = q[1], q[3]
	}
}

// brokenPage is the page of a run that can't be read, or not yet.
func (s *Server) brokenPage(w http.ResponseWriter, p *pageOf, e *Entry) error {
	if e.Recording && e.Feed {
		http.Redirect(w, p.r, p.To("live", e.Key), http.StatusFound)
		return nil
	}
	p.Title, p.Where = p.NameOf(*e), "run"
	p.Data = e
	if e.Recording {
		p.Refresh = 5
	}
	return p.show(w, "broken", http.StatusOK)
}

func (s *Server) stepPage(w http.ResponseWriter, r *http.Request, p *pageOf) error {
	index, err := strconv.Atoi(r.PathValue("step"))
	if err != nil {
		return badRequest("%q is not the number of a plateau", clip(r.PathValue("step"), 40))
	}
	ctx := r.Context()
	e, err := s.readable(ctx, r.PathValue("id"))
	if err != nil {
		return err
	}
	a, err := s.analysis(ctx, e)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(a.a.Steps, func(s analyze.StepResult) bool { return s.Index == index })
	if at < 0 {
		return notFound("this run has no plateau " + strconv.Itoa(index))
	}
	st := &a.a.Steps[at]
	sp := span{st.WindowS[0], st.WindowS[1]}
	if !(sp.to-sp.from >= 0.001) {
		sp = span{}
	}
	set, err := s.picturesOf(ctx, e, a, p.L, sp)
	if err != nil {
		return err
	}
	parts, err := report.StepParts(a.a, st, p.L.lang)
	if err != nil {
		return err
	}
	d := &runData{E: e, Step: st, Before: parts[:1], After: parts[1:], Span: sp, Pictures: p.shows(e, set, sp, overTime), Up: p.To("runs", e.Key), Labels: p.labels()}
	if at > 0 {
		d.Prev = p.To("runs", e.Key, "steps", strconv.Itoa(a.a.Steps[at-1].Index))
	}
	if at < len(a.a.Steps)-1 {
		d.Next = p.To("runs", e.Key, "steps", strconv.Itoa(a.a.Steps[at+1].Index))
	}
	p.Title = p.W.f(p.W.StepOf, strconv.Itoa(index), p.NameOf(*e))
	p.Where, p.Data, p.Script = "run", d, true
	return p.show(w, "step", http.StatusOK)
}
