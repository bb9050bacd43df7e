package plan

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	yaml "go.yaml.in/yaml/v4"

	"headroom/prep/profile"
)

// Profile is production's profile that the plan names: that of production,
// else of requests, arrivals or data. It is nil without one, and after Parse.
func (p *Plan) Profile() *profile.Profile { return p.profile }

// profile reads the profile that a key names; nil where it could not be read,
// which has been reported, or where files are not read.
func (r *reader) profile(n *yaml.Node, path, name string) *profile.Profile {
	content, ok := r.file(n, path, name) // at each place, for the plan's digest
	if !ok {
		return nil
	}
	if p, ok := r.profiles[name]; ok {
		return p
	}
	p, err := profile.Decode(content)
	if err != nil {
		r.problem(n, path, "%v", err)
	}
	if r.profiles == nil {
		r.profiles = map[string]*profile.Profile{}
	}
	r.profiles[name] = p
	return p
}

// fromProfile reads a source whose values are drawn as production asks for
// them.
func (r *reader) fromProfile(o *object, s *Source) {
	s.First = 1
	o.label("profile", &s.File)
	o.label("route", &s.Route)
	o.label("at", &s.At)
	first := int64(1)
	if o.whole("first", &first, 0, 1<<60) {
		s.First = uint64(first)
	}
	o.conflict("first", "values", "identifiers are numbers from first on, or the lines of values")
	if n, path := o.get("values"); n != nil && o.label("values", &s.Values) {
		if content, ok := r.file(n, path, s.Values); ok {
			if len(bytes.TrimSpace(content)) == 0 {
				r.problem(n, path, "has no values; write one on each line")
			}
			s.Content = content
		}
	}
	n, path := o.get("profile")
	if n == nil {
		return
	}
	p := r.profile(n, path, s.File)
	if p == nil {
		return
	}
	id, err := place(p, s.Route, s.At)
	if err != nil {
		if n, path := o.get("route"); n != nil {
			r.problem(n, path, "%v", err)
		} else {
			r.problem(o.keys["profile"], path, "%v", err)
		}
		return
	}
	law := id.Popularity()
	s.Head, s.TailMass, s.Exponent, s.Count = law.Head, law.TailMass, law.Exponent, law.Count
	s.place = id
}

// place finds identifiers in a profile: of the route, or, without one, those
// of the folded segment with the most requests.
func place(p *profile.Profile, route, at string) (*profile.Identifiers, error) {
	if route != "" {
		return p.Find(route, at)
	}
	for i := range p.Identifiers {
		id := &p.Identifiers[i]
		if at != "" && id.At == at || at == "" && strings.HasPrefix(id.At, "segment ") {
			return id, nil
		}
	}
	return nil, fmt.Errorf("the profile has no identifiers at %q; name a route", cmp.Or(at, "a segment of a path"))
}

// burstsFromProfile takes the burstiness of arrivals from a profile.
func (r *reader) burstsFromProfile(o *object, a *Arrivals) {
	if !o.label("profile", &a.File) {
		return
	}
	n, path := o.get("profile")
	p := r.profile(n, path, a.File)
	if p == nil {
		return
	}
	if a.Shaped {
		if a.Curve = relative(p.RateCurve.RPS); a.Curve == nil {
			n, path := o.get("curve")
			r.problem(n, path, "the profile has no rate curve; delete it")
		}
	}
	for _, b := range p.Burstiness {
		if b.Window != "1s" || b.Mean <= 0 {
			continue
		}
		if b.Index > poissonIndex {
			a.Kind, a.Dispersion, a.CV2 = "bursty", b.Index, (b.Index-1)/b.Mean
		}
		return
	}
	var why []string
	for _, refused := range p.Refused {
		if refused.Route == "" {
			why = append(why, refused.Code)
		}
	}
	r.problem(n, path, "the profile has no index of dispersion at 1 s (%s); write {bursty: {dispersion: N}} or leave arrivals out", strings.Join(why, ", "))
}

// relative scales rates to a mean of 1; nil where there are none.
func relative(rates []float64) []float64 {
	var sum float64
	for _, v := range rates {
		sum += v
	}
	if len(rates) < 2 || len(rates) > 1024 || !(sum > 0) {
		return nil
	}
	out := make([]float64, len(rates))
	for i, v := range rates {
		out[i] = v / sum * float64(len(rates))
	}
	return out
}

// poissonIndex is the index of dispersion at 1 s up to which random arrivals
// are honest.
const poissonIndex = 1.2

// peakFromProfile takes production's peak from a profile: its busiest minute
// unless resolution says second or ten seconds.
func (r *reader) peakFromProfile(o *object, v *Production) {
	for _, k := range []string{"peak", "window", "taken", "source", "daily"} {
		o.conflict(k, "profile", "the profile has it; delete it")
	}
	if !o.has("resolution") {
		v.Resolution = time.Minute
	}
	if !o.label("profile", &v.Profile) {
		return
	}
	n, path := o.get("profile")
	p := r.profile(n, path, v.Profile)
	if p == nil {
		return
	}
	peaks := map[time.Duration]*profile.Busiest{time.Second: p.Peak.Second, 10 * time.Second: p.Peak.TenSeconds, time.Minute: p.Peak.Minute}
	b, known := peaks[v.Resolution]
	if !known {
		n, path := o.get("resolution")
		r.problem(n, path, "a profile has peaks of 1s, 10s and 1m; write one of them")
		return
	}
	if b == nil {
		r.problem(n, path, "the profile has no peak (%s); write production: {peak: …} from complete counts", codes(p))
		return
	}
	v.Peak, v.Source = b.RPS, "profile"
	v.Window = max(time.Duration(p.Window.Seconds*1e9), time.Second)
	if t, err := time.Parse(time.RFC3339, p.Window.To); err == nil {
		v.Taken = t.Format(time.DateOnly)
	}
	for _, d := range p.Peak.Daily {
		rate := d.MinuteRPS
		if v.Resolution < time.Minute {
			rate = d.SecondRPS
		}
		v.Peaks = append(v.Peaks, DailyPeak{Date: d.Date, Peak: rate})
	}
	if v.Resolution == 10*time.Second {
		v.Peaks = nil // daily maxima are told of seconds and minutes
	}
}

func codes(p *profile.Profile) string {
	var all []string
	for _, r := range p.Refused {
		if !slices.Contains(all, r.Code) {
			all = append(all, r.Code)
		}
	}
	return strings.Join(all, ", ")
}

const (
	profileClasses = 40 // routes that become classes, most requests first
	profileShare   = 0.0005
)

// requestsFromProfile makes one class of each route of a profile that asks for
// something: GET and HEAD unless methods says otherwise. Folded segments are
// filled in from the data source that the plan has for the same place, or from
// one that is added.
func (r *reader) requestsFromProfile(o *object, p *Plan) []*yaml.Node {
	if !o.label("from_profile", &p.MixFile) {
		return nil
	}
	p.MixMethods = []string{"GET", "HEAD"}
	if n, path := o.get("methods"); n != nil {
		items, _ := r.list(n, path)
		p.MixMethods = nil
		for i, item := range items {
			if s, ok := r.fixed(item, at(path, i)); ok {
				p.MixMethods = append(p.MixMethods, s)
			}
		}
	}
	n, path := o.get("from_profile")
	prof := r.profile(n, path, p.MixFile)
	if prof == nil {
		return nil
	}
	var items []*yaml.Node
	names := map[string]int{}
	for _, route := range prof.Routes {
		if len(items) == profileClasses || route.Share < profileShare {
			break
		}
		if !slices.Contains(p.MixMethods, route.Method) || strings.Contains(route.Template, "{rest}") || !strings.HasPrefix(route.Template, "/") {
			continue
		}
		name := classOf(route.Method, route.Template)
		if names[name]++; names[name] > 1 {
			name += "_" + strconv.Itoa(names[name])
		}
		items = append(items, mappingNode(n, "class", name, "weight", strconv.FormatUint(route.Requests, 10), "method", route.Method, "path", r.fillRoute(p, prof, p.MixFile, route.Template)))
	}
	if len(items) == 0 {
		r.problem(n, path, "the profile has no route with %s; write requests by hand, or name methods", strings.Join(p.MixMethods, " or "))
	}
	return items
}

// fillRoute replaces the folded segments of a template by data sources.
func (r *reader) fillRoute(p *Plan, prof *profile.Profile, file, template string) string {
	parts := strings.Split(template, "/")
	for i, part := range parts {
		open, end := strings.IndexByte(part, '{'), strings.IndexByte(part, '}')
		if open < 0 || end < open {
			continue
		}
		id, err := prof.Find(template, "segment "+strconv.Itoa(i))
		if err != nil {
			parts[i] = "{{" + part[open+1:end] + "}}" + part[end+1:] // as text: nothing is known
			continue
		}
		k := slices.IndexFunc(p.Data, func(s Source) bool { return s.place == id })
		if k < 0 {
			law := id.Popularity()
			k = len(p.Data)
			p.Data = append(p.Data, Source{
				Name: freeSource(p.Data, id.Route, i), Kind: "profile", File: file, Route: id.Route, At: id.At, First: 1,
				Head: law.Head, TailMass: law.TailMass, Exponent: law.Exponent, Count: law.Count, place: id, implied: true,
			})
		}
		parts[i] = part[:open] + "{" + p.Data[k].Name + "}" + part[end+1:]
	}
	return strings.Join(parts, "/")
}

// freeSource names a source after the word before its segment.
func freeSource(all []Source, route string, segment int) string {
	parts := strings.Split(route, "/")
	base := "id"
	for i := min(segment-1, len(parts)-1); i > 0; i-- {
		if !strings.ContainsAny(parts[i], "{}") && parts[i] != "" {
			base = letters(parts[i])
			break
		}
	}
	name := base
	for i := 2; slices.ContainsFunc(all, func(s Source) bool { return s.Name == name }); i++ {
		name = base + strconv.Itoa(i)
	}
	return name
}

// classOf makes a class's name of a method and a template.
func classOf(method, template string) string {
	name := strings.ToLower(method) + "_" + strings.Trim(letters(template), "_")
	if len(name) > 60 {
		name = name[:60]
	}
	return strings.TrimRight(name, "_")
}

func letters(s string) string {
	out := []byte{}
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
			out = append(out, c)
		case len(out) > 0 && out[len(out)-1] != '_':
			out = append(out, '_')
		}
	}
	if len(out) == 0 || out[0] >= '0' && out[0] <= '9' {
		out = append([]byte("x"), out...)
	}
	return string(out[:min(len(out), 40)])
}

// mappingNode is a mapping of texts that stands where another node does.
func mappingNode(where *yaml.Node, pairs ...string) *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: where.Line, Column: where.Column}
	for i, s := range pairs {
		tag := "!!str"
		if i > 0 && pairs[i-1] == "weight" {
			tag = "!!int"
		}
		m.Content = append(m.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: s, Line: where.Line, Column: where.Column})
	}
	return m
}

// chosen is the profile that stands for production.
func (r *reader) chosen(p *Plan) *profile.Profile {
	names := []string{p.MixFile}
	if p.Production != nil {
		names = append([]string{p.Production.Profile}, names...)
	}
	if p.Arrivals.Profile {
		names = append(names, p.Arrivals.File)
	}
	for _, s := range p.Data {
		if s.Kind == "profile" {
			names = append(names, s.File)
		}
	}
	for _, name := range names {
		if found := r.profiles[name]; name != "" && found != nil {
			return found
		}
	}
	return nil
}
