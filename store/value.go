package store

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

// How the body of a value is written.
const (
	bodyPlain   = 0
	bodyDeflate = 1 // uvarint length of the plain body, then RFC 1951
)

const (
	checksumSize = 4
	// maxPlain bounds a record, in bytes.
	maxPlain = 32 << 20
	// worthDeflating is the size below which a body is never compressed.
	worthDeflating = 256
	// worthSaving is the part of a body, one in so many, that compression must
	// save: inflating costs an analysis more than reading does.
	worthSaving = 5
	// maxRatio is the highest ratio that deflate can reach.
	maxRatio = 1032
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum covers the place of a value as well as the value, so that one that
// was moved is found.
func checksum(bucket string, key, body []byte) uint32 {
	sum := crc32.Update(0, castagnoli, []byte(bucket))
	sum = crc32.Update(sum, castagnoli, []byte{0})
	sum = crc32.Update(sum, castagnoli, key)
	sum = crc32.Update(sum, castagnoli, []byte{0})
	return crc32.Update(sum, castagnoli, body)
}

// wrapper makes values of bodies. It keeps its compressor and is used by one
// goroutine.
type wrapper struct {
	flate *flate.Writer
	buf   bytes.Buffer
}

// wrap returns the value for a plain body: an encoding byte, the body, and a
// CRC-32C. The result is the caller's.
func (w *wrapper) wrap(bucket string, key, plain []byte, deflate bool) ([]byte, error) {
	if len(plain) > maxPlain {
		return nil, fmt.Errorf("a record of %d bytes in %s, not at most %d", len(plain), bucket, maxPlain)
	}
	var value []byte
	if deflate && len(plain) >= worthDeflating {
		w.buf.Reset()
		if w.flate == nil {
			var err error
			if w.flate, err = flate.NewWriter(&w.buf, flate.BestSpeed); err != nil {
				return nil, err
			}
		} else {
			w.flate.Reset(&w.buf)
		}
		if _, err := w.flate.Write(plain); err != nil {
			return nil, err
		}
		if err := w.flate.Close(); err != nil {
			return nil, err
		}
		if w.buf.Len() <= len(plain)-len(plain)/worthSaving {
			value = make([]byte, 0, 1+binary.MaxVarintLen64+w.buf.Len()+checksumSize)
			value = append(value, bodyDeflate)
			value = binary.AppendUvarint(value, uint64(len(plain)))
			value = append(value, w.buf.Bytes()...)
		}
	}
	if value == nil {
		value = make([]byte, 0, 1+len(plain)+checksumSize)
		value = append(value, bodyPlain)
		value = append(value, plain...)
	}
	return binary.BigEndian.AppendUint32(value, checksum(bucket, key, value)), nil
}

// unwrapper reads values. Its buffer is reused: a body is valid until the next
// call. It is used by one goroutine.
type unwrapper struct {
	flate io.ReadCloser
	src   bytes.Reader
	buf   []byte
}

// unwrap checks a value and returns its plain body.
func (u *unwrapper) unwrap(bucket string, key, value []byte) ([]byte, error) {
	n := len(value) - checksumSize
	if n < 1 {
		return nil, damage("a value in %s is cut short", bucket)
	}
	body := value[:n]
	if binary.BigEndian.Uint32(value[n:]) != checksum(bucket, key, body) {
		return nil, damage("a value in %s has a wrong checksum (key %x)", bucket, key)
	}
	switch body[0] {
	case bodyPlain:
		return body[1:], nil
	case bodyDeflate:
	default:
		return nil, fmt.Errorf("%w: a value in %s is written in way %d", ErrTooNew, bucket, body[0])
	}
	size, n := binary.Uvarint(body[1:])
	if n <= 0 || size > maxPlain || size > maxRatio*uint64(len(body)) {
		return nil, damage("a value in %s has an impossible size", bucket)
	}
	u.src.Reset(body[1+n:])
	if u.flate == nil {
		u.flate = flate.NewReader(&u.src)
	} else if err := u.flate.(flate.Resetter).Reset(&u.src, nil); err != nil {
		return nil, err
	}
	if uint64(cap(u.buf)) < size {
		u.buf = make([]byte, size)
	}
	u.buf = u.buf[:size]
	if _, err := io.ReadFull(u.flate, u.buf); err != nil {
		return nil, damage("a value in %s does not inflate: %v", bucket, err)
	}
	var more [1]byte
	if k, err := u.flate.Read(more[:]); k != 0 || err != io.EOF || u.src.Len() != 0 {
		return nil, damage("a value in %s is longer than it says", bucket)
	}
	return u.buf, nil
}
