package record

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// The codec writes protobuf's wire format by hand: fields carry their number,
// readers skip numbers that they do not know, so a file can gain fields without
// a new version. The messages are written down as .proto text in
// store/FORMAT.md.

// ErrCodec is wrapped by every error of a decoder.
var ErrCodec = errors.New("record cannot be decoded")

// Limits on what a decoder accepts. They are far above what a run writes.
const (
	MaxClasses    = 1 << 14
	MaxThresholds = 1 << 12
)

func codecError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCodec, fmt.Sprintf(format, args...))
}

func appendUint(b []byte, num protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	b = protowire.AppendTag(b, num, protowire.VarintType)
	return protowire.AppendVarint(b, v)
}

func appendInt(b []byte, num protowire.Number, v int64) []byte {
	return appendUint(b, num, uint64(v))
}

// appendNested appends what fill appends as one length-delimited field.
func appendNested(b []byte, num protowire.Number, fill func([]byte) []byte) []byte {
	b = protowire.AppendTag(b, num, protowire.BytesType)
	// One byte is kept for the length; most nested messages need two, and a
	// move of a few hundred bytes is cheaper than a second buffer.
	at := len(b)
	b = append(b, 0)
	b = fill(b)
	n := len(b) - at - 1
	extra := protowire.SizeVarint(uint64(n)) - 1
	for range extra {
		b = append(b, 0)
	}
	if extra > 0 {
		copy(b[at+1+extra:], b[at+1:at+1+n])
	}
	protowire.AppendVarint(b[:at], uint64(n))
	return b
}

// appendPacked appends vs as a packed field, without trailing zeros.
func appendPacked(b []byte, num protowire.Number, vs []uint64, trim bool) []byte {
	for trim && len(vs) > 0 && vs[len(vs)-1] == 0 {
		vs = vs[:len(vs)-1]
	}
	if len(vs) == 0 {
		return b
	}
	return appendNested(b, num, func(b []byte) []byte {
		for _, v := range vs {
			b = protowire.AppendVarint(b, v)
		}
		return b
	})
}

// field is one field of a message: a varint or fixed number in n, or bytes in b.
type field struct {
	num protowire.Number
	typ protowire.Type
	n   uint64
	b   []byte
}

// eachField calls visit for every field of a message whose type is one that the
// codec writes; others are skipped.
func eachField(b []byte, visit func(field) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return codecError("bad tag")
		}
		b = b[n:]
		f := field{num: num, typ: typ}
		switch typ {
		case protowire.VarintType:
			f.n, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			f.n, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			f.b, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
			if n < 0 {
				return codecError("bad field %d", num)
			}
			b = b[n:]
			continue
		}
		if n < 0 {
			return codecError("bad field %d", num)
		}
		b = b[n:]
		if err := visit(f); err != nil {
			return err
		}
	}
	return nil
}

// want refuses a known field of another type.
func (f field) want(typ protowire.Type) error {
	if f.typ != typ {
		return codecError("field %d has wire type %d, not %d", f.num, f.typ, typ)
	}
	return nil
}

func (f field) setInt(to *int64) error {
	if err := f.want(protowire.VarintType); err != nil {
		return err
	}
	*to = int64(f.n)
	return nil
}

func (f field) setUint(to *uint64) error {
	if err := f.want(protowire.VarintType); err != nil {
		return err
	}
	*to = f.n
	return nil
}

// setIndex reads a number in [0, limit).
func (f field) setIndex(to *int, limit uint64) error {
	if err := f.want(protowire.VarintType); err != nil {
		return err
	}
	if f.n >= limit {
		return codecError("field %d is %d, not below %d", f.num, f.n, limit)
	}
	*to = int(f.n)
	return nil
}

// packedLen counts the varints of a packed field without decoding them.
func packedLen(b []byte) int {
	n := 0
	for _, c := range b {
		if c < 0x80 {
			n++
		}
	}
	return n
}

// packed decodes a packed field of at most limit varints.
func (f field) packed(limit int) ([]uint64, error) {
	if err := f.want(protowire.BytesType); err != nil {
		return nil, err
	}
	count := packedLen(f.b)
	if count > limit {
		return nil, codecError("field %d has %d values, not at most %d", f.num, count, limit)
	}
	if count == 0 {
		return nil, nil
	}
	vs := make([]uint64, 0, count)
	for b := f.b; len(b) > 0; {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return nil, codecError("bad varint in field %d", f.num)
		}
		vs, b = append(vs, v), b[n:]
	}
	return vs, nil
}

// fill decodes a packed field into to; what is missing stays 0.
func (f field) fill(to []uint64) error {
	vs, err := f.packed(len(to))
	copy(to, vs)
	return err
}
