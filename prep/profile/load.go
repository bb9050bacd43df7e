package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"
)

// maxProfile bounds the files that Load reads, in bytes.
const maxProfile = 64 << 20

// Load reads the profile in a file. It is strict: another schema, unknown
// keys, more than one value and numbers that contradict each other are errors.
func Load(path string) (*Profile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxProfile+1))
	if err != nil {
		return nil, err
	}
	p, err := Decode(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// Decode reads a profile as Load does.
func Decode(raw []byte) (*Profile, error) {
	if len(raw) > maxProfile {
		return nil, fmt.Errorf("larger than %d MB; a profile has a few hundred kB at most", maxProfile>>20)
	}
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, fmt.Errorf("not a profile: %w", err)
	}
	if head.Schema != Schema {
		if strings.HasPrefix(head.Schema, "headroom.profile/") {
			return nil, fmt.Errorf("its schema is %s, this headroom reads %s; make it again with prep profile", head.Schema, Schema)
		}
		return nil, fmt.Errorf("not a profile: its schema is %q, not %s; prep profile writes one", head.Schema, Schema)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	p := &Profile{}
	if err := d.Decode(p); err != nil {
		return nil, fmt.Errorf("not a profile that this headroom knows: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("not a profile: there is something behind it")
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("damaged profile: %w", err)
	}
	return p, nil
}

// check finds numbers that no reading of logs gives.
func (p *Profile) check() error {
	l := p.Lines
	sum := l.Parsed + l.Directives + l.Blank
	for _, n := range l.Rejected {
		sum += n
	}
	switch {
	case sum != l.Read:
		return fmt.Errorf("%d lines read, but %d accounted for", l.Read, sum)
	case p.Requests != l.Parsed:
		return fmt.Errorf("%d requests, but %d lines parsed", p.Requests, l.Parsed)
	case p.Sampled < 0 || p.Sampled > 1:
		return fmt.Errorf("sampled %g is not within 0 and 1", p.Sampled)
	case p.RateCurve.StepS < 0 || (len(p.RateCurve.RPS) > 0 && !(p.RateCurve.StepS > 0)):
		return fmt.Errorf("rate_curve.step_s %g", p.RateCurve.StepS)
	}
	for _, v := range p.RateCurve.RPS {
		if v < 0 {
			return fmt.Errorf("a rate of %g", v)
		}
	}
	for w, v := range p.Dispersion {
		if v < 0 {
			return fmt.Errorf("dispersion %g at %s", v, w)
		}
	}
	for _, s := range []string{p.Window.From, p.Window.To} {
		if _, err := time.Parse(time.RFC3339, s); err != nil && p.Requests > 0 {
			return fmt.Errorf("window: %w", err)
		}
	}
	var routes uint64
	for _, r := range p.Routes {
		routes += r.Requests
		if r.Share < 0 || r.Share > 1 || r.Template == "" {
			return fmt.Errorf("route %q has share %g", r.Template, r.Share)
		}
	}
	if routes != p.Requests {
		return fmt.Errorf("%d requests, but the routes have %d", p.Requests, routes)
	}
	for _, id := range p.Identifiers {
		if err := id.check(); err != nil {
			return fmt.Errorf("identifiers of %s (%s): %w", id.Route, id.At, err)
		}
	}
	return nil
}

func (id *Identifiers) check() error {
	last := uint64(math.MaxUint64)
	var n, sum uint64
	for _, h := range id.Head {
		if h[0] >= last || h[0] == 0 || h[1] == 0 || h[1] > HeadIDs {
			return errors.New("the counts of the head do not fall")
		}
		last = h[0]
		n += h[1]
		sum += h[0] * h[1]
	}
	switch {
	case n > HeadIDs:
		return fmt.Errorf("the head has %d values", n)
	case id.Exact && sum+id.Tail != id.Requests && len(id.Head) > 0:
		return fmt.Errorf("%d requests, but head and tail have %d", id.Requests, sum+id.Tail)
	case id.Population < n:
		return fmt.Errorf("a population of %d, but counts of %d", id.Population, n)
	case id.Population > 1<<48:
		return fmt.Errorf("a population of %d", id.Population)
	case id.Zipf != nil && math.Abs(id.Zipf.Exponent) > 20:
		return fmt.Errorf("an exponent of %g", id.Zipf.Exponent)
	}
	return nil
}

// Encode writes the profile as JSON, ending with a line end.
func (p *Profile) Encode(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(p)
}

// Shape returns a copy that keeps laws and no counts of single identifiers:
// exponent and number of identifiers make values with the same long tail.
func (p *Profile) Shape() *Profile {
	out := *p
	out.ShapeOnly = true
	out.Identifiers = slices.Clone(p.Identifiers)
	for i := range out.Identifiers {
		id := &out.Identifiers[i]
		id.Head, id.Pseudonyms = [][2]uint64{}, []string{}
		id.Tail = id.Requests
	}
	return &out
}
