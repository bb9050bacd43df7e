package web

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"headroom/analyze"
)

//go:embed openapi.json
var openAPI []byte

func pathEscape(s string) string { return url.PathEscape(s) }

// apiRoutes are the same numbers as JSON.
func (s *Server) apiRoutes() {
	for pattern, h := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /api/v1/{$}":                          s.apiIndex,
		"GET /api/v1/openapi.json":                 s.apiOpenAPI,
		"GET /api/v1/runs":                         s.apiRuns,
		"POST /api/v1/runs":                        s.upload,
		"GET /api/v1/runs/{id}":                    s.apiRun,
		"GET /api/v1/runs/{id}/analysis":           s.apiAnalysis,
		"GET /api/v1/runs/{id}/plan":               s.apiPlan,
		"GET /api/v1/runs/{id}/steps/{step}":       s.apiStep,
		"GET /api/v1/runs/{id}/pictures/{picture}": s.hoverData,
		"GET /api/v1/live/{id}":                    s.apiLive,
		"GET /api/v1/compare":                      s.apiCompare,
		"GET /api/v1/trend":                        s.apiTrend,
	} {
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := h(w, r); err != nil {
				p := asProblem(err)
				if p.status >= 500 {
					s.cfg.Log("%s %s: %v", r.Method, r.URL.Path, err)
				}
				writeProblem(w, p)
			}
		})
	}
	s.mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			writeProblem(w, &problem{http.StatusMethodNotAllowed, "method", "only GET, and POST /api/v1/runs"})
			return
		}
		writeProblem(w, &problem{http.StatusNotFound, "not_found", "GET /api/v1/ lists what there is"})
	})
}

func writeJSON(w http.ResponseWriter, v any) error { return writeJSONAs(w, http.StatusOK, v) }

func writeJSONAs(w http.ResponseWriter, status int, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	return writeBody(w, status, b.Bytes())
}

func writeBody(w http.ResponseWriter, status int, b []byte) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b)
	return nil
}

func writeProblem(w http.ResponseWriter, p *problem) {
	_ = writeJSONAs(w, p.status, map[string]any{"error": map[string]string{"code": p.code, "text": p.text}}) // strings always encode
}

func (s *Server) apiIndex(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, map[string]string{
		"openapi": "/api/v1/openapi.json", "runs": "/api/v1/runs", "run": "/api/v1/runs/{id}", "analysis": "/api/v1/runs/{id}/analysis",
		"plan": "/api/v1/runs/{id}/plan", "step": "/api/v1/runs/{id}/steps/{index}", "picture": "/api/v1/runs/{id}/pictures/{name}",
		"live": "/api/v1/live/{id}", "compare": "/api/v1/compare?base={id}&new={id}", "trend": "/api/v1/trend?name={name}",
	})
}

func (s *Server) apiOpenAPI(w http.ResponseWriter, _ *http.Request) error {
	return writeBody(w, http.StatusOK, openAPI)
}

// runJSON is an entry in the API.
type runJSON struct {
	ID        string   `json:"id"` // names the run in addresses
	RunID     string   `json:"run_id"`
	Name      string   `json:"name"`
	Release   string   `json:"release"`
	Format    string   `json:"format"`
	State     string   `json:"state"` // complete, interrupted, failed, recording, refused
	Reason    string   `json:"reason"`
	Started   string   `json:"started"`
	Bytes     int64    `json:"bytes"`
	Digest    string   `json:"digest"`
	Live      bool     `json:"live"`
	Summary   *summary `json:"summary"` // null where it is not known, or not yet
	SummaryOf string   `json:"summary_error,omitempty"`
}

func runOf(r *row) runJSON {
	j := runJSON{
		ID: r.Key, RunID: r.RunID, Name: r.Header.Name, Release: r.Header.Release, Format: r.Header.Format, State: r.state(), Reason: r.End.Reason,
		Started: r.Started.UTC().Format("2006-01-02T15:04:05Z"), Bytes: r.Bytes, Digest: r.Digest, Live: r.Feed, Summary: r.Sum,
	}
	if r.Refused != "" {
		j.Reason = r.Refused
	}
	if r.Sum != nil && r.Sum.failed != "" {
		j.Summary, j.SummaryOf = nil, r.Sum.failed
	}
	return j
}

func (s *Server) apiRuns(w http.ResponseWriter, r *http.Request) error {
	f, err := parseFilter(r.URL.Query())
	if err != nil {
		return err
	}
	rows, pending, err := s.rows(r)
	if err != nil {
		return err
	}
	rows = slices.DeleteFunc(rows, func(r row) bool { return !f.matches(&r) })
	sortRows(rows, f.Sort, f.Order)
	from := min((f.Page-1)*perPage, len(rows))
	out := make([]runJSON, 0, perPage)
	for i := range rows[from:min(from+perPage, len(rows))] {
		out = append(out, runOf(&rows[from+i]))
	}
	return writeJSON(w, map[string]any{"schema": "headroom.runs/1", "total": len(rows), "page": f.Page, "per_page": perPage, "not_summarised": pending, "runs": out})
}

func (s *Server) apiRun(w http.ResponseWriter, r *http.Request) error {
	e, err := s.entry(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	rw := row{Entry: *e}
	if e.Readable() {
		rw.Sum = s.digest(e)
	}
	return writeJSON(w, runOf(&rw))
}

// analysisOf finds and analyses the run that a request names.
func (s *Server) analysisOf(r *http.Request) (*Entry, *analysed, error) {
	e, err := s.readable(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, nil, err
	}
	a, err := s.analysis(r.Context(), e)
	return e, a, err
}

func (s *Server) apiAnalysis(w http.ResponseWriter, r *http.Request) error {
	_, a, err := s.analysisOf(r)
	if err != nil {
		return err
	}
	return writeBody(w, http.StatusOK, a.json)
}

func (s *Server) apiPlan(w http.ResponseWriter, r *http.Request) error {
	e, err := s.readable(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return writeJSON(w, map[string]any{"header": e.Header})
}

func (s *Server) apiStep(w http.ResponseWriter, r *http.Request) error {
	index, err := strconv.Atoi(r.PathValue("step"))
	if err != nil {
		return badRequest("%q is not the number of a plateau", clip(r.PathValue("step"), 40))
	}
	_, a, err := s.analysisOf(r)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(a.a.Steps, func(s analyze.StepResult) bool { return s.Index == index })
	if i < 0 {
		return notFound("this run has no plateau " + strconv.Itoa(index))
	}
	return writeJSON(w, a.a.Steps[i])
}

func (s *Server) apiLive(w http.ResponseWriter, r *http.Request) error {
	e, err := s.entry(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	st, err := s.cfg.Library.Live(r.Context(), *e)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return writeJSON(w, st)
}

// apiPage describes the API to people.
func (s *Server) apiPage(w http.ResponseWriter, _ *http.Request, p *pageOf) error {
	var doc struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	type operation struct {
		Summary    string `json:"summary"`
		Parameters []struct {
			Name string `json:"name"`
			In   string `json:"in"`
		} `json:"parameters"`
	}
	if err := json.Unmarshal(openAPI, &doc); err != nil {
		return err
	}
	type call struct{ Method, Path, Says, Query string }
	var calls []call
	for path, methods := range doc.Paths {
		for m, raw := range methods {
			if m == "parameters" { // of all methods
				continue
			}
			var o operation
			if err := json.Unmarshal(raw, &o); err != nil {
				return err
			}
			c := call{Method: m, Path: path, Says: o.Summary}
			for _, q := range o.Parameters {
				if q.In == "query" {
					c.Query += " " + q.Name
				}
			}
			calls = append(calls, c)
		}
	}
	slices.SortFunc(calls, func(a, b call) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Method, b.Method))
	})
	p.Title, p.Where, p.Data = "API", "api", calls
	return p.show(w, "api", http.StatusOK)
}
