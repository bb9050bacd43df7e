package schedule

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Kind is where the values of a source come from.
type Kind string

// The kinds of source.
const (
	ChoiceKind  Kind = "choice"  // some texts with weights
	ZipfKind    Kind = "zipf"    // identifiers of Zipf popularity
	ProfileKind Kind = "profile" // identifiers of a measured popularity: a head of counts and a Zipf tail
	FileKind    Kind = "file"    // the lines of a file
	RangeKind   Kind = "range"   // whole numbers, equally likely
)

// Order is how the lines of a file are taken.
type Order string

// The orders.
const (
	Sequential Order = "sequential" // arrival n takes line n, from the first again after the last
	Random     Order = "random"     // every line equally likely
)

// SourceSpec describes a data source of a plan. Only the fields of its kind count.
type SourceSpec struct {
	Name string
	Kind Kind

	Values  []string // choice; their order does not matter
	Weights []float64

	Count    uint64 // zipf, profile: number of identifiers; they are First to First+Count-1
	First    uint64
	Exponent float64 // zipf: of all ranks; profile: of the tail

	Head     []float64 // profile: requests of the most popular identifiers, most popular first; may be empty
	TailMass float64   // profile: requests of all identifiers beyond the head, together

	Lines io.Reader // file; read to its end by NewSource, at most MaxFileBytes
	Order Order

	From, To int64 // range, both included
}

// Source makes the values of a placeholder. A value is a function of the seed,
// the source's name, the arrival's number and the occurrence alone, so any
// request can be made again, in any order and on any machine. Sources are
// immutable, safe for concurrent use, and allocate nothing while appending.
type Source interface {
	// Append appends the value of an arrival, which is its occurrence 0.
	Append(dst []byte, seed, arrival uint64) []byte
	// AppendNth appends a further, independent value of the same arrival.
	AppendNth(dst []byte, seed, arrival, occurrence uint64) []byte
	// Distinct is how many different values there are.
	Distinct() uint64
	// Probability is the share of draws that take the value of a popularity
	// rank, 1 for the most popular; 0 beyond Distinct.
	Probability(rank uint64) float64
}

// NewSource makes a source. Errors name the source and what to do.
func NewSource(spec SourceSpec) (Source, error) {
	s, err := newSource(spec)
	if err != nil {
		return nil, fmt.Errorf("data source %q: %w", spec.Name, err)
	}
	return s, nil
}

func newSource(spec SourceSpec) (Source, error) {
	if spec.Name == "" {
		return nil, errors.New("it has no name")
	}
	k := keyed{hash("data/" + spec.Name)}
	switch spec.Kind {
	case ChoiceKind:
		return newChoice(k, spec)
	case ZipfKind:
		return newIdentifiers(k, spec, nil, 1)
	case ProfileKind:
		return newProfile(k, spec)
	case FileKind:
		return newLines(k, spec)
	case RangeKind:
		if spec.To < spec.From {
			return nil, fmt.Errorf("range %d to %d is empty; give the lower end first", spec.From, spec.To)
		}
		return &span{keyed: k, from: spec.From, n: uint64(spec.To) - uint64(spec.From) + 1}, nil
	}
	return nil, fmt.Errorf("unknown kind %q; known are choice, zipf, profile, file and range", spec.Kind)
}

// keyed is the part of a draw that depends on the source's name.
type keyed struct{ name uint64 }

func (k keyed) key(seed uint64) uint64 { return mix(mix(seed+golden) ^ k.name) }

// choice is one of some texts.
type choice struct {
	keyed
	values []string
	alias  *Alias
	shares []float64 // falling
}

func newChoice(k keyed, spec SourceSpec) (Source, error) {
	if len(spec.Values) != len(spec.Weights) {
		return nil, fmt.Errorf("%d values but %d weights", len(spec.Values), len(spec.Weights))
	}
	order := make([]int, len(spec.Values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(spec.Values[a], spec.Values[b]) })
	c := &choice{keyed: k}
	var weights []float64
	var sum float64
	for _, i := range order {
		if n := len(c.values); n > 0 && c.values[n-1] == spec.Values[i] {
			return nil, fmt.Errorf("the value %q is given twice", spec.Values[i])
		}
		c.values = append(c.values, spec.Values[i])
		weights = append(weights, spec.Weights[i])
		sum += spec.Weights[i]
	}
	var err error
	if c.alias, err = NewAlias(weights); err != nil {
		return nil, err
	}
	for _, w := range weights {
		c.shares = append(c.shares, w/sum)
	}
	slices.Sort(c.shares)
	slices.Reverse(c.shares)
	return c, nil
}

// Append implements Source.
func (c *choice) Append(dst []byte, seed, arrival uint64) []byte {
	return c.AppendNth(dst, seed, arrival, 0)
}

// AppendNth implements Source.
func (c *choice) AppendNth(dst []byte, seed, arrival, occurrence uint64) []byte {
	s := draw(c.key(seed), arrival, occurrence)
	return append(dst, c.values[c.alias.Pick(s.Uint64())]...)
}

// Distinct implements Source.
func (c *choice) Distinct() uint64 { return uint64(len(c.values)) }

// Probability implements Source.
func (c *choice) Probability(rank uint64) float64 {
	if rank < 1 || rank > c.Distinct() {
		return 0
	}
	return c.shares[rank-1]
}

// span is a whole number of a range.
type span struct {
	keyed
	from int64
	n    uint64 // 0 means 2^64
}

// Append implements Source.
func (r *span) Append(dst []byte, seed, arrival uint64) []byte {
	return r.AppendNth(dst, seed, arrival, 0)
}

// AppendNth implements Source.
func (r *span) AppendNth(dst []byte, seed, arrival, occurrence uint64) []byte {
	s := draw(r.key(seed), arrival, occurrence)
	v := uint64(r.from)
	if r.n == 0 {
		v += s.Uint64()
	} else {
		v += s.Below(r.n)
	}
	return strconv.AppendInt(dst, int64(v), 10)
}

// Distinct implements Source.
func (r *span) Distinct() uint64 {
	if r.n == 0 {
		return 1<<64 - 1
	}
	return r.n
}

// Probability implements Source.
func (r *span) Probability(rank uint64) float64 {
	if rank < 1 || rank > r.Distinct() {
		return 0
	}
	return 1 / float64(r.Distinct())
}
