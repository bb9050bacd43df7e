package store

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	bolt "go.etcd.io/bbolt"

	"headroom/store/record"
)

// StreamType is the media type of a run as a stream of records.
const StreamType = "application/vnd.headroom.records"

// A stream carries the records of one sealed run between machines, so that no
// database page of a stranger is ever opened. It begins with streamMagic and
// consists of frames: a kind, the length of the body as a uvarint, the body.
// Kinds never fall. Bodies are the plain bodies of the values of a file, as
// FORMAT.md describes them; keys follow from what they hold. The same records
// have the same seal, so the receiver's seal must be the sender's.
const streamMagic = "headroom.records/1\n"

// frameKind is the first byte of a frame.
type frameKind byte

const (
	frameBegin    frameKind = 1 + iota // JSON streamBegin
	frameHeader                        // JSON
	frameFacts                         // JSON
	framePhase                         // JSON, rising index
	frameFault                         // JSON
	frameNote                          // JSON
	frameInterval                      // message Interval, rising phase and index
	frameSend                          // message SendSample, rising phase and window
	frameSamples                       // number of the batch as a uvarint, then message Samples
	frameEnd                           // JSON
	frameStop                          // empty: nothing was cut off
)

// streamBegin says what is coming.
type streamBegin struct {
	Format int    `json:"format"`
	Digest string `json:"digest"` // the sender's seal
}

// Send writes a sealed run as a stream of records. It refuses a run without a
// seal, and one with records that this version does not know.
func (r *Run) Send(to io.Writer) error {
	if r.seal == nil {
		return fmt.Errorf("%s: only sealed runs are sent; `headroom recover` seals what a killed recorder left", r.path)
	}
	w := &streamWriter{to: bufio.NewWriterSize(to, 64<<10)}
	w.raw([]byte(streamMagic))
	begin, err := json.Marshal(streamBegin{Format: r.format, Digest: r.seal.Digest})
	if err != nil {
		return err
	}
	w.frame(frameBegin, begin)
	head := map[string][]byte{}
	err = guard(func() error {
		return r.db.View(func(tx *bolt.Tx) error {
			var u unwrapper
			return tx.Bucket([]byte(bucketRun)).ForEach(func(key, value []byte) error {
				if string(key) == keyFormat { // has no envelope
					return nil
				}
				plain, err := u.unwrap(bucketRun, key, value)
				head[string(key)] = append([]byte{}, plain...)
				return err
			})
		})
	})
	if err != nil {
		return at(r.path, err)
	}
	for key := range head {
		switch key {
		case keyHeader, keyFacts, keyEnd, keySeal:
		default:
			return fmt.Errorf("%s: it has a record %q, which this version does not know; use the version that wrote it", r.path, key)
		}
	}
	w.frame(frameHeader, head[keyHeader])
	if facts, ok := head[keyFacts]; ok {
		w.frame(frameFacts, facts)
	}
	for _, b := range []struct {
		kind   frameKind
		bucket string
	}{
		{framePhase, bucketPhases},
		{frameFault, bucketFaults},
		{frameNote, bucketNotes},
		{frameInterval, bucketIntervals},
		{frameSend, bucketSends},
		{frameSamples, bucketSamples},
	} {
		for kv, err := range r.values(b.bucket) {
			if err != nil {
				return err
			}
			body := kv.plain
			if b.kind == frameSamples {
				body = append(binary.AppendUvarint(nil, uint64(binary.BigEndian.Uint32(kv.key[8:]))), body...)
			}
			w.frame(b.kind, body)
			if w.err != nil {
				return w.err
			}
		}
	}
	w.frame(frameEnd, head[keyEnd])
	w.frame(frameStop, nil)
	if w.err != nil {
		return w.err
	}
	return w.to.Flush()
}

// streamWriter keeps the first error.
type streamWriter struct {
	to  *bufio.Writer
	err error
}

func (w *streamWriter) raw(b []byte) {
	if w.err == nil {
		_, w.err = w.to.Write(b)
	}
}

func (w *streamWriter) frame(kind frameKind, body []byte) {
	w.raw(binary.AppendUvarint([]byte{byte(kind)}, uint64(len(body))))
	w.raw(body)
}

// streamReader reads frames within limits.
type streamReader struct {
	from *bufio.Reader
	left int64 // bytes that may still come
	last frameKind
	buf  []byte
}

// next returns the next frame. Its body is valid until the next call.
func (s *streamReader) next(max int) (frameKind, []byte, error) {
	kind, err := s.from.ReadByte()
	if err != nil {
		return 0, nil, cutShort(err)
	}
	k := frameKind(kind)
	if k < frameBegin || k > frameStop {
		return 0, nil, strange("a record of kind %d, which this version does not know", kind)
	}
	if k < s.last {
		return 0, nil, strange("a record of kind %d after one of kind %d", k, s.last)
	}
	s.last = k
	size, err := binary.ReadUvarint(s.from)
	if err != nil {
		return 0, nil, cutShort(err)
	}
	if size > uint64(max) {
		return 0, nil, strange("a record of %d bytes, not at most %d", size, max)
	}
	if s.left -= int64(size) + 2; s.left < 0 {
		return 0, nil, fmt.Errorf("%w: more bytes than a run may have", ErrTooLarge)
	}
	// Memory follows what has come, not what was announced.
	s.buf = s.buf[:0]
	for n := int(size); n > 0; {
		step := min(n, 64<<10)
		at := len(s.buf)
		s.buf = append(s.buf, make([]byte, step)...)
		if _, err := io.ReadFull(s.from, s.buf[at:]); err != nil {
			return 0, nil, cutShort(err)
		}
		n -= step
	}
	return k, s.buf, nil
}

// cutShort tells an end that came too early from a failing connection.
func cutShort(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return strange("it is cut short")
	}
	return fmt.Errorf("%w: %w", ErrInterrupted, err)
}

// strange is an error about what a stranger sent.
func strange(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrStream, fmt.Sprintf(format, args...))
}

// checkJSON refuses JSON that is nested deeper than any record is.
func checkJSON(b []byte) error {
	const deepest = 16
	depth, text := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{' || c == '[':
			if depth++; depth > deepest {
				return strange("JSON nested deeper than %d", deepest)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

// decodeJSON decodes a record of a stranger.
func decodeJSON[T record.Header | record.Phase | record.Note | record.FaultEvent | record.Facts | record.End](b []byte) (T, error) {
	var none T
	if err := checkJSON(b); err != nil {
		return none, err
	}
	v, err := record.DecodeJSON[T](b)
	if err != nil {
		return none, strange("%v", err)
	}
	return v, nil
}
