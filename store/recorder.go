package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"

	"headroom/store/record"
)

const (
	partSuffix = ".part" // while recording
	newSuffix  = ".new"  // before the header is in it
	fileSuffix = ".db"   // sealed

	// queueLen is how many records may wait for storage: more than a minute of
	// intervals of a second.
	queueLen = 512
	// batchLen is how many records a bulk recorder commits at once.
	batchLen = 256
	// growth is the step by which a file grows, in bytes.
	growth = 1 << 20
	// lockTimeout bounds the wait for a file that another process has open.
	lockTimeout = 900 * time.Millisecond
)

// Options says how to record. The zero value is for a run that goes on.
type Options struct {
	// Bulk is for imports, merges and simulations: a Put waits for storage
	// instead of failing when it is slow, and the file is flushed to disk once,
	// at the end.
	Bulk bool
	// Path is the file to write; by default it is named after the run, in the
	// folder.
	Path string
}

// Recorder writes the evidence of one run. It satisfies record.Sink: Puts come
// from one goroutine, never wait for storage, and return an error as soon as
// anything before them could not be written.
type Recorder struct {
	part, final string
	header      record.Header
	db          *bolt.DB
	bulk        bool
	queue       chan put
	done        chan struct{}
	closed      bool
	notes       uint64
	faults      uint64
	batches     uint32

	mu  sync.Mutex
	err error
}

var _ record.Sink = (*Recorder)(nil)

// put is one record on its way to the file.
type put struct {
	bucket  string
	key     []byte
	encode  func() ([]byte, error)
	deflate bool
	once    bool // the key must be new
	commit  bool
	ack     chan struct{} // closed once all before it is committed
}

// Create begins the evidence of a run, <run-id>.part in the folder dir. The
// folder must exist; a folder that cannot be written to, or a run id that is
// taken, is an error here and not during the run.
func Create(dir string, h record.Header) (*Recorder, error) {
	return CreateWith(dir, h, Options{})
}

// CreateWith is Create with options.
func CreateWith(dir string, h record.Header, o Options) (*Recorder, error) {
	if err := checkID(h.RunID); err != nil {
		return nil, err
	}
	if err := h.Check(); err != nil {
		return nil, err
	}
	r := &Recorder{
		final: o.Path, header: h, bulk: o.Bulk,
		queue: make(chan put, queueLen), done: make(chan struct{}),
	}
	if r.final == "" {
		r.final = filepath.Join(dir, h.RunID+fileSuffix)
	}
	r.part = strings.TrimSuffix(r.final, fileSuffix) + partSuffix
	if info, err := os.Stat(filepath.Dir(r.final)); err != nil {
		return nil, fmt.Errorf("folder for evidence: %w; create it first", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("folder for evidence: %s is not a folder", filepath.Dir(r.final))
	}
	for _, path := range []string{r.part, r.final} {
		if _, err := os.Lstat(path); err == nil {
			return nil, fmt.Errorf("%s: %w; a run is never overwritten", path, fs.ErrExist)
		}
	}
	if err := r.begin(); err != nil {
		return nil, fmt.Errorf("folder for evidence: %w", err)
	}
	go r.write()
	return r, nil
}

// checkID refuses run ids that are no plain file names.
func checkID(id string) error {
	if id == "" || len(id) > 128 || id[0] == '.' || id[0] == '-' {
		return fmt.Errorf("run id %q: must have 1 to 128 characters and not begin with . or -", id)
	}
	for _, c := range id {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("._-", c) {
			return fmt.Errorf("run id %q: only letters, digits, '.', '_' and '-'", id)
		}
	}
	return nil
}

func writeOptions() *bolt.Options {
	return &bolt.Options{
		Timeout: lockTimeout, FreelistType: bolt.FreelistMapType, PageSize: pageSize, NoStatistics: true,
	}
}

// begin makes the file under another name, so that a .part always has a header.
func (r *Recorder) begin() error {
	temp := strings.TrimSuffix(r.part, partSuffix) + newSuffix
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	db, err := bolt.Open(temp, 0o644, writeOptions())
	if err != nil {
		if rest := os.Remove(temp); !errors.Is(rest, fs.ErrNotExist) {
			err = errors.Join(err, rest)
		}
		return err
	}
	err = db.Update(r.first)
	err = errors.Join(err, db.Close())
	if err == nil {
		err = os.Rename(temp, r.part)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	if err := syncDir(r.part); err != nil {
		return err
	}
	if r.db, err = bolt.Open(r.part, 0o644, writeOptions()); err != nil {
		return err
	}
	r.db.AllocSize = growth
	r.db.NoSync, r.db.NoGrowSync = r.bulk, r.bulk
	return nil
}

// first is the transaction that makes an empty file evidence.
func (r *Recorder) first(tx *bolt.Tx) error {
	for _, name := range buckets() {
		if _, err := tx.CreateBucket([]byte(name)); err != nil {
			return err
		}
	}
	if err := tx.Bucket([]byte(bucketRun)).Put([]byte(keyFormat), fmt.Appendf(nil, "%s%d", formatPrefix, Version)); err != nil {
		return err
	}
	b, err := record.EncodeJSON(r.header)
	if err != nil {
		return err
	}
	return store(tx, &wrapper{}, put{bucket: bucketRun, key: []byte(keyHeader), encode: func() ([]byte, error) { return b, nil }})
}

// store puts one record into a transaction.
func store(tx *bolt.Tx, w *wrapper, p put) error {
	plain, err := p.encode()
	if err != nil {
		return err
	}
	value, err := w.wrap(p.bucket, p.key, plain, p.deflate)
	if err != nil {
		return err
	}
	b := tx.Bucket([]byte(p.bucket))
	b.FillPercent = fill
	if p.once && b.Get(p.key) != nil {
		return fmt.Errorf("the same record twice in %s (key %x)", p.bucket, p.key)
	}
	return b.Put(p.key, value)
}

// write is the writer: it alone touches the file while the run goes on.
func (r *Recorder) write() {
	defer close(r.done)
	debug.SetPanicOnFault(true) // a page that cannot be read from disk
	var w wrapper
	var waiting []put
	flush := func() {
		if len(waiting) > 0 && r.Err() == nil {
			r.fail(r.commit(&w, waiting))
		}
		for _, p := range waiting {
			if p.ack != nil {
				close(p.ack)
			}
		}
		clear(waiting)
		waiting = waiting[:0]
	}
	for p := range r.queue {
		waiting = append(waiting, p)
		if p.ack != nil || len(waiting) >= batchLen || p.commit && !r.bulk {
			flush()
		}
	}
	flush()
}

func (r *Recorder) commit(w *wrapper, ps []put) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("storage: %v", v)
		}
	}()
	return r.db.Update(func(tx *bolt.Tx) error {
		for _, p := range ps {
			if p.encode == nil {
				continue
			}
			if err := store(tx, w, p); err != nil {
				return err
			}
		}
		return nil
	})
}

// fail keeps the first error.
func (r *Recorder) fail(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = fmt.Errorf("recording %s: %w", r.part, err)
	}
}

// Err is the first error of storage; after it nothing more is written. It may
// be called from any goroutine.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Path is where the evidence is while it is being recorded.
func (r *Recorder) Path() string { return r.part }

func (r *Recorder) put(p put) error {
	if err := r.Err(); err != nil {
		return err
	}
	if r.closed {
		return fmt.Errorf("recording %s: already ended", r.part)
	}
	if r.bulk || p.ack != nil {
		r.queue <- p
		return nil
	}
	select {
	case r.queue <- p:
		return nil
	default:
		r.fail(fmt.Errorf("%w: %d records wait to be written", ErrBehind, queueLen))
		return r.Err()
	}
}
