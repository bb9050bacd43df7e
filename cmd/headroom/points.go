package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"headroom/analyze"
	"headroom/prep/foreign"
	"headroom/store/record"
)

// pointSuffix ends the name of a file with a point of the trend.
const pointSuffix = ".point.json"

// maxPoint bounds such a file, in bytes.
const maxPoint = 1 << 20

// pointHistory reads the points of the trend in a folder: what other tools'
// summaries said. They stand beside the runs of a plan and are never counted as
// the same one.
func pointHistory(std IO, dir, name, since string, quiet bool) ([]*analyze.Analysis, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []*analyze.Analysis
	names := map[string]int{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), pointSuffix) {
			continue
		}
		file := filepath.Join(dir, e.Name())
		p, err := readPoint(file)
		if err != nil {
			if !quiet {
				fmt.Fprintf(std.Err, "left out %s: %v\n", file, err)
			}
			continue
		}
		a := pointAnalysis(p, strings.TrimSuffix(filepath.Base(file), pointSuffix))
		if name != "" && p.Name != name || since != "" && a.Run.Started < since {
			continue
		}
		names[p.Name]++
		out = append(out, a)
	}
	if len(names) > 1 {
		return nil, usagef("%s holds points of several names; choose one with --name: %s", dir, strings.Join(slices.Sorted(maps.Keys(names)), ", "))
	}
	return out, nil
}

func readPoint(file string) (*foreign.Point, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var p foreign.Point
	if err := json.NewDecoder(io.LimitReader(f, maxPoint)).Decode(&p); err != nil {
		return nil, fmt.Errorf("not a point of the trend: %w", err)
	}
	if p.Schema != foreign.PointSchema {
		return nil, fmt.Errorf("not a point of the trend: schema %q, not %q", p.Schema, foreign.PointSchema)
	}
	return &p, nil
}

// pointAnalysis puts a summary's numbers where a trend looks for them, and
// nothing else: percentiles that the tool did not print stay absent, and a
// distribution that does not count from when requests were due has no response
// time.
func pointAnalysis(p *foreign.Point, id string) *analyze.Analysis {
	started := p.At
	if _, err := time.Parse(time.RFC3339, started); err != nil {
		started = p.Imported
	}
	requested := "unknown" // another rate is another plan
	if p.RequestedRPS != nil {
		requested = strconv.FormatFloat(*p.RequestedRPS, 'g', -1, 64)
	}
	key := sha256.Sum256(fmt.Appendf(nil, "point %q %q %q %q %s", p.Tool, p.Format, p.Name, p.Model, requested))
	a := &analyze.Analysis{
		Schema: analyze.Schema,
		Run: &analyze.RunInfo{
			ID: id, Name: p.Name, Release: p.Release, Model: string(p.Model), Format: "point", Started: started,
			State: string(record.Complete), ComparableKey: hex.EncodeToString(key[:]),
		},
		Trust:   &analyze.Trust{Verdict: analyze.Suspect, Reasons: []string{"aggregates_only"}},
		Latency: &analyze.Latencies{},
	}
	if p.Requests != nil && p.Errors != nil && *p.Errors <= *p.Requests && p.DurationS != nil && *p.DurationS > 0 {
		good := *p.Requests - *p.Errors
		a.Judged = &analyze.JudgedPart{
			Seconds: *p.DurationS, Scheduled: *p.Requests, OfferedRPS: float64(*p.Requests) / *p.DurationS, GoodputRPS: float64(good) / *p.DurationS,
		}
		// A summary does not tell refusals on purpose from errors, so there is
		// no ratio of either unless there were none.
		if *p.Errors == 0 {
			a.Judged.Outcomes = analyze.Outcomes{record.OK.String(): good}
		}
	}
	for i := range p.Latency {
		d := &p.Latency[i]
		switch {
		case d.Kind == "corrected":
			a.Latency.Response = pointLatency(d)
		case a.Latency.Service.P50 == nil && a.Latency.Service.P99 == nil:
			a.Latency.Service = pointLatency(d)
		}
	}
	return a
}

func pointLatency(d *foreign.Distribution) analyze.LatencyUS {
	var l analyze.LatencyUS
	if d.Count != nil {
		l.Count = *d.Count
	}
	l.Mean, l.Max = d.MeanUS, d.MaxUS
	for q, into := range map[float64]**float64{0.5: &l.P50, 0.9: &l.P90, 0.95: &l.P95, 0.99: &l.P99, 0.999: &l.P999} {
		if v, ok := d.At(q); ok {
			*into = &v.US
		}
	}
	return l
}
