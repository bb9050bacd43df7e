package runner

import (
	"bytes"
	"fmt"
	"strconv"

	"headroom/runner/plan"
	"headroom/runner/schedule"
)

// newSources makes the data sources of a plan, by name.
func newSources(data []plan.Source) (map[string]schedule.Source, error) {
	all := map[string]schedule.Source{}
	for _, d := range data {
		spec := schedule.SourceSpec{
			Name: d.Name, Kind: schedule.Kind(d.Kind), Count: d.Count, First: d.First, Exponent: d.Exponent,
			Head: d.Head, TailMass: d.TailMass, Order: schedule.Order(d.Order), From: d.From, To: d.To,
		}
		for _, c := range d.Choices {
			spec.Values = append(spec.Values, c.Value)
			spec.Weights = append(spec.Weights, c.Weight)
		}
		if spec.Kind == schedule.FileKind {
			spec.Lines = bytes.NewReader(d.Content)
		}
		var given [][]byte
		if spec.Kind == schedule.ProfileKind {
			if spec.Count == 0 {
				return nil, fmt.Errorf("data source %q: its profile was not read", d.Name)
			}
			if len(d.Content) > 0 {
				given = valueLines(d.Content)
				spec.First = 0
				shorten(&spec, uint64(len(given)))
			}
		}
		s, err := schedule.NewSource(spec)
		if err != nil {
			return nil, err
		}
		if given != nil {
			s = &named{Source: s, values: given}
		}
		all[d.Name] = s
	}
	return all, nil
}

// valueLines are the lines of a file that hold something.
func valueLines(content []byte) (all [][]byte) {
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	for line := range bytes.Lines(content) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
			all = append(all, line)
		}
	}
	return all
}

// shorten leaves the most popular n identifiers, where there are more.
func shorten(spec *schedule.SourceSpec, n uint64) {
	if spec.Count <= n {
		return
	}
	spec.Count = n
	if uint64(len(spec.Head)) >= n {
		spec.Head, spec.TailMass = spec.Head[:n], 0
	}
}

// named draws the lines of a file with the popularity of numbers from 0 on.
type named struct {
	schedule.Source
	values [][]byte
}

// Append implements schedule.Source.
func (s *named) Append(dst []byte, seed, arrival uint64) []byte {
	return s.AppendNth(dst, seed, arrival, 0)
}

// AppendNth implements schedule.Source.
func (s *named) AppendNth(dst []byte, seed, arrival, occurrence uint64) []byte {
	from := len(dst)
	dst = s.Source.AppendNth(dst, seed, arrival, occurrence)
	n, err := strconv.ParseUint(string(dst[from:]), 10, 64)
	if err != nil || n >= uint64(len(s.values)) { // the numbers are below the count, which is at most that of the lines
		return dst[:from]
	}
	return append(dst[:from], s.values[n]...)
}
