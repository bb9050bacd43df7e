package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
)

// bbolt maps a file into memory and follows page numbers without looking: a
// truncated file ends the process with SIGBUS, and a page that refers to itself
// is followed for ever. So the tree is checked here first, by plain reads of
// what bbolt is going to touch. The layout is the one of bbolt's version 2.

const (
	boltMagic   = 0xED0CDAED
	boltVersion = 2
	noFreelist  = ^uint64(0)

	pageHeader  = 16
	elementSize = 16
	metaSize    = 64
	bucketSize  = 16 // root page and sequence, in front of an inline page

	flagBranch   = 0x01
	flagLeaf     = 0x02
	flagMeta     = 0x04
	flagFreelist = 0x10

	maxDepth = 24
	maxKey   = 256
)

// meta is what a meta page says.
type meta struct {
	pageSize                    uint32
	root, freelist, pages, txid uint64
}

// metas reads both meta pages. It fails unless one of them is whole.
func metas(r io.ReaderAt, size int64) (m meta, both bool, err error) {
	if size == 0 {
		return m, false, fmt.Errorf("%w: the file is empty", ErrForeign)
	}
	buf := make([]byte, min(size, 2*pageSize))
	if _, err := r.ReadAt(buf, 0); err != nil && err != io.EOF {
		return m, false, err
	}
	if len(buf) < pageHeader+8 || binary.LittleEndian.Uint32(buf[pageHeader:]) != boltMagic {
		if len(buf) < 2*pageSize || binary.LittleEndian.Uint32(buf[pageSize+pageHeader:]) != boltMagic {
			return m, false, fmt.Errorf("%w: it does not begin like an evidence file", ErrForeign)
		}
	}
	if size < 4*pageSize {
		return m, false, damage("truncated to %d bytes", size)
	}
	whole := 0
	for i := range 2 {
		page := buf[i*pageSize : (i+1)*pageSize]
		next, ok := parseMeta(page)
		if !ok {
			continue
		}
		// bbolt would use this page, whatever else it says.
		if le := binary.LittleEndian; le.Uint64(page) != uint64(i) || le.Uint16(page[8:]) != flagMeta || next.pageSize != pageSize {
			return m, false, damage("its first pages are garbled")
		}
		whole++
		if whole == 1 || next.txid > m.txid {
			m = next
		}
	}
	if whole == 0 {
		return m, false, damage("both of its first pages are garbled")
	}
	if m.pages < 3 || m.pages > uint64(size)/pageSize {
		return m, false, damage("truncated: %d bytes of %d", size, int64(min(m.pages, 1<<40))*pageSize)
	}
	return m, whole == 2, nil
}

// parseMeta reads a meta page as bbolt does; ok is false where bbolt would not
// use it.
func parseMeta(page []byte) (m meta, ok bool) {
	le := binary.LittleEndian
	b := page[pageHeader : pageHeader+metaSize]
	h := fnv.New64a()
	_, _ = h.Write(b[:56]) // never fails
	if le.Uint32(b) != boltMagic || le.Uint32(b[4:]) != boltVersion || le.Uint64(b[56:]) != h.Sum64() {
		return meta{}, false
	}
	return meta{pageSize: le.Uint32(b[8:]), root: le.Uint64(b[16:]), freelist: le.Uint64(b[32:]), pages: le.Uint64(b[40:]), txid: le.Uint64(b[48:])}, true
}

// tree walks the pages of a file.
type tree struct {
	r     io.ReaderAt
	meta  meta
	seen  []uint64       // a bit for each page
	count map[string]int // values in each bucket
	only  string         // the only bucket to walk, "" for all
}

// checkPages checks every page that reading all buckets, or only one, can touch,
// and counts the values of those buckets.
func checkPages(r io.ReaderAt, m meta, only string) (map[string]int, error) {
	t := &tree{r: r, meta: m, seen: make([]uint64, m.pages/64+1), count: map[string]int{}, only: only}
	if err := t.claim(0, 1); err != nil {
		return nil, err
	}
	if only == "" {
		if err := t.freelist(); err != nil {
			return nil, err
		}
	}
	if err := t.walk(m.root, "", nil, nil, 0); err != nil {
		return nil, err
	}
	return t.count, nil
}

// claim marks the pages [first, last]; each may be claimed once.
func (t *tree) claim(first, last uint64) error {
	if last < first || last >= t.meta.pages {
		return damage("page %d of %d", last, t.meta.pages)
	}
	for p := first; p <= last; p++ {
		if t.seen[p/64]&(1<<(p%64)) != 0 {
			return damage("page %d is used twice", p)
		}
		t.seen[p/64] |= 1 << (p % 64)
	}
	return nil
}

// page is a page with its overflow; only the front is in memory.
type page struct {
	r     io.ReaderAt
	at    int64
	size  int64 // with overflow
	flags uint16
	count int
	front []byte
}

func (t *tree) open(id uint64) (*page, error) {
	if id < 2 || id >= t.meta.pages {
		return nil, damage("page %d of %d", id, t.meta.pages)
	}
	p := &page{r: t.r, at: int64(id) * pageSize, front: make([]byte, pageSize)}
	if _, err := t.r.ReadAt(p.front, p.at); err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	if le.Uint64(p.front) != id {
		return nil, damage("page %d says that it is page %d", id, le.Uint64(p.front))
	}
	p.flags, p.count = le.Uint16(p.front[8:]), int(le.Uint16(p.front[10:]))
	overflow := uint64(le.Uint32(p.front[12:]))
	p.size = int64(overflow+1) * pageSize
	return p, t.claim(id, id+overflow)
}

// bytes returns n bytes at an offset within the page.
func (p *page) bytes(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off+n > p.size {
		return nil, damage("a page refers beyond its end")
	}
	if off+n <= int64(len(p.front)) {
		return p.front[off : off+n], nil
	}
	b := make([]byte, n)
	_, err := p.r.ReadAt(b, p.at+off)
	return b, err
}

// element returns an element's header, key and where its value lies.
func (p *page) element(i int) (head, key []byte, value int64, err error) {
	off := int64(pageHeader + i*elementSize)
	if head, err = p.bytes(off, elementSize); err != nil {
		return nil, nil, 0, err
	}
	le := binary.LittleEndian
	pos, ksize, vsize := int64(le.Uint32(head)), int64(le.Uint32(head[4:])), int64(0)
	if p.flags == flagLeaf {
		pos, ksize, vsize = int64(le.Uint32(head[4:])), int64(le.Uint32(head[8:])), int64(le.Uint32(head[12:]))
	}
	if ksize == 0 || ksize > maxKey {
		return nil, nil, 0, damage("a key of %d bytes", ksize)
	}
	if value = off + pos + ksize; value+vsize > p.size {
		return nil, nil, 0, damage("a page refers beyond its end")
	}
	key, err = p.bytes(off+pos, ksize)
	return head, key, value, err
}

// walk checks the tree under a page whose keys lie in [low, high). bucket is ""
// for the tree of buckets.
func (t *tree) walk(id uint64, bucket string, low, high []byte, depth int) error {
	if depth > maxDepth {
		return damage("a tree deeper than %d pages", maxDepth)
	}
	p, err := t.open(id)
	if err != nil {
		return err
	}
	switch p.flags {
	case flagLeaf:
		return t.leaf(p, bucket, low, high)
	case flagBranch:
	default:
		return damage("page %d is of kind %#x", id, p.flags)
	}
	if p.count == 0 {
		return damage("page %d has no children", id)
	}
	_, key, _, err := p.element(0)
	for i := 0; i < p.count; i++ {
		if err != nil {
			return err
		}
		if outside(key, low, high) {
			return damage("the keys of page %d are out of order", id)
		}
		next := high
		if i+1 < p.count {
			if _, next, _, err = p.element(i + 1); err != nil {
				return err
			}
			if bytes.Compare(key, next) >= 0 {
				return damage("the keys of page %d are out of order", id)
			}
		}
		head, _, _, err := p.element(i)
		if err != nil {
			return err
		}
		if err := t.walk(binary.LittleEndian.Uint64(head[8:]), bucket, key, next, depth+1); err != nil {
			return err
		}
		key = next
	}
	return nil
}

func outside(key, low, high []byte) bool {
	return low != nil && bytes.Compare(key, low) < 0 || high != nil && bytes.Compare(key, high) >= 0
}

func (t *tree) leaf(p *page, bucket string, low, high []byte) error {
	if bucket != "" {
		t.count[bucket] += p.count
	}
	last := low
	for i := range p.count {
		head, key, value, err := p.element(i)
		if err != nil {
			return err
		}
		if outside(key, low, high) || i > 0 && bytes.Compare(last, key) >= 0 {
			return damage("keys are out of order")
		}
		last = key
		isBucket := binary.LittleEndian.Uint32(head)&1 != 0
		if isBucket != (bucket == "") {
			return damage("buckets and values are mixed")
		}
		size := int64(binary.LittleEndian.Uint32(head[12:]))
		if isBucket && size < bucketSize {
			return damage("the entry of bucket %q is cut short", key)
		}
		if !isBucket || t.only != "" && t.only != string(key) {
			continue
		}
		if err := t.bucket(p, string(key), value, size); err != nil {
			return err
		}
	}
	return nil
}

// bucket walks a bucket whose entry lies at an offset of a leaf page: either a
// page number or, for small ones, a page of its own inside the value. size is
// at least bucketSize.
func (t *tree) bucket(p *page, name string, off, size int64) error {
	entry, err := p.bytes(off, size)
	if err != nil {
		return err
	}
	t.count[name] = 0
	if root := binary.LittleEndian.Uint64(entry); root != 0 {
		return t.walk(root, name, nil, nil, 1)
	}
	in := entry[bucketSize:]
	if len(in) < pageHeader {
		return damage("bucket %q is cut short", name)
	}
	q := &page{r: bytes.NewReader(in), size: int64(len(in)), front: in}
	q.flags, q.count = binary.LittleEndian.Uint16(in[8:]), int(binary.LittleEndian.Uint16(in[10:]))
	if q.flags != flagLeaf {
		return damage("bucket %q is of kind %#x", name, q.flags)
	}
	return t.leaf(q, name, nil, nil)
}

// freelist checks the list of free pages, which only a writer and the full
// check of bbolt read.
func (t *tree) freelist() error {
	if t.meta.freelist == noFreelist {
		return nil
	}
	p, err := t.open(t.meta.freelist)
	if err != nil {
		return err
	}
	if p.flags != flagFreelist {
		return damage("the list of free pages is of kind %#x", p.flags)
	}
	off, n := int64(pageHeader), int64(p.count)
	if p.count == 0xFFFF {
		b, err := p.bytes(off, 8)
		if err != nil {
			return err
		}
		off, n = off+8, int64(binary.LittleEndian.Uint64(b))
		if n < 0 || n > int64(t.meta.pages) {
			return damage("%d free pages of %d", n, t.meta.pages)
		}
	}
	ids, err := p.bytes(off, 8*n)
	if err != nil {
		return err
	}
	for ; len(ids) > 0; ids = ids[8:] {
		id := binary.LittleEndian.Uint64(ids)
		if id < 2 {
			return damage("page %d is called free", id)
		}
		if err := t.claim(id, id); err != nil {
			return err
		}
	}
	return nil
}
