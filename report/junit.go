package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"headroom/analyze"
)

// JUnit tells the gates as a JUnit file: one suite for the run, one case a gate,
// and one for trust. A gate without data, or one that can't be judged, is an
// error; a failed gate is a failure. Each case has at most one of them, as
// Jenkins keeps only one. Facts of the run are the suite's properties.
func JUnit(a *analyze.Analysis) ([]byte, error) {
	w := &english
	suite := junitSuite{Name: "headroom"}
	if r := a.Run; r != nil {
		suite.Name = plainText(r.Name)
		suite.Timestamp = r.Started
		suite.Time = strconv.FormatFloat(r.DurationS, 'f', 3, 64)
		for _, p := range [][2]string{{"run", r.ID}, {"release", r.Release}, {"state", r.State}, {"evidence_digest", r.EvidenceDigest}, {"comparable_key", r.ComparableKey}, {"tool_version", r.ToolVersion}} {
			suite.property(p[0], p[1])
		}
		for _, k := range slices.Sorted(maps.Keys(r.Facts.Target)) {
			suite.property("target "+k, r.Facts.Target[k])
		}
	}
	suite.property("verdict", string(a.Verdict))
	trust := junitCase{Class: "trust", Name: "the generator's own numbers can be trusted"}
	switch {
	case a.Trust == nil:
		trust.Error = &junitProblem{Message: "not judged"}
	case a.Trust.Verdict == "untrusted":
		trust.Error = &junitProblem{Message: plainText(w.list(a.Trust.Reasons)), Type: "untrusted"}
	}
	suite.Cases = append(suite.Cases, trust)
	for i := range a.Gates {
		g := &a.Gates[i]
		c := junitCase{Class: "gate", Name: plainText(g.Rule)}
		message := fmt.Sprintf("%s: measured %s, limit %s", g.Rule, w.gateValue(g), w.withUnit(g.Limit, g.Unit))
		if why := w.gateWhy(g); why != "" {
			message += " (" + why + ")"
		}
		p := &junitProblem{Message: plainText(message), Type: plainText(string(g.Outcome)), Text: plainText(a.Sentence.EN)}
		switch g.Outcome {
		case analyze.Pass:
		case analyze.Fail:
			c.Failure = p
		default:
			c.Error = p
		}
		suite.Cases = append(suite.Cases, c)
	}
	suite.Tests = len(suite.Cases)
	for _, c := range suite.Cases {
		if c.Failure != nil {
			suite.Failures++
		}
		if c.Error != nil {
			suite.Errors++
		}
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	e := xml.NewEncoder(&b)
	e.Indent("", "  ")
	if err := e.Encode(junitSuites{Suites: []junitSuite{suite}}); err != nil {
		return nil, fmt.Errorf("junit: %w", err)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Time       string          `xml:"time,attr,omitempty"` // seconds
	Timestamp  string          `xml:"timestamp,attr,omitempty"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

func (s *junitSuite) property(name, value string) {
	if value != "" {
		s.Properties = append(s.Properties, junitProperty{plainText(name), plainText(value)})
	}
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitProblem `xml:"failure"`
	Error   *junitProblem `xml:"error"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}
