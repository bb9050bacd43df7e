package foreign

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strings"
)

// hdrHistogram is an encoded HdrHistogram, decoded: counts by value, in the
// log's own unit. It holds only what is not zero.
type hdrHistogram struct {
	buckets []hdrBucket
	total   uint64
}

// hdrBucket counts values from low to high.
type hdrBucket struct {
	low, high int64
	count     uint64
}

// Cookies of the encodings; the second lowest byte holds the size of a word.
const (
	v0Cookie, v0Compressed = 0x1c849308, 0x1c849309
	v1Cookie, v1Compressed = 0x1c849301, 0x1c849302
	v2Cookie, v2Compressed = 0x1c849303, 0x1c849304
)

// maxPayload bounds a histogram's decoded payload, in bytes.
const maxPayload = 8 << 20

// Reasons why an encoded histogram is damaged.
var (
	errBase64   = errors.New("bad_base64")
	errCookie   = errors.New("unknown_encoding")
	errPayload  = errors.New("bad_histogram")
	errGeometry = errors.New("bad_geometry")
)

// decodeHDR decodes a histogram of encoding V0, V1 or V2, compressed or not.
func decodeHDR(text string) (*hdrHistogram, error) {
	b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return nil, errBase64
	}
	if len(b) < 8 {
		return nil, errPayload
	}
	switch binary.BigEndian.Uint32(b) &^ 0xf0 {
	case v0Compressed, v1Compressed, v2Compressed:
		n := int64(int32(binary.BigEndian.Uint32(b[4:])))
		if n < 0 || n > int64(len(b)-8) {
			return nil, errPayload
		}
		z, err := zlib.NewReader(bytes.NewReader(b[8 : 8+n]))
		if err != nil {
			return nil, errPayload
		}
		if b, err = io.ReadAll(io.LimitReader(z, maxPayload+1)); err != nil || len(b) > maxPayload {
			return nil, errPayload
		}
	}
	return decodePlainHDR(b)
}

func decodePlainHDR(b []byte) (*hdrHistogram, error) {
	if len(b) < 32 {
		return nil, errPayload
	}
	cookie := binary.BigEndian.Uint32(b)
	word := int(cookie&0xf0) >> 4 & 0xe
	var digits int32
	var lowest, highest int64
	var payload []byte
	switch cookie &^ 0xf0 {
	case v0Cookie:
		digits = int32(binary.BigEndian.Uint32(b[4:]))
		lowest, highest = int64(binary.BigEndian.Uint64(b[8:])), int64(binary.BigEndian.Uint64(b[16:]))
		payload = b[32:]
	case v1Cookie, v2Cookie:
		if len(b) < 40 {
			return nil, errPayload
		}
		n := int32(binary.BigEndian.Uint32(b[4:]))
		if offset := binary.BigEndian.Uint32(b[8:]); offset != 0 {
			return nil, errGeometry // shifted histograms are never in logs
		}
		digits = int32(binary.BigEndian.Uint32(b[12:]))
		lowest, highest = int64(binary.BigEndian.Uint64(b[16:])), int64(binary.BigEndian.Uint64(b[24:]))
		payload = b[40:]
		if n < 0 || int(n) > len(payload) {
			return nil, errPayload
		}
		payload = payload[:n]
		if cookie&^0xf0 == v2Cookie {
			word = 9
		}
	default:
		return nil, errCookie
	}
	if digits < 0 || digits > 5 || lowest < 1 || highest < 2*lowest || highest > math.MaxInt64/2 {
		return nil, errGeometry
	}
	return countHDR(payload, word, geometryOf(digits, lowest, highest))
}

// hdrGeometry maps an index to a value.
type hdrGeometry struct {
	unit, half, length int
}

func geometryOf(digits int32, lowest, highest int64) hdrGeometry {
	largest := 2 * int64(math.Pow10(int(digits)))
	magnitude := max(bits.Len64(uint64(largest-1)), 1) // sub-buckets: 2^magnitude
	g := hdrGeometry{unit: bits.Len64(uint64(lowest)) - 1, half: magnitude - 1}
	buckets := 1
	for top := int64(1) << min(magnitude+g.unit, 61); top <= highest && top < math.MaxInt64/2; top <<= 1 {
		buckets++
	}
	g.length = (buckets + 1) << g.half
	return g
}

func (g hdrGeometry) at(index int) (low, high int64) {
	bucket := index>>g.half - 1
	sub := int64(index&(1<<g.half-1)) + 1<<g.half
	if bucket < 0 {
		sub -= 1 << g.half
		bucket = 0
	}
	low = sub << (bucket + g.unit)
	return low, low + 1<<(bucket+g.unit) - 1
}

func countHDR(payload []byte, word int, g hdrGeometry) (*hdrHistogram, error) {
	h := &hdrHistogram{}
	index := 0
	for len(payload) > 0 {
		var n int64
		switch word {
		case 9:
			u, size := zigZag(payload)
			if size == 0 {
				return nil, errPayload
			}
			n, payload = u, payload[size:]
		case 2, 4, 8:
			if len(payload) < word {
				return nil, errPayload
			}
			switch word {
			case 2:
				n = int64(int16(binary.BigEndian.Uint16(payload)))
			case 4:
				n = int64(int32(binary.BigEndian.Uint32(payload)))
			default:
				n = int64(binary.BigEndian.Uint64(payload))
			}
			payload = payload[word:]
			if n < 0 {
				return nil, errPayload
			}
		default:
			return nil, fmt.Errorf("%w: words of %d bytes", errCookie, word)
		}
		if n < 0 { // a run of empty buckets
			if n < -int64(g.length) {
				return nil, errPayload
			}
			index += int(-n)
			continue
		}
		if n > 0 {
			if index >= g.length || n > math.MaxInt64/4 || h.total > math.MaxInt64/4 {
				return nil, errPayload
			}
			low, high := g.at(index)
			h.buckets = append(h.buckets, hdrBucket{low, high, uint64(n)})
			h.total += uint64(n)
		}
		if index++; index > g.length {
			return nil, errPayload
		}
	}
	return h, nil
}

// zigZag reads a signed number in LEB128 of at most nine bytes, the ninth of
// which is whole; size 0 means that it is cut short.
func zigZag(b []byte) (v int64, size int) {
	var u uint64
	for i := range min(len(b), 9) {
		c := uint64(b[i])
		if i == 8 {
			u |= c << 56
			return int64(u>>1) ^ -int64(u&1), 9
		}
		u |= c & 0x7f << (7 * i)
		if c < 0x80 {
			return int64(u>>1) ^ -int64(u&1), i + 1
		}
	}
	return 0, 0
}
