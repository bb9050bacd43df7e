package realism

import (
	"fmt"
	"math"
	"strings"

	"headroom/prep/profile"
)

// find returns the identifiers of the first place that a profile knows.
func find(p *profile.Profile, uses []Use) *profile.Identifiers {
	if p == nil {
		return nil
	}
	for _, u := range uses {
		for _, r := range p.Routes {
			if !same(u.Path, r.Template) || (u.Method != "" && r.Method != u.Method && r.Method != "*") {
				continue
			}
			if id, err := p.Find(r.Template, u.At); err == nil {
				return id
			}
		}
	}
	return nil
}

// same reports whether a path of a plan is one of the route: equal words, and
// something that is filled in, or a word of its own, where the route has a
// folded segment.
func same(path, route string) bool {
	path, _, _ = strings.Cut(path, "?")
	a, b := strings.Split(strings.Trim(path, "/"), "/"), strings.Split(strings.Trim(route, "/"), "/")
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if strings.Contains(b[i], "{") {
			continue
		}
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// work compares the mix and looks for costly routes that the plan leaves out.
func work(f Facts, p *profile.Profile) Row {
	row := Row{Reason: "work per request", Production: noProfile, Verdict: Unknown, Change: makeProfile}
	row.Plan = fmt.Sprintf("%d kinds of request", len(f.Mix))
	if len(f.Mix) == 1 {
		row.Plan = "one kind of request"
	}
	if p == nil || p.Requests == 0 {
		return row
	}
	var total float64
	for _, r := range f.Mix {
		total += r.Weight
	}
	planned := make([]float64, len(p.Routes))
	var outside float64 // share of the plan that production does not have
	for _, r := range f.Mix {
		k := route(p, r)
		if k < 0 {
			outside += r.Weight / total
			continue
		}
		planned[k] += r.Weight / total
	}
	distance := outside
	var left float64
	var tail []string
	for i, r := range p.Routes {
		distance += math.Abs(planned[i] - r.Share)
		if planned[i] == 0 {
			left += r.Share
			if r.Cost >= costly && len(tail) < 3 {
				tail = append(tail, fmt.Sprintf("%s %s costs %.3g times the median", r.Method, r.Template, r.Cost))
			}
		}
	}
	distance /= 2
	row.Plan += fmt.Sprintf(", %.3g %% of them outside of production's routes", 100*outside)
	row.Production = fmt.Sprintf("%d routes; %.3g %% of the requests are not in the plan; distance of the mixes %.2f", len(p.Routes), 100*left, distance)
	if p.Service == nil {
		row.Production += "; no durations logged, so what is costly is unknown"
	} else if dear := costliest(p); dear != nil {
		row.Production += fmt.Sprintf("; %s %s costs %.3g times the median", dear.Method, dear.Template, dear.Cost)
	}
	switch {
	case len(tail) > 0:
		row.Verdict, row.Change = Caution, "add what is costly: "+strings.Join(tail, ", ")
	case distance > mixTolerance:
		row.Verdict, row.Change = Caution, "requests: {from_profile: FILE}, or weights by production's shares"
	case p.Service == nil:
		row.Verdict, row.Change = Unknown, "log durations ($request_time, %D), to see what is costly"
	default:
		row.Verdict, row.Change = OK, ""
	}
	return row
}

// route finds the profile's route of a request, the one with the fewest folded
// segments where there are several; −1 for none.
func route(p *profile.Profile, r Request) int {
	best, folded := -1, math.MaxInt
	for i, t := range p.Routes {
		if t.Method != r.Method || !same(r.Path, t.Template) {
			continue
		}
		if n := strings.Count(t.Template, "{"); n < folded {
			best, folded = i, n
		}
	}
	return best
}

func costliest(p *profile.Profile) *profile.Route {
	var best *profile.Route
	for i := range p.Routes {
		if r := &p.Routes[i]; r.Cost >= costly && (best == nil || r.Cost > best.Cost) {
			best = r
		}
	}
	return best
}

func state(f Facts) Row {
	row := Row{Reason: "accumulated state", Production: "unknown: nothing says how old and how large production's data is", Verdict: Unknown}
	switch {
	case f.BuiltIn:
		row.Plan = "the built-in service has no data"
		row.Change = "nothing to change for the built-in service; for a real one, fill and age its database"
	case f.Postgres:
		row.Plan = "a database is observed; whether its data is as large and as old as production's is not known"
		row.Change = "compare rows, dead rows, index sizes and the age of statistics with production's before the run"
	default:
		row.Plan = "unknown: the plan says nothing of the data behind the service"
		row.Change = "fill the database as large as production's, age it with updates and deletes, and observe it: observe: [{postgres: DSN}]"
	}
	return row
}

func neighbours(f Facts, p *profile.Profile) Row {
	row := Row{Reason: "neighbours", Production: "unknown: reports, backups and jobs are not in access logs", Verdict: OK}
	row.Plan = fmt.Sprintf("%d beside the load", f.Neighbours)
	if f.Neighbours == 0 {
		row.Plan = "none: the service has the machine and the database to itself"
		row.Verdict, row.Change = Caution, "neighbours: [{name: …, every: …, sql: …}], those that run at production's peak"
	}
	if p != nil && p.Peak.Minute != nil {
		row.Production += "; the busiest minute is at " + p.Peak.Minute.At
	}
	return row
}

func dependencies(f Facts) Row {
	row := Row{Reason: "degraded dependencies", Production: "unknown: how dependencies fail is not in access logs", Verdict: OK}
	row.Plan = fmt.Sprintf("%d dependencies behind proxies, %d faults", f.Dependencies, f.Faults)
	if f.Faults == 0 {
		row.Plan = "none: every dependency answers, and as fast as ever"
		row.Verdict, row.Change = Caution, "dependencies: {…} and faults: [{on: …, kind: latency, delay: …}], or load: {chaos: …}"
	}
	return row
}
