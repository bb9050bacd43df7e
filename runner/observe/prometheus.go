package observe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"headroom/store/record"
)

const (
	maxMetricsBytes = 16 << 20
	maxSeries       = 500
)

// Prometheus reads metrics that a program shows in Prometheus's text format.
// Each series is the sum over all label values of one metric, or over those
// that a selector such as http_requests_total{code="500"} lets through.
type Prometheus struct {
	url       string
	client    *http.Client
	selectors []selector
}

// NewPrometheus makes a collector of the selected metrics. With none selected
// it reads the address once and takes all counters and gauges that it finds, up
// to 500. Errors never hold the address.
func NewPrometheus(ctx context.Context, url string, only []string) (*Prometheus, error) {
	p := &Prometheus{url: url, client: &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       10 * time.Second,
	}}
	for _, s := range only {
		sel, err := parseSelector(s)
		if err != nil {
			return nil, err
		}
		p.selectors = append(p.selectors, sel)
	}
	if len(only) > 0 {
		return p, nil
	}
	families, err := p.scrape(ctx)
	if err != nil && len(families) == 0 {
		return nil, err
	}
	for name, f := range families {
		switch f.GetType() {
		case dto.MetricType_COUNTER, dto.MetricType_GAUGE, dto.MetricType_UNTYPED:
			p.selectors = append(p.selectors, selector{text: name, name: name})
		}
	}
	if len(p.selectors) > maxSeries {
		return nil, fmt.Errorf("prometheus: %d metrics; name those to keep under only (at most %d)", len(p.selectors), maxSeries)
	}
	slices.SortFunc(p.selectors, func(a, b selector) int { return strings.Compare(a.name, b.name) })
	return p, nil
}

// Series implements Collector.
func (p *Prometheus) Series() []record.SeriesInfo {
	var all []record.SeriesInfo
	for i, s := range p.selectors {
		unit := "count"
		switch base := strings.TrimSuffix(s.name, "_total"); {
		case strings.HasSuffix(base, "_bytes"):
			unit = "bytes"
		case strings.HasSuffix(base, "_seconds"), strings.HasSuffix(base, "_seconds_sum"):
			unit = "seconds"
		case strings.HasSuffix(base, "_ratio"):
			unit = "ratio"
		}
		all = append(all, record.SeriesInfo{ID: i, Name: s.text, Source: "prometheus", Unit: unit})
	}
	return all
}

// Collect implements Collector.
func (p *Prometheus) Collect(ctx context.Context, at int64) ([]record.Sample, error) {
	families, err := p.scrape(ctx)
	if len(families) == 0 && err != nil {
		return nil, err
	}
	var samples []record.Sample
	var missing []string
	for i, s := range p.selectors {
		v, found := s.sum(families)
		switch {
		case !found:
			missing = append(missing, s.text)
		case !math.IsNaN(v) && !math.IsInf(v, 0):
			samples = append(samples, record.Sample{Series: i, AtNS: at, Value: v})
		}
	}
	if len(missing) > 0 {
		err = errors.Join(err, fmt.Errorf("prometheus: no metric %s in the answer", strings.Join(missing, ", ")))
	}
	return samples, err
}

// scrape reads the metrics once. A bad line ends the reading; what came before
// it is returned beside the error.
func (p *Prometheus) scrape(ctx context.Context) (families map[string]*dto.MetricFamily, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url, nil)
	if err != nil {
		return nil, errors.New("prometheus: the address is not a URL")
	}
	req.Header.Set("Accept", "text/plain;version=0.0.4")
	res, err := p.client.Do(req)
	if err != nil {
		return nil, errors.New("prometheus: no answer")
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("prometheus: status %d", res.StatusCode)
	}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind != "text/plain" && kind != "application/openmetrics-text" && kind != "" {
		return nil, fmt.Errorf("prometheus: the answer is %q, not metrics as text", kind)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxMetricsBytes+1))
	if err != nil {
		return nil, errors.New("prometheus: the answer broke off")
	}
	if len(body) > maxMetricsBytes {
		return nil, fmt.Errorf("prometheus: the answer is longer than %d MB", maxMetricsBytes>>20)
	}
	return parseMetrics(body)
}

func parseMetrics(body []byte) (families map[string]*dto.MetricFamily, err error) {
	defer func() {
		if recover() != nil {
			families, err = nil, errors.New("prometheus: the answer can't be read")
		}
	}()
	body = append(bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")), '\n')
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err = parser.TextToMetricFamilies(bytes.NewReader(body))
	if err != nil {
		err = errors.New("prometheus: a line of the answer can't be read")
	}
	return families, err
}

// selector is a metric's name and label values that must match.
type selector struct {
	text, name string
	labels     map[string]string
}

func parseSelector(text string) (selector, error) {
	bad := fmt.Errorf("prometheus: %q is not a metric; write name or name{label=\"value\"}", text)
	s := selector{text: text, name: text}
	name, rest, labelled := strings.Cut(text, "{")
	if labelled {
		s.name = name
		families, err := parseMetrics([]byte(text + " 0"))
		if err != nil || len(families) != 1 || !strings.HasSuffix(rest, "}") {
			return selector{}, bad
		}
		s.labels = map[string]string{}
		for _, f := range families {
			for _, l := range f.GetMetric()[0].GetLabel() {
				s.labels[l.GetName()] = l.GetValue()
			}
		}
	}
	if !model.LegacyValidation.IsValidMetricName(s.name) {
		return selector{}, bad
	}
	return s, nil
}

// sum adds what the selector lets through. name_count and name_sum are the
// parts of a histogram or summary.
func (s selector) sum(families map[string]*dto.MetricFamily) (v float64, found bool) {
	if f, ok := families[s.name]; ok {
		for _, m := range f.GetMetric() {
			if !s.matches(m) {
				continue
			}
			// The metric of a line that could not be read to its end has no value.
			switch {
			case m.GetCounter() != nil:
				v += m.GetCounter().GetValue()
			case m.GetGauge() != nil:
				v += m.GetGauge().GetValue()
			case m.GetUntyped() != nil:
				v += m.GetUntyped().GetValue()
			default:
				continue
			}
			found = true
		}
		return v, found
	}
	for _, part := range []string{"_count", "_sum"} {
		base, ok := strings.CutSuffix(s.name, part)
		f := families[base]
		if !ok || f == nil {
			continue
		}
		for _, m := range f.GetMetric() {
			if !s.matches(m) || m.GetHistogram() == nil && m.GetSummary() == nil {
				continue
			}
			found = true
			if part == "_sum" {
				v += m.GetHistogram().GetSampleSum() + m.GetSummary().GetSampleSum()
			} else {
				v += float64(m.GetHistogram().GetSampleCount() + m.GetSummary().GetSampleCount())
			}
		}
	}
	return v, found
}

func (s selector) matches(m *dto.Metric) bool {
	left := len(s.labels)
	for _, l := range m.GetLabel() {
		if want, ok := s.labels[l.GetName()]; ok {
			if want != l.GetValue() {
				return false
			}
			left--
		}
	}
	return left == 0
}
