package record

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Fields of message Moment; from 16 on the generator's watch on itself.
const (
	momInFlight  = 1
	momWaiting   = 2
	momSends     = 3
	momDone      = 4
	momPeakSent  = 5
	momLimited   = 6
	momConnsOpen = 7

	genCPU         = 16
	genCapacity    = 17
	genStolen      = 18
	genGCPause     = 19
	genSleeper     = 20
	genDescriptors = 21
	genHeap        = 22
	genBusy        = 23
)

func (m *Moment) append(b []byte) []byte {
	b = appendInt(b, momInFlight, m.InFlight)
	b = appendInt(b, momWaiting, m.Waiting)
	b = appendUint(b, momSends, m.Sends)
	b = appendPacked(b, momDone, m.Done[:], true)
	b = appendUint(b, momPeakSent, m.PeakSent100ms)
	b = appendInt(b, momLimited, m.LimitedNS)
	b = appendInt(b, momConnsOpen, m.ConnsOpen)
	g := &m.Gen
	b = appendInt(b, genCPU, g.CPUNS)
	b = appendInt(b, genCapacity, g.CapacityNS)
	b = appendInt(b, genStolen, g.StolenNS)
	b = appendInt(b, genGCPause, g.GCPauseNS)
	b = appendInt(b, genSleeper, g.SleeperNS)
	b = appendInt(b, genDescriptors, g.Descriptors)
	b = appendInt(b, genHeap, g.HeapBytes)
	if !math.IsNaN(g.MachineBusy) {
		b = protowire.AppendTag(b, genBusy, protowire.Fixed64Type)
		b = protowire.AppendFixed64(b, math.Float64bits(g.MachineBusy))
	}
	return b
}

func (m *Moment) decode(b []byte) error {
	g := &m.Gen
	ints := map[protowire.Number]*int64{
		momInFlight: &m.InFlight, momWaiting: &m.Waiting, momLimited: &m.LimitedNS, momConnsOpen: &m.ConnsOpen,
		genCPU: &g.CPUNS, genCapacity: &g.CapacityNS, genStolen: &g.StolenNS, genGCPause: &g.GCPauseNS,
		genSleeper: &g.SleeperNS, genDescriptors: &g.Descriptors, genHeap: &g.HeapBytes,
	}
	return eachField(b, func(f field) error {
		if to := ints[f.num]; to != nil {
			return f.setInt(to)
		}
		switch f.num {
		case momSends:
			return f.setUint(&m.Sends)
		case momDone:
			return f.fill(m.Done[:])
		case momPeakSent:
			return f.setUint(&m.PeakSent100ms)
		case genBusy:
			return f.setFloat(&g.MachineBusy)
		}
		return nil
	})
}

// setFloat reads a finite number.
func (f field) setFloat(to *float64) error {
	if err := f.want(protowire.Fixed64Type); err != nil {
		return err
	}
	v := math.Float64frombits(f.n)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return codecError("field %d is not a finite number", f.num)
	}
	*to = v
	return nil
}
