package profile

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"slices"

	"headroom/prep/accesslog"
)

// Options say how to read. Zero values mean: find the format out, all requests
// are in the logs, learn the routes.
type Options struct {
	Format   string   // nginx log_format or Apache LogFormat; empty to find it out
	Sampled  float64  // share of requests that the logs hold, in (0,1]; 0 means 1
	Routes   []string // patterns such as /users/{name}/posts
	Progress func(Progress)
}

// Progress is how far the reading is.
type Progress struct {
	Input  int   // the log being read, from 0
	Bytes  int64 // read so far, as stored, of all logs
	Size   int64 // of all logs, 0 where unknown
	Parsed uint64
}

// firstLines is how many lines of each kind of fault are numbered.
const firstLines = 5

var errFirst = errors.New("the first request is known")

// learner is what Read gathers.
type learner struct {
	o        Options
	seed     maphash.Seed
	secret   [32]byte
	pool     *pool
	routes   *routes
	arrivals *arrivals
	clients  *keys
	paths    *keys
	urls     *keys
	lines    Lines
	status   [1000]uint64
	methods  []uint64
	bytes    sizes
	service  sizes
	anon     uint64 // requests without a client
	clocks   []*clocks
	spans    [][2]int64 // seconds covered by each input, for overlaps
}

// Read learns a profile from logs in one pass. The logs are read in order of
// their first stamps, whatever the order that they are given in. A line that
// cannot be read is counted and never an error; a log that cannot be opened,
// or a wrong format string, is. Read stops with the context's error.
func Read(ctx context.Context, inputs []Input, o Options) (*Profile, error) {
	if o.Sampled == 0 {
		o.Sampled = 1
	}
	if !(o.Sampled > 0 && o.Sampled <= 1) {
		return nil, fmt.Errorf("a sample of %g; it must be above 0 and at most 1 (100 %%)", o.Sampled)
	}
	if len(inputs) == 0 {
		return nil, errors.New("no log is given")
	}
	var format *accesslog.Format
	if o.Format != "" {
		var err error
		if format, err = accesslog.Compile(o.Format); err != nil {
			return nil, err
		}
	}
	l := &learner{o: o, seed: maphash.MakeSeed(), pool: &pool{most: poolSlots}, arrivals: newArrivals(), methods: make([]uint64, len(methods))}
	if _, err := rand.Read(l.secret[:]); err != nil {
		return nil, err
	}
	var err error
	if l.routes, err = newRoutes(l.seed, l.pool, o.Routes); err != nil {
		return nil, err
	}
	l.clients, l.paths, l.urls = l.pool.newKeys(false), l.pool.newKeys(false), l.pool.newKeys(true)
	l.lines = Lines{
		Rejected: map[string]uint64{}, FirstRejected: map[string][]int{}, RejectedInput: map[string][]int{},
		Formats: map[string]uint64{}, Inputs: len(inputs),
	}
	order, err := inOrder(ctx, inputs, format)
	if err != nil {
		return nil, err
	}
	var before, size int64
	for _, in := range inputs {
		size += in.Size
		if in.Size == 0 {
			size = math.MinInt64 // unknown for good
		}
	}
	for _, i := range order {
		n, err := l.readOne(ctx, inputs[i], i, format, before, max(size, 0))
		if err != nil {
			return nil, err
		}
		before += n
	}
	return l.finish(), nil
}

// inOrder returns the inputs' indices in order of their first stamps; those
// without one keep their place at the end.
func inOrder(ctx context.Context, inputs []Input, format *accesslog.Format) ([]int, error) {
	order := make([]int, len(inputs))
	for i := range order {
		order[i] = i
	}
	if len(inputs) == 1 {
		return order, nil
	}
	first := make([]int64, len(inputs))
	for i, in := range inputs {
		first[i] = math.MaxInt64
		if in.Once {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := in.Open()
		if err != nil {
			return nil, err
		}
		r, free, err := unpacked(f)
		if err == nil {
			p := accesslog.NewParser(format)
			var e accesslog.Entry
			n := 0
			_, err = lines(r, func(line []byte, _ bool) error {
				if n++; n > 2000 {
					return errFirst
				}
				if p.Parse(line, &e) == "" {
					first[i] = e.At
					return errFirst
				}
				return nil
			})
			free()
		}
		f.Close()
		if err != nil && !errors.Is(err, errFirst) {
			return nil, fmt.Errorf("%s: %w", in.Name, err)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case first[a] < first[b]:
			return -1
		case first[a] > first[b]:
			return 1
		}
		return 0
	})
	return order, nil
}

func (l *learner) readOne(ctx context.Context, in Input, index int, format *accesslog.Format, before, size int64) (int64, error) {
	f, err := in.Open()
	if err != nil {
		return 0, err
	}
	defer f.Close()
	raw := &counter{r: f}
	if l.o.Progress != nil {
		told := int64(0)
		raw.tell = func(n int64) {
			if n-told >= 8<<20 {
				told = n
				l.o.Progress(Progress{Input: index, Bytes: before + n, Size: size, Parsed: l.lines.Parsed})
			}
		}
	}
	r, free, err := unpacked(raw)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", in.Name, err)
	}
	defer free()
	p := accesslog.NewParser(format)
	watch := &clocks{}
	l.clocks = append(l.clocks, watch)
	var e accesslog.Entry
	number := 0
	cut, err := lines(r, func(line []byte, tooLong bool) error {
		number++
		if number&0xfff == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		reason := accesslog.TooLong
		if !tooLong {
			reason = p.Parse(line, &e)
		}
		l.lines.Read++
		switch reason {
		case "":
			l.lines.Parsed++
			watch.see(&e)
			l.learn(&e)
		case accesslog.Directive:
			l.lines.Directives++
		case accesslog.Blank:
			l.lines.Blank++
		default:
			l.reject(string(reason), number, index)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	if cut != nil {
		l.lines.CutInputs++
	}
	for name, n := range p.Formats() {
		l.lines.Formats[name] += n
	}
	if watch.any {
		l.spans = append(l.spans, [2]int64{watch.least, watch.most})
	}
	return raw.n, nil
}

func (l *learner) reject(reason string, line, input int) {
	l.lines.Rejected[reason]++
	if first := l.lines.FirstRejected[reason]; len(first) < firstLines {
		l.lines.FirstRejected[reason] = append(first, line)
		l.lines.RejectedInput[reason] = append(l.lines.RejectedInput[reason], input+1)
	}
}

func (l *learner) learn(e *accesslog.Entry) {
	at := e.Arrival()
	l.arrivals.add(at, e.Fraction)
	l.status[e.Status]++
	if e.Bytes >= 0 {
		l.bytes.add(uint64(e.Bytes))
	}
	if e.Service >= 0 {
		l.service.add(uint64(e.Service) / 1000)
	}
	if len(e.Client) > 0 {
		l.clients.add(maphash.Bytes(l.seed, e.Client))
	} else {
		l.anon++
	}
	hour := int(max(at, 0) / 3600e9 % 24)
	if e.Odd {
		l.methods[0]++
		l.routes.odd.traffic().add(0, e, hour)
		return
	}
	m := methodIndex(e.Method)
	l.methods[m]++
	path := maphash.Bytes(l.seed, e.Path)
	l.paths.add(path)
	url := path
	if len(e.Query) > 0 {
		url = mix(path) ^ maphash.Bytes(l.seed, e.Query)
	}
	l.urls.add(url)
	t := l.routes.find(e.Path).traffic()
	t.add(m, e, hour)
	if len(e.Query) > 0 {
		t.query(e.Query, l.seed, l.pool)
	}
}

func (n *node) traffic() *traffic {
	if n.here == nil {
		n.here = &traffic{}
	}
	return n.here
}

// mix spreads the bits of a hash.
func mix(h uint64) uint64 {
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 27
	h *= 0x94d049bb133111eb
	return h ^ h>>31
}
