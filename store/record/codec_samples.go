package record

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Fields of message SendSample.
const (
	sendPhase     = 1
	sendWindow    = 2
	sendScheduled = 3
	sendLag       = 4
)

// Fields of message Samples.
const (
	samplesSeries = 1
	samplesAt     = 2
	samplesValue  = 3
)

// AppendSendSample appends the encoded form of s to b.
func AppendSendSample(b []byte, s *SendSample) ([]byte, error) {
	if len(s.Scheduled) != len(s.Sent) {
		return b, fmt.Errorf("send sample: %d scheduled, %d sent", len(s.Scheduled), len(s.Sent))
	}
	if s.Phase < 0 || s.Phase > math.MaxUint32 || s.Window < 0 || s.Window > math.MaxUint32 {
		return b, fmt.Errorf("send sample: window %d of phase %d", s.Window, s.Phase)
	}
	b = appendInt(b, sendPhase, int64(s.Phase))
	b = appendInt(b, sendWindow, int64(s.Window))
	if len(s.Scheduled) == 0 {
		return b, nil
	}
	b = appendNested(b, sendScheduled, func(b []byte) []byte { return appendDeltas(b, s.Scheduled) })
	return appendNested(b, sendLag, func(b []byte) []byte {
		for i, sent := range s.Sent {
			b = protowire.AppendVarint(b, protowire.EncodeZigZag(sent-s.Scheduled[i]))
		}
		return b
	}), nil
}

// DecodeSendSample is the inverse of AppendSendSample.
func DecodeSendSample(b []byte) (*SendSample, error) {
	s := &SendSample{}
	err := eachField(b, func(f field) (err error) {
		switch f.num {
		case sendPhase:
			return f.setIndex(&s.Phase, 1<<32)
		case sendWindow:
			return f.setIndex(&s.Window, 1<<32)
		case sendScheduled:
			s.Scheduled, err = f.deltas()
		case sendLag:
			s.Sent, err = f.signed()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(s.Sent) != len(s.Scheduled) {
		return nil, codecError("send sample: %d scheduled, %d sent", len(s.Scheduled), len(s.Sent))
	}
	for i, at := range s.Scheduled {
		s.Sent[i] += at
	}
	return s, nil
}

// AppendSamples appends the encoded form of a batch of readings to b.
func AppendSamples(b []byte, batch []Sample) ([]byte, error) {
	if len(batch) == 0 {
		return b, nil
	}
	series, at := make([]uint64, len(batch)), make([]int64, len(batch))
	for i, s := range batch {
		if math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
			return b, fmt.Errorf("reading of series %d is %v, not a finite number", s.Series, s.Value)
		}
		if s.Series < 0 || s.Series > math.MaxUint32 {
			return b, fmt.Errorf("series number %d", s.Series)
		}
		series[i], at[i] = uint64(s.Series), s.AtNS
	}
	b = appendPacked(b, samplesSeries, series, false)
	b = appendNested(b, samplesAt, func(b []byte) []byte { return appendDeltas(b, at) })
	return appendNested(b, samplesValue, func(b []byte) []byte {
		for _, s := range batch {
			b = protowire.AppendFixed64(b, math.Float64bits(s.Value))
		}
		return b
	}), nil
}

// DecodeSamples is the inverse of AppendSamples.
func DecodeSamples(b []byte) ([]Sample, error) {
	var series []uint64
	var at []int64
	var values []byte
	err := eachField(b, func(f field) (err error) {
		switch f.num {
		case samplesSeries:
			series, err = f.packed(len(f.b))
		case samplesAt:
			at, err = f.deltas()
		case samplesValue:
			err = f.want(protowire.BytesType)
			values = f.b
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(series) != len(at) || len(values) != 8*len(at) {
		return nil, codecError("samples: %d series, %d instants, %d bytes of values", len(series), len(at), len(values))
	}
	if len(at) == 0 {
		return nil, nil
	}
	batch := make([]Sample, len(at))
	for i := range batch {
		v := math.Float64frombits(binary.LittleEndian.Uint64(values[8*i:]))
		if math.IsNaN(v) || math.IsInf(v, 0) || series[i] > math.MaxUint32 {
			return nil, codecError("samples: reading %d is impossible", i)
		}
		batch[i] = Sample{Series: int(series[i]), AtNS: at[i], Value: v}
	}
	return batch, nil
}

// appendDeltas appends the differences of successive values, zigzag encoded.
func appendDeltas(b []byte, vs []int64) []byte {
	var last int64
	for _, v := range vs {
		b = protowire.AppendVarint(b, protowire.EncodeZigZag(v-last))
		last = v
	}
	return b
}

// signed decodes a packed field of zigzag varints.
func (f field) signed() ([]int64, error) {
	if err := f.want(protowire.BytesType); err != nil {
		return nil, err
	}
	count := packedLen(f.b)
	if count == 0 {
		return nil, nil
	}
	vs := make([]int64, 0, count)
	for b := f.b; len(b) > 0; {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return nil, codecError("bad varint in field %d", f.num)
		}
		vs, b = append(vs, protowire.DecodeZigZag(v)), b[n:]
	}
	return vs, nil
}

func (f field) deltas() ([]int64, error) {
	vs, err := f.signed()
	for i := 1; i < len(vs); i++ {
		vs[i] += vs[i-1]
	}
	return vs, err
}
