package store

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"headroom/store/record"
)

// Why a stream is refused; anything else is the receiver's own trouble.
var (
	// ErrStream is a stream that no run of this version can have made.
	ErrStream = errors.New("not a run that can be received")
	// ErrTooLarge is a stream beyond the limits.
	ErrTooLarge = errors.New("too large")
	// ErrInterrupted is a stream whose connection failed.
	ErrInterrupted = errors.New("the upload was interrupted")
	// ErrConflict is a run whose id another run has.
	ErrConflict = errors.New("another run has this id")
)

// Limits bound what is received. They are far above what runs need.
type Limits struct {
	Bytes     int64 // of a stream
	Intervals int
	Samples   int // readings
	Buckets   int // of histograms that an analysis would keep at once
}

// DefaultLimits are for a week of 1 s intervals, and 256 MB of histograms in an
// analysis.
func DefaultLimits() Limits {
	return Limits{Bytes: 2 << 30, Intervals: 1_000_000, Samples: 20_000_000, Buckets: 32 << 20}
}

// Received is a run that is in the folder, sealed.
type Received struct {
	RunID, Digest, Path string
	Already             bool // it was there before
}

// inboxName is the folder in which files arise before they are runs.
const inboxName = ".incoming"

// Inbox receives runs into a folder. It may be used from several goroutines,
// and by several processes.
type Inbox struct {
	dir string
	lim Limits
}

// OpenInbox opens the inbox of a folder and removes what a killed receiver left
// half done in it.
func OpenInbox(dir string, lim Limits) (*Inbox, error) {
	in := &Inbox{dir: dir, lim: lim}
	if err := os.Mkdir(in.temp(), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("folder for uploads: %w", err)
	}
	left, err := Orphans(in.temp())
	if err != nil {
		return nil, fmt.Errorf("folder for uploads: %w", err)
	}
	sealed, err := filepath.Glob(filepath.Join(in.temp(), "*"+fileSuffix))
	if err != nil {
		return nil, err
	}
	for _, path := range append(left, sealed...) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("folder for uploads: %w", err)
		}
	}
	return in, nil
}

func (in *Inbox) temp() string { return filepath.Join(in.dir, inboxName) }

// receivedName is the name of the file of a received run. It is made of our own
// digest, so that no name from outside reaches a path.
func receivedName(digest string) string { return "received-" + digest[:32] + fileSuffix }

// Receive reads a stream that Send wrote and writes its own sealed file of it.
// Every record is decoded and checked, then the file as a whole, and its seal
// must be the sender's. allowed, if not nil, may refuse a run by its header and
// digest. A run that the folder has already is not written again. On an error
// nothing of the stream is left.
func (in *Inbox) Receive(from io.Reader, allowed func(h record.Header, digest string) error) (Received, error) {
	rc := &receiver{
		in: in, stream: streamReader{from: bufio.NewReaderSize(from, 64<<10), left: in.lim.Bytes}, allowed: allowed, phase: -1,
	}
	got, err := rc.run()
	if rc.rec != nil {
		err = errors.Join(err, rc.rec.Abort())
	}
	if rc.temp != "" {
		if e := os.Remove(rc.temp); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	if err != nil {
		return Received{}, err
	}
	return got, nil
}

// receiver is one upload.
type receiver struct {
	in      *Inbox
	stream  streamReader
	allowed func(record.Header, string) error
	begin   streamBegin
	header  record.Header
	rec     *Recorder
	temp    string // the file while it is not in its place
	end     *record.End

	seen      [frameStop + 1]int
	phases    []record.Phase
	phase     int // of the interval before
	index     int
	lastSend  [2]int
	readings  int
	unflushed int // bytes
}

func (rc *receiver) run() (Received, error) {
	if done, got, err := rc.start(); done || err != nil {
		return got, err
	}
	for {
		kind, body, err := rc.stream.next(frameLimit(rc.stream.last))
		if err != nil {
			return Received{}, err
		}
		rc.seen[kind]++
		if kind == frameStop {
			break
		}
		if err := rc.accept(kind, body); err != nil {
			return Received{}, err
		}
	}
	if rc.end == nil {
		return Received{}, strange("it has no end")
	}
	if _, err := rc.stream.from.ReadByte(); err != io.EOF {
		if err == nil {
			return Received{}, strange("bytes after its end")
		}
		return Received{}, cutShort(err)
	}
	return rc.finish()
}

// frameLimit bounds the next body, in bytes: the head of a stream may hold a
// plan, the rest is small.
func frameLimit(last frameKind) int {
	if last <= frameHeader {
		return 2 << 20
	}
	return 4 << 20
}

// start reads up to the header and opens the file.
func (rc *receiver) start() (done bool, got Received, err error) {
	magic := make([]byte, len(streamMagic))
	if _, err := io.ReadFull(rc.stream.from, magic); err != nil {
		return false, got, cutShort(err)
	}
	if string(magic) != streamMagic {
		return false, got, strange("it does not begin with %q", strings.TrimSpace(streamMagic))
	}
	kind, body, err := rc.stream.next(4096)
	if err != nil {
		return false, got, err
	}
	if err := checkJSON(body); err != nil {
		return false, got, err
	}
	if kind != frameBegin || json.Unmarshal(body, &rc.begin) != nil {
		return false, got, strange("its first record does not say what is coming")
	}
	if rc.begin.Format != Version {
		return false, got, strange("format %d; this server receives format %d", rc.begin.Format, Version)
	}
	if raw, err := hex.DecodeString(rc.begin.Digest); err != nil || len(raw) != 32 || hex.EncodeToString(raw) != rc.begin.Digest {
		return false, got, strange("its digest is not a SHA-256 in lower-case hexadecimal")
	}
	if kind, body, err = rc.stream.next(frameLimit(frameBegin)); err != nil {
		return false, got, err
	}
	if kind != frameHeader {
		return false, got, strange("its header is missing")
	}
	if rc.header, err = decodeJSON[record.Header](body); err != nil {
		return false, got, err
	}
	if err := checkHeader(&rc.header, rc.in.lim); err != nil {
		return false, got, err
	}
	final := filepath.Join(rc.in.dir, receivedName(rc.begin.Digest))
	if e := Stat(final); e.Err == nil && e.Digest == rc.begin.Digest {
		return true, Received{RunID: e.RunID, Digest: e.Digest, Path: final, Already: true}, nil
	}
	if rc.allowed != nil {
		if err := rc.allowed(rc.header, rc.begin.Digest); err != nil {
			return false, got, err
		}
	}
	return false, got, rc.open(body)
}

// open begins the file under a name of our own.
func (rc *receiver) open(header []byte) error {
	f, err := os.CreateTemp(rc.in.temp(), "upload-*"+fileSuffix)
	if err != nil {
		return fmt.Errorf("folder for uploads: %w", err)
	}
	rc.temp = f.Name()
	if err := errors.Join(f.Close(), os.Remove(rc.temp)); err != nil {
		return fmt.Errorf("folder for uploads: %w", err)
	}
	rc.rec, err = CreateWith(rc.in.temp(), rc.header, Options{Bulk: true, Path: rc.temp})
	if err != nil {
		return err
	}
	// The header as it came, so that the seal is the sender's.
	return rc.put(bucketRun, []byte(keyHeader), header, false)
}

// put writes a checked body as it came.
func (rc *receiver) put(bucket string, key, body []byte, once bool) error {
	kept := append([]byte{}, body...)
	deflate := bucket == bucketIntervals || bucket == bucketSends || bucket == bucketSamples
	err := rc.rec.put(put{bucket: bucket, key: key, deflate: deflate, once: once, encode: func() ([]byte, error) { return kept, nil }})
	if err != nil {
		return err
	}
	if rc.unflushed += len(kept); rc.unflushed > 8<<20 { // what waits for storage is bounded
		rc.unflushed = 0
		return rc.rec.Sync()
	}
	return nil
}

// accept checks one record and writes it.
func (rc *receiver) accept(kind frameKind, body []byte) error {
	switch kind {
	case frameFacts:
		if rc.seen[kind] > 1 {
			return strange("facts twice")
		}
		f, err := decodeJSON[record.Facts](body)
		if err != nil {
			return err
		}
		if err := checkFacts(&f); err != nil {
			return err
		}
		return rc.put(bucketRun, []byte(keyFacts), body, true)
	case framePhase:
		return rc.acceptPhase(body)
	case frameFault:
		e, err := decodeJSON[record.FaultEvent](body)
		if err != nil {
			return err
		}
		if err := rc.checkFault(&e); err != nil {
			return err
		}
		return rc.put(bucketFaults, key64(uint64(rc.seen[kind])), body, true)
	case frameNote:
		n, err := decodeJSON[record.Note](body)
		if err != nil {
			return err
		}
		if err := rc.checkNote(&n); err != nil {
			return err
		}
		return rc.put(bucketNotes, key64(uint64(rc.seen[kind])), body, true)
	case frameInterval:
		return rc.acceptInterval(body)
	case frameSend:
		return rc.acceptSend(body)
	case frameSamples:
		return rc.acceptSamples(body)
	case frameEnd:
		return rc.acceptEnd(body)
	}
	return strange("a second record of kind %d", kind)
}

func (rc *receiver) acceptEnd(body []byte) error {
	if rc.end != nil {
		return strange("two ends")
	}
	e, err := decodeJSON[record.End](body)
	if err != nil {
		return err
	}
	if err := checkEnd(&e); err != nil {
		return err
	}
	rc.end = &e
	return rc.put(bucketRun, []byte(keyEnd), body, true)
}

func (rc *receiver) acceptSamples(body []byte) error {
	batch, n := binary.Uvarint(body)
	if n <= 0 || batch > 1<<32-1 {
		return strange("readings without the number of their batch")
	}
	s, err := record.DecodeSamples(body[n:])
	if err != nil {
		return strange("%v", err)
	}
	if err := rc.checkSamples(s); err != nil {
		return err
	}
	key := key64(uint64(s[0].AtNS) ^ 1<<63)
	return rc.put(bucketSamples, binary.BigEndian.AppendUint32(key, uint32(batch)), body[n:], true)
}

// finish seals the file, checks it as a whole, and gives it its place.
func (rc *receiver) finish() (Received, error) {
	rec := rc.rec
	rc.rec = nil
	path, err := rec.Finish(*rc.end)
	rc.temp = path
	if err != nil {
		return Received{}, err
	}
	report, err := Verify(path)
	if err != nil {
		return Received{}, err
	}
	if err := report.Err(); err != nil {
		return Received{}, strange("%s", strings.ReplaceAll(err.Error(), path, "the run"))
	}
	if report.Digest != rc.begin.Digest {
		return Received{}, strange("its digest does not match its records")
	}
	got := Received{RunID: rc.header.RunID, Digest: report.Digest, Path: filepath.Join(rc.in.dir, receivedName(report.Digest))}
	// A link fails where the name is taken, so two uploads of one run end as one.
	err = os.Link(path, got.Path)
	if errors.Is(err, fs.ErrExist) {
		e := Stat(got.Path)
		if e.Err != nil || e.Digest != got.Digest {
			return Received{}, fmt.Errorf("%s is in the way", filepath.Base(got.Path))
		}
		got.Already = true
		return got, nil
	}
	if err != nil { // a file system without links
		if _, e := os.Lstat(got.Path); e == nil {
			return Received{}, err
		}
		if err = os.Rename(path, got.Path); err != nil {
			return Received{}, err
		}
	}
	return got, syncDir(got.Path)
}

// longest is how long a run may last, in nanoseconds: a year.
const longest = int64(366 * 24 * time.Hour)
