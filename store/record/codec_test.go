package record

import (
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"
)

func genHistogram(maxUS int64) *rapid.Generator[*Histogram] {
	return rapid.Custom(func(t *rapid.T) *Histogram {
		switch rapid.IntRange(0, 9).Draw(t, "shape") {
		case 0:
			return nil
		case 1:
			return NewHistogram(maxUS)
		case 2: // many values, the array form
			h := NewHistogram(maxUS)
			step := rapid.Int64Range(1, maxUS).Draw(t, "step")
			for i := range int64(sparseLimit + 10) {
				h.Record(i * step)
			}
			return h
		}
		h := NewHistogram(maxUS)
		for _, ns := range rapid.SliceOfN(rapid.Int64Range(-5, 2000*maxUS), 0, 60).Draw(t, "ns") {
			h.Record(ns)
		}
		return h
	})
}

func genCounts(t *rapid.T) Counts {
	n := rapid.Uint64Range(0, 1<<62)
	c := Counts{
		Scheduled: n.Draw(t, "scheduled"), Sent: n.Draw(t, "sent"), Unsent: n.Draw(t, "unsent"),
		Attempts: n.Draw(t, "attempts"), BytesIn: n.Draw(t, "in"), BytesOut: n.Draw(t, "out"),
	}
	for i := range c.By {
		if rapid.Bool().Draw(t, "some") {
			c.By[i] = n.Draw(t, "by")
		}
	}
	return c
}

func genCells(maxUS int64, thresholds int) *rapid.Generator[[]Cell] {
	return rapid.Custom(func(t *rapid.T) []Cell {
		var cells []Cell
		for class := range 4 {
			if rapid.Bool().Draw(t, "absent") {
				continue
			}
			h := genHistogram(maxUS)
			c := Cell{
				Class: class * 7, Counts: genCounts(t),
				OKResponse: h.Draw(t, "ok"), OtherResponse: h.Draw(t, "other"),
				Service: h.Draw(t, "service"), Lag: h.Draw(t, "lag"),
				Status: rapid.MapOf(rapid.IntRange(0, 999), rapid.Uint64()).Draw(t, "status"),
				Errors: rapid.MapOf(rapid.Custom(func(t *rapid.T) ErrorKind {
					return ErrorKind(rapid.Uint8().Draw(t, "kind"))
				}), rapid.Uint64()).Draw(t, "errors"),
			}
			if thresholds > 0 {
				c.AtOrBelow = rapid.SliceOfN(rapid.Uint64(), thresholds, thresholds).Draw(t, "below")
			}
			for i := range c.LateSends {
				c.LateSends[i] = rapid.Uint64Range(0, 3).Draw(t, "late")
			}
			cells = append(cells, c)
		}
		return cells
	})
}

func genInterval() *rapid.Generator[*Interval] {
	return rapid.Custom(func(t *rapid.T) *Interval {
		maxUS := rapid.SampledFrom([]int64{2, 1000, DefaultMaxUS, MaxMaxUS}).Draw(t, "max")
		thresholds := rapid.IntRange(0, 3).Draw(t, "thresholds")
		i := rapid.Int64()
		iv := &Interval{
			Phase: rapid.IntRange(0, math.MaxUint32).Draw(t, "phase"), Index: rapid.IntRange(0, math.MaxUint32).Draw(t, "index"),
			StartNS: rapid.Int64Range(0, math.MaxInt64/2).Draw(t, "start"), WidthNS: rapid.Int64Range(0, math.MaxInt64/2).Draw(t, "width"),
			Cells: genCells(maxUS, thresholds).Draw(t, "cells"), Flows: genCells(maxUS, thresholds).Draw(t, "flows"),
			Moment: Moment{
				InFlight: i.Draw(t, "in flight"), Waiting: i.Draw(t, "waiting"), Sends: rapid.Uint64().Draw(t, "sends"),
				PeakSent100ms: rapid.Uint64().Draw(t, "peak"), LimitedNS: i.Draw(t, "limited"), ConnsOpen: i.Draw(t, "conns"),
				Gen: Generator{
					CPUNS: i.Draw(t, "cpu"), CapacityNS: i.Draw(t, "capacity"), StolenNS: i.Draw(t, "stolen"), GCPauseNS: i.Draw(t, "gc"),
					SleeperNS: i.Draw(t, "sleeper"), Descriptors: i.Draw(t, "fds"), HeapBytes: i.Draw(t, "heap"),
					MachineBusy: rapid.OneOf(rapid.Just(math.NaN()), rapid.Float64Range(0, 1)).Draw(t, "busy"),
				},
			},
		}
		for k := range iv.Moment.Done {
			iv.Moment.Done[k] = rapid.Uint64Range(0, 9).Draw(t, "done")
		}
		return iv
	})
}

var sameValues = cmp.Options{cmpopts.EquateNaNs(), cmpopts.EquateEmpty()}

func TestIntervalRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := genInterval().Draw(t, "interval")
		b, err := AppendInterval([]byte("prefix"), want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeInterval(b[len("prefix"):])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, sameValues); diff != "" {
			t.Fatalf("(-written +read)\n%s", diff)
		}
		again, err := AppendInterval(nil, got)
		if err != nil || string(again) != string(b[len("prefix"):]) {
			t.Fatalf("the same interval has two encodings, error %v", err)
		}
	})
}

func TestSamplesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.Custom(func(t *rapid.T) Sample {
			return Sample{rapid.IntRange(0, 99).Draw(t, "series"), rapid.Int64().Draw(t, "at"), rapid.Float64().Draw(t, "value")}
		})).Draw(t, "batch")
		b, err := AppendSamples(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeSamples(b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, sameValues); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestSendSampleRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scheduled := rapid.SliceOf(rapid.Int64()).Draw(t, "scheduled")
		want := &SendSample{
			Phase: rapid.IntRange(0, 9).Draw(t, "phase"), Window: rapid.IntRange(0, 9).Draw(t, "window"), Scheduled: scheduled,
			Sent: rapid.SliceOfN(rapid.Int64(), len(scheduled), len(scheduled)).Draw(t, "sent"),
		}
		b, err := AppendSendSample(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeSendSample(b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, sameValues); diff != "" {
			t.Fatal(diff)
		}
	})
}

// A file of a later version of the format may have fields that this one does
// not know.
func TestUnknownFieldsAreSkipped(t *testing.T) {
	h := NewHistogram(DefaultMaxUS)
	h.Record(1_500_000)
	iv := &Interval{Phase: 1, Index: 2, StartNS: 3, WidthNS: 4, Cells: []Cell{{Class: 1, OKResponse: h}}}
	b, err := AppendInterval(nil, iv)
	if err != nil {
		t.Fatal(err)
	}
	b = protowire.AppendTag(b, 900, protowire.BytesType)
	b = protowire.AppendBytes(b, []byte("from the future"))
	b = protowire.AppendTag(b, 901, protowire.Fixed32Type)
	b = protowire.AppendFixed32(b, 7)
	got, err := DecodeInterval(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(iv, got, sameValues); diff != "" {
		t.Fatal(diff)
	}
}

func TestEncodersRefuse(t *testing.T) {
	a, b := NewHistogram(1000), NewHistogram(2000)
	infinite := &Interval{}
	infinite.Moment.Gen.MachineBusy = math.Inf(1)
	for name, iv := range map[string]*Interval{
		"negative phase":         {Phase: -1},
		"negative width":         {WidthNS: -1},
		"classes out of order":   {Cells: []Cell{{Class: 2}, {Class: 1}}},
		"the same class twice":   {Flows: []Cell{{Class: 2}, {Class: 2}}},
		"a status over 999":      {Cells: []Cell{{Status: map[int]uint64{1000: 1}}}},
		"two geometries":         {Cells: []Cell{{Lag: a}}, Flows: []Cell{{Service: b}}},
		"an infinite busy share": infinite,
	} {
		if _, err := AppendInterval(nil, iv); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := AppendSamples(nil, []Sample{{Value: v}}); err == nil {
			t.Errorf("a reading of %v: accepted", v)
		}
		if _, err := EncodeJSON(Note{Code: "x", Measured: v}); err == nil {
			t.Errorf("a note of %v: accepted", v)
		}
	}
	if _, err := AppendSendSample(nil, &SendSample{Scheduled: []int64{1}}); err == nil {
		t.Error("a send sample of unequal lists: accepted")
	}
}

func TestDecodersRefuse(t *testing.T) {
	message := func(num protowire.Number, body []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), body)
	}
	number := func(num protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, num, protowire.VarintType), v)
	}
	cat := func(parts ...[]byte) (all []byte) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	float := func(num protowire.Number, v float64) []byte {
		return protowire.AppendFixed64(protowire.AppendTag(nil, num, protowire.Fixed64Type), math.Float64bits(v))
	}
	max := number(ivMaxUS, 1000)
	bucket := func(vs ...uint64) []byte {
		var body []byte
		for _, v := range vs {
			body = protowire.AppendVarint(body, v)
		}
		return message(ivCell, message(cellOK, cat(number(histSum, 1<<40), message(histBuckets, body))))
	}
	for name, b := range map[string][]byte{
		"a cut tag":                  {0x80},
		"a cut message":              message(ivCell, []byte("xxxx"))[:3],
		"a number where a cell goes": number(ivCell, 1),
		"a class beyond the limit":   message(ivCell, number(cellClass, MaxClasses)),
		"the same class twice":       cat(message(ivCell, nil), message(ivCell, nil)),
		"eleven outcomes":            message(ivCell, message(cellBy, make([]byte, NumOutcomes+1))),
		"a status without a count":   message(ivCell, message(cellStatus, []byte{5})),
		"a status over 999":          message(ivCell, message(cellStatus, []byte{0xff, 0x7f, 1})),
		"a bucket beyond the last":   cat(max, bucket(5000<<1)),
		"a gap that wraps":           cat(max, bucket(1<<1, math.MaxUint64-1)),
		"a bucket without values":    cat(max, bucket(1<<1|1, 0)),
		"a count that wraps":         cat(max, bucket(1, math.MaxInt64, 1, math.MaxInt64)),
		"no geometry":                bucket(0),
		"a geometry of a year":       cat(number(ivMaxUS, 365*MaxMaxUS), bucket(0)),
		"a maximum above the sum":    cat(max, message(ivCell, message(cellOK, cat(number(histMin, 5), message(histBuckets, []byte{0}))))),
		"an end beyond all time":     cat(number(ivStart, math.MaxInt64), number(ivWidth, 1)),
		"NaN":                        message(ivMoment, float(genBusy, math.NaN())),
		"infinity":                   message(ivMoment, float(genBusy, math.Inf(1))),
	} {
		if _, err := DecodeInterval(b); !errors.Is(err, ErrCodec) {
			t.Errorf("%s: %v", name, err)
		}
	}
	nan := binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.NaN()))
	if _, err := DecodeSamples(cat(message(samplesSeries, []byte{0}), message(samplesAt, []byte{0}), message(samplesValue, nan))); !errors.Is(err, ErrCodec) {
		t.Errorf("samples with NaN: %v", err)
	}
	if _, err := DecodeSendSample(message(sendScheduled, []byte{2, 2})); !errors.Is(err, ErrCodec) {
		t.Errorf("send sample of unequal lists: %v", err)
	}
	if _, err := DecodeJSON[Header]([]byte(`{"run_id":"x","interval_ns":1,"max_us":1e18}`)); !errors.Is(err, ErrCodec) {
		t.Errorf("header with histograms up to 10^18 µs: %v", err)
	}
}

// A few bytes must not make a decoder allocate megabytes.
func TestDecodersAllocateInProportion(t *testing.T) {
	var body []byte
	for range 20_000 { // cells of the same class: refused at the second
		body = protowire.AppendBytes(protowire.AppendTag(body, ivCell, protowire.BytesType), nil)
	}
	var wide []byte // 1,000 histograms of a day, each with one bucket of many values
	one := protowire.AppendBytes(protowire.AppendTag(nil, histBuckets, protowire.BytesType), []byte{1, 0xff, 0xff, 0x7f})
	for class := range 1000 {
		cell := appendInt(nil, cellClass, int64(class))
		cell = protowire.AppendBytes(protowire.AppendTag(cell, cellOK, protowire.BytesType), one)
		wide = protowire.AppendBytes(protowire.AppendTag(wide, ivCell, protowire.BytesType), cell)
	}
	wide = appendInt(wide, ivMaxUS, MaxMaxUS)
	for name, b := range map[string][]byte{"same class": body, "wide": wide} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = DecodeInterval(b)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 200*uint64(len(b)) {
			t.Errorf("%s: %d bytes allocated for %d bytes read", name, got, len(b))
		}
	}
}

func FuzzDecode(f *testing.F) {
	h := NewHistogram(DefaultMaxUS)
	for i := range int64(50) {
		h.Record(i * 777_777)
	}
	iv := &Interval{Phase: 1, Index: 2, StartNS: 3e9, WidthNS: 1e9, Cells: []Cell{
		{Class: 0, OKResponse: h, Lag: h, AtOrBelow: []uint64{1, 2}, Status: map[int]uint64{200: 50}},
		{Class: 3, OtherResponse: h, Service: h, Errors: map[ErrorKind]uint64{ErrReset: 50}},
	}}
	b, err := AppendInterval(nil, iv)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	b, _ = AppendSamples(nil, []Sample{{0, 1, 2}, {1, 5, 2.5}})
	f.Add(b)
	b, _ = AppendSendSample(nil, &SendSample{Phase: 1, Window: 2, Scheduled: []int64{5, 9}, Sent: []int64{6, 9}})
	f.Add(b)
	f.Add([]byte(`{"run_id":"a","max_us":60000000,"interval_ns":1000000000}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		// What parses prints back, to something that parses to the same.
		if iv, err := DecodeInterval(b); err == nil {
			again, err := AppendInterval(nil, iv)
			if err != nil {
				t.Fatalf("decoded, but cannot be encoded: %v", err)
			}
			got, err := DecodeInterval(again)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(iv, got, sameValues); diff != "" {
				t.Fatal(diff)
			}
		}
		if s, err := DecodeSamples(b); err == nil {
			if _, err := AppendSamples(nil, s); err != nil {
				t.Fatal(err)
			}
		}
		if s, err := DecodeSendSample(b); err == nil {
			if _, err := AppendSendSample(nil, s); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = DecodeJSON[Header](b)
		_, _ = DecodeJSON[Note](b)
	})
}
