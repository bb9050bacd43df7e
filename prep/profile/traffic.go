package profile

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strings"

	"headroom/prep/accesslog"
)

// traffic is what one route gets.
type traffic struct {
	by     []methodTraffic // few
	params []param
}

type methodTraffic struct {
	method   uint8 // index into methods
	requests uint64
	errors   uint64
	bytes    sizes
	service  sizes // microseconds
	hours    [24]uint32
}

// param is a query parameter.
type param struct {
	hash   uint64
	name   string
	seen   uint64
	values *keys
}

var methods = []string{
	"(odd request)", "(other)", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT",
	"PROPFIND", "PROPPATCH", "REPORT", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "PURGE", "SEARCH",
}

func methodIndex(m []byte) uint8 {
	switch string(m) {
	case "GET":
		return 2
	case "POST":
		return 4
	}
	for i := 2; i < len(methods); i++ {
		if methods[i] == string(m) {
			return uint8(i)
		}
	}
	return 1
}

func (t *traffic) of(method uint8) *methodTraffic {
	for i := range t.by {
		if t.by[i].method == method {
			return &t.by[i]
		}
	}
	t.by = append(t.by, methodTraffic{method: method})
	return &t.by[len(t.by)-1]
}

func (t *traffic) add(method uint8, e *accesslog.Entry, hour int) {
	m := t.of(method)
	m.requests++
	if e.Status >= 500 || e.Status == 0 {
		m.errors++
	}
	if e.Bytes >= 0 {
		m.bytes.add(uint64(e.Bytes))
	}
	if e.Service >= 0 {
		m.service.add(uint64(e.Service) / 1000)
	}
	m.hours[hour]++
}

// query counts the values of the parameters of a query.
func (t *traffic) query(q []byte, seed maphash.Seed, p *pool) {
	for len(q) > 0 {
		var pair []byte
		if i := bytes.IndexAny(q, "&;"); i >= 0 {
			pair, q = q[:i], q[i+1:]
		} else {
			pair, q = q, nil
		}
		eq := bytes.IndexByte(pair, '=')
		if eq < 1 || !parameterName(pair[:eq]) {
			continue
		}
		h := maphash.Bytes(seed, pair[:eq])
		i := slices.IndexFunc(t.params, func(p param) bool { return p.hash == h })
		if i < 0 {
			if len(t.params) >= mostParams || len(p.tables) >= mostTables {
				continue
			}
			i = len(t.params)
			t.params = append(t.params, param{hash: h, name: string(pair[:eq]), values: p.newKeys(true)})
		}
		t.params[i].seen++
		t.params[i].values.add(maphash.Bytes(seed, pair[eq+1:]))
	}
}

func (t *traffic) merge(o *traffic, p *pool) {
	for i := range o.by {
		from := &o.by[i]
		t.of(from.method).merge(from)
	}
	for _, from := range o.params {
		i := slices.IndexFunc(t.params, func(p param) bool { return p.hash == from.hash })
		switch {
		case i >= 0:
			t.params[i].seen += from.seen
			t.params[i].values.merge(from.values)
		case len(t.params) < mostParams:
			t.params = append(t.params, from)
		default:
			from.values.drop()
		}
	}
}

// names are the parameters that have enough requests to be kept, in order.
func (t *traffic) names() []string {
	out := []string{}
	for _, p := range t.params {
		if p.seen >= Fold {
			out = append(out, p.name)
		}
	}
	slices.SortFunc(out, strings.Compare)
	return out
}

func (m *methodTraffic) merge(o *methodTraffic) {
	m.requests += o.requests
	m.errors += o.errors
	m.bytes.merge(&o.bytes)
	m.service.merge(&o.service)
	for h, n := range o.hours {
		m.hours[h] += n
	}
}
