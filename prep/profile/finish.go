package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"headroom/analyze/stat"
)

// The codes of what is refused and of notes.
const (
	ClockGoesBack  = "clock_goes_back"     // no burstiness
	WholeMinutes   = "whole_minute_stamps" // no burstiness, no busiest second
	FixedMinute    = "minute_rewritten"    // no burstiness
	SampledPeak    = "sampled_peak"        // no peaks, no burstiness, no cache
	WindowTooShort = "window_too_short"    // no burstiness in windows that are too few
	WholeSeconds   = "whole_second_stamps" // no burstiness below a second
	UnseenTooBig   = "unseen_mass_too_big" // no popularity
	TooFewIDs      = "too_few_ids"         // no law of popularity
	NonIRM         = "non_irm"             // draws will not reproduce the hit ratio
	NoRequests     = "no_requests"         // nothing at all
	TooLongAgo     = "too_many_days"       // the oldest seconds were given up
	Overlapping    = "overlapping_logs"    // no cache, since the order is not known
	PartOfADay     = "part_of_a_day"       // a note
	CutInput       = "cut_input"           // a note
	ManyRejected   = "many_rejected"       // a note
	ManyRoutes     = "too_many_routes"     // a note
	EndStamps      = "arrival_by_duration" // a note
)

const (
	keptRoutes = 500
	leastWins  = 30 // windows for an index of dispersion
	shortS     = 6 * 60 * 60
	sampledMin = 0.5 // share of requests from which peaks are told
)

func (l *learner) refuse(p *Profile, code, format string, args ...any) {
	p.Refused = append(p.Refused, Refusal{Code: code, Text: fmt.Sprintf(format, args...)})
}

func (l *learner) note(p *Profile, code, format string, args ...any) {
	p.Notes = append(p.Notes, Refusal{Code: code, Text: fmt.Sprintf(format, args...)})
}

func (l *learner) finish() *Profile {
	p := &Profile{
		Schema: Schema, Lines: l.lines, Requests: l.lines.Parsed,
		Dispersion: map[string]float64{}, Burstiness: []Burstiness{}, Status: map[string]uint64{}, Methods: map[string]uint64{},
		Routes: []Route{}, Identifiers: []Identifiers{}, Refused: []Refusal{}, Notes: []Refusal{},
		Peak: Peak{Daily: []Day{}},
	}
	if l.o.Sampled < 1 {
		p.Sampled = l.o.Sampled
	}
	for s, n := range l.status {
		switch {
		case n == 0:
		case s == 0:
			p.Status["-"] = n
		default:
			p.Status[strconv.Itoa(s)] = n
		}
	}
	for i, n := range l.methods {
		if n > 0 {
			p.Methods[methods[i]] = n
		}
	}
	p.Clients = Clients{Distinct: l.clients.distinct(), Exact: l.clients.top == nil, Unknown: l.anon}
	if top := l.clients.ranked(1); len(top) > 0 {
		p.Clients.Busiest = top[0].count
	}
	p.URLs = URLs{Paths: l.paths.distinct(), WithQuery: l.urls.distinct(), Exact: l.urls.top == nil}
	p.Bytes = l.bytes.summary(p.Requests)
	if l.service.count > 0 {
		s := l.service.summary(p.Requests)
		p.Service = &s
	}
	l.time(p)
	l.routesOf(p)
	l.identifiers(p)
	l.linesOf(p)
	if p.Requests == 0 {
		l.refuse(p, NoRequests, "no line could be read as a request; look at lines.rejected, or give the format with --format-string")
	}
	return p
}

// time fills in what depends on when requests came.
func (l *learner) time(p *Profile) {
	a := l.arrivals
	scale := 1 / l.o.Sampled
	p.RateCurve = a.curve(scale)
	if !a.any {
		return
	}
	p.Window = Window{From: stampText(a.first), To: stampText(a.end), Seconds: float64(a.seconds()), Days: round(float64(a.seconds()) / 86400)}
	var whole, fixed bool
	var back, steps, lines uint64
	for _, c := range l.clocks {
		whole = whole || c.wholeMinutes()
		fixed = fixed || c.fixedMinute()
		if c.goesBack() {
			back, steps = back+c.back, steps+c.steps
			lines += c.lines
		}
	}
	sampled := l.o.Sampled < sampledMin
	switch {
	case sampled:
		l.refuse(p, SampledPeak, "the logs hold %.3g %% of the requests: scaling a sample up overstates its busiest seconds, so peaks, burstiness and caches are not told; take the peak from complete counts, such as those of the edge", 100*l.o.Sampled)
	case whole:
		l.refuse(p, WholeMinutes, "the stamps are of whole minutes: no busiest second and no burstiness can be learned")
	}
	if lines > 0 {
		l.refuse(p, ClockGoesBack, "%d of %d lines are more than %d s earlier than the line before, and the clock was set back %d times: burstiness is not told, and a peak is one of the stamps, not of arrivals", back, lines, backS, steps)
	}
	if fixed {
		l.refuse(p, FixedMinute, "all stamps are of the same minute of their hour: they were rewritten, so burstiness is not told, and a peak is one of the stamps, not of arrivals")
	}
	if !sampled {
		p.Peak = a.peaks(scale)
		if whole {
			p.Peak.Second, p.Peak.TenSeconds = nil, nil
			for i := range p.Peak.Daily {
				p.Peak.Daily[i].SecondRPS = 0
			}
		}
	}
	if !sampled && !whole && !fixed && lines == 0 {
		l.dispersion(p)
	}
	if a.lost > 0 {
		l.refuse(p, TooLongAgo, "the logs cover more days than fit into memory by the second; peaks and curve leave the oldest %d requests out", a.lost)
	}
	if a.seconds() < 86400 {
		l.note(p, PartOfADay, "the logs cover %.3g h: the day's peak may lie outside of them", float64(a.seconds())/3600)
	}
	if l.service.count > 0 {
		l.note(p, EndStamps, "durations are logged: where a format stamps the end of the answer, arrivals are the stamp less the duration")
	}
}

// dispersion fills in the indices of dispersion. A log of some hours has no
// daily curve that could be told from bursts, so its index is that of the
// whole; a longer one's is pooled within ten minutes.
func (l *learner) dispersion(p *Profile) {
	a := l.arrivals
	fine := a.fine*10 >= a.total*8
	short := ""
	for i, w := range a.bursts() {
		if i == 0 && (!fine || a.reopened) {
			l.refuse(p, WholeSeconds, "most stamps are of whole seconds: burstiness below a second is not told; log milliseconds ($msec, %%{msec}t)")
			continue
		}
		if w.all < leastWins || w.sum == 0 {
			short += " " + w.name
			continue
		}
		b := Burstiness{
			Window: w.name, Within: round(w.within()), Whole: round(w.whole()), Mean: round(w.sum / float64(w.all)),
			Windows: uint64(w.all), Segments: w.segments,
		}
		if b.Index = b.Within; a.seconds() < shortS {
			b.Index = b.Whole
		}
		p.Dispersion[w.name] = b.Index
		p.Burstiness = append(p.Burstiness, b)
	}
	if short != "" {
		l.refuse(p, WindowTooShort, "the logs cover %d s: too few windows of%s for an index of dispersion, which needs %d", a.seconds(), short, leastWins)
	}
}

func (l *learner) linesOf(p *Profile) {
	if n := p.Lines.CutInputs; n > 0 {
		l.note(p, CutInput, "%d of %d logs are cut off or damaged; what came before counts", n, p.Lines.Inputs)
	}
	var rejected uint64
	for reason, n := range p.Lines.Rejected {
		if reason != "not_a_request" {
			rejected += n
		}
	}
	if rejected*100 > p.Lines.Read {
		l.note(p, ManyRejected, "%.3g %% of the lines could not be read; lines.first_rejected has the first of each kind", 100*float64(rejected)/float64(p.Lines.Read))
	}
	if l.routes.full {
		l.note(p, ManyRoutes, "there are more than %d different places in the paths, so rare words are folded as {other} early", mostNodes)
	}
}

// routesOf fills in the routes.
func (l *learner) routesOf(p *Profile) {
	l.routes.foldRare(l.routes.root)
	type row struct {
		template string
		t        *traffic
		m        *methodTraffic
	}
	var rows []row
	collect := func(n *node) {
		if n.here == nil {
			return
		}
		for i := range n.here.by {
			rows = append(rows, row{n.template(), n.here, &n.here.by[i]})
		}
	}
	l.routes.root.all(collect)
	collect(l.routes.odd)
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(-cmp.Compare(a.m.requests, b.m.requests), cmp.Compare(a.template, b.template), cmp.Compare(a.m.method, b.m.method))
	})
	var rest methodTraffic
	for i, r := range rows {
		if i >= keptRoutes || (r.m.requests < Fold && r.template != kindNames[odd]) {
			rest.merge(r.m)
			continue
		}
		p.Routes = append(p.Routes, l.route(p, r.template, methods[r.m.method], r.m, r.t.names()))
	}
	if rest.requests > 0 {
		p.Routes = append(p.Routes, l.route(p, kindNames[rare], "*", &rest, []string{}))
	}
}

func (l *learner) route(p *Profile, template, method string, m *methodTraffic, params []string) Route {
	out := Route{
		Template: template, Method: method, Share: round(float64(m.requests) / float64(p.Requests)), Requests: m.requests,
		Errors: m.errors, Bytes: m.bytes.summary(m.requests), ByHour: make([]uint64, 24), Params: params,
	}
	for h, n := range m.hours {
		out.ByHour[h] = uint64(n)
	}
	if m.service.count > 0 {
		s := m.service.summary(m.requests)
		out.Service = &s
		if p.Service != nil && p.Service.P50 > 0 {
			out.Cost = round(s.Mean / float64(p.Service.P50))
		}
	}
	return out
}

// goodTuring is the share of requests that go to unseen values, and whether it
// is small enough to learn from.
func goodTuring(single, requests uint64) (float64, bool) {
	u := stat.GoodTuring(min(single, requests), requests)
	return u.Mass, u.Refused == ""
}
