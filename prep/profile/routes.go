package profile

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"strings"
)

// routes is a tree of the segments of paths. Segments that look like an
// identifier are folded at once; where a place has more words than a program
// would have names, they are identifiers as well and are folded from there on.
type routes struct {
	seed  maphash.Seed
	pool  *pool
	root  *node
	nodes int
	odd   *node
	full  bool // no more nodes: a guard against paths made up by the thousand
}

const (
	mostNodes    = 20_000
	mostDepth    = 12
	mostParams   = 24 // query parameters of a route
	mostTables   = 1500
	mostWords    = 100 // different words in one place
	mostTopWords = 400 // in the first
)

type node struct {
	name     string
	kind     kind
	parent   *node
	depth    int
	children map[uint64]*node
	words    int
	folded   bool  // words are folded
	forced   bool  // named by the user
	param    *node // the user's parameter for all that has no forced name
	through  uint64
	values   *keys // of a folded segment
	here     *traffic
}

func newRoutes(seed maphash.Seed, p *pool, patterns []string) (*routes, error) {
	r := &routes{seed: seed, pool: p, root: &node{}}
	r.odd = &node{name: kindNames[odd], kind: odd, depth: 1, parent: r.root}
	for _, pattern := range patterns {
		if err := r.force(pattern); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// force makes the nodes of a pattern such as /users/{name}/posts.
func (r *routes) force(pattern string) error {
	rest, ok := strings.CutPrefix(pattern, "/")
	if !ok || strings.ContainsAny(pattern, "?# ") {
		return fmt.Errorf("route %q: a pattern is a path such as /users/{name}/posts", pattern)
	}
	n := r.root
	for seg := range strings.SplitSeq(rest, "/") {
		if strings.HasPrefix(seg, "{") && strings.HasSuffix(seg, "}") && len(seg) > 2 {
			if n.param == nil {
				n.param = r.newNode(n, seg, many)
				n.param.forced = true
			} else if n.param.name != seg {
				return fmt.Errorf("route %q: %s was %s in an earlier pattern", pattern, seg, n.param.name)
			}
			n = n.param
			continue
		}
		if strings.ContainsAny(seg, "{}*") {
			return fmt.Errorf("route %q: a segment is a word or a {name}, not %q", pattern, seg)
		}
		key := maphash.String(r.seed, seg)
		child := n.children[key]
		if child == nil {
			child = r.newNode(n, seg, word)
			child.forced = true
			r.adopt(n, key, child)
		}
		n = child
	}
	return nil
}

func (r *routes) newNode(parent *node, name string, k kind) *node {
	r.nodes++
	return &node{name: name, kind: k, parent: parent, depth: parent.depth + 1}
}

func (r *routes) adopt(parent *node, key uint64, child *node) {
	if parent.children == nil {
		parent.children = map[uint64]*node{}
	}
	parent.children[key] = child
}

// find returns the node of a path and counts a request through each node on
// the way, with the value of each folded segment.
func (r *routes) find(path []byte) *node {
	n := r.root
	n.through++
	if len(path) > 0 && path[0] == '/' {
		path = path[1:]
	}
	for more := true; more; {
		var seg []byte
		if i := bytes.IndexByte(path, '/'); i >= 0 {
			seg, path = path[:i], path[i+1:]
			if len(seg) == 0 { // two slashes
				continue
			}
		} else {
			seg, more = path, false
		}
		if n.depth >= mostDepth {
			n = r.fold(n, deep, nil)
			n.through++
			return n
		}
		n = r.step(n, seg)
		n.through++
	}
	return n
}

// step goes from a node to the one of a segment.
func (r *routes) step(n *node, seg []byte) *node {
	h := maphash.Bytes(r.seed, seg)
	if n.param != nil {
		if child := n.children[h]; child != nil && child.forced {
			return child
		}
		r.count(n.param, h)
		return n.param
	}
	k, ending := classify(seg)
	if child := n.children[h]; child != nil && child.kind == word && (k == word || child.forced) {
		return child
	}
	if k == word && len(seg) > 0 {
		switch {
		case n.folded:
			k = many
		case r.full:
			k = rare
		}
	}
	if k != word {
		child := r.fold(n, k, ending)
		r.count(child, h)
		return child
	}
	if r.nodes >= mostNodes {
		r.full = true
		child := r.fold(n, rare, ending)
		r.count(child, h)
		return child
	}
	child := r.newNode(n, string(seg), word)
	r.adopt(n, h, child)
	if len(seg) > 0 {
		n.words++
	}
	if n.words > mostWords && (n.depth > 0 || n.words > mostTopWords) {
		r.foldWords(n, func(*node) kind { return many })
		n.folded = true
		return r.step(n, seg)
	}
	return child
}

// fold returns the child of a node for segments of a kind.
func (r *routes) fold(n *node, k kind, ending []byte) *node {
	var buf [48]byte
	key := append(buf[:0], '{', byte(k), '.')
	key = append(key, ending...)
	h := maphash.Bytes(r.seed, key)
	child := n.children[h]
	if child == nil {
		name := kindNames[k]
		if ending != nil {
			name += "." + string(ending)
		}
		child = r.newNode(n, name, k)
		r.adopt(n, h, child)
	}
	return child
}

// count counts a value of a folded segment.
func (r *routes) count(n *node, h uint64) {
	if n.kind == deep {
		return
	}
	if n.values == nil {
		if len(r.pool.tables) >= mostTables {
			return
		}
		n.values = r.pool.newKeys(true)
	}
	n.values.add(h)
}

// foldWords moves the words of a node into a folded child, those for which
// into does not answer word.
func (r *routes) foldWords(n *node, into func(*node) kind) {
	for h, child := range n.children {
		if child.kind != word || child.forced || child.name == "" {
			continue
		}
		k := into(child)
		if k == word {
			continue
		}
		delete(n.children, h)
		n.words--
		target := r.fold(n, k, endingOf([]byte(child.name)))
		if target.values == nil && len(r.pool.tables) < mostTables {
			target.values = r.pool.newKeys(true)
		}
		if target.values != nil {
			target.values.addMany(h, child.through)
		}
		r.merge(target, child)
	}
}

// merge adds one node and all below it to another.
func (r *routes) merge(to, from *node) {
	r.nodes--
	to.through += from.through
	switch {
	case from.here == nil:
	case to.here == nil:
		to.here = from.here
	default:
		to.here.merge(from.here, r.pool)
	}
	switch {
	case from.values == nil:
	case to.values == nil:
		to.values = from.values
	default:
		to.values.merge(from.values)
	}
	to.folded = to.folded || from.folded
	for h, child := range from.children {
		if same := to.children[h]; same != nil {
			r.merge(same, child)
			continue
		}
		child.parent = to
		r.adopt(to, h, child)
		if child.kind == word && child.name != "" {
			to.words++
		}
	}
	if to.folded || to.words > mostWords {
		to.folded = true
		r.foldWords(to, func(*node) kind { return many })
	}
}

// foldRare folds the words that have too few requests, from the root down.
func (r *routes) foldRare(n *node) {
	into := rare
	if n.folded {
		into = many
	}
	r.foldWords(n, func(c *node) kind {
		if c.through < Fold {
			return into
		}
		return word
	})
	for h, c := range n.children { // an ending of few is folded as well
		if c.kind != word && !c.forced && c.through < Fold && c.name != kindNames[c.kind] {
			delete(n.children, h)
			r.merge(r.fold(n, c.kind, nil), c)
		}
	}
	for _, c := range n.children {
		r.foldRare(c)
	}
	if n.param != nil {
		r.foldRare(n.param)
	}
}

// template is the path of a node.
func (n *node) template() string {
	if n.kind == odd {
		return n.name
	}
	if n.parent == nil {
		return "/"
	}
	var parts []string
	for ; n.parent != nil; n = n.parent {
		parts = append(parts, n.name)
	}
	var b strings.Builder
	for i := len(parts) - 1; i >= 0; i-- {
		b.WriteByte('/')
		b.WriteString(parts[i])
	}
	return b.String()
}

// all calls f for the node and all below it.
func (n *node) all(f func(*node)) {
	f(n)
	for _, c := range n.children {
		c.all(f)
	}
	if n.param != nil {
		n.param.all(f)
	}
}
