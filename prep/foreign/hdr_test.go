package foreign_test

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"testing"

	"headroom/prep/foreign"
)

// encode writes counts as HdrHistogram's own encodings do, by their published
// layout: two digits, values from 1 to 3,600,000,000.
func encode(version int, counts []int64) string {
	var payload bytes.Buffer
	for _, n := range counts {
		switch version {
		case 0, 1:
			_ = binary.Write(&payload, binary.BigEndian, n)
		default:
			u := uint64(n<<1) ^ uint64(n>>63)
			for u >= 0x80 {
				payload.WriteByte(byte(u) | 0x80)
				u >>= 7
			}
			payload.WriteByte(byte(u))
		}
	}
	var plain bytes.Buffer
	put := func(v any) { _ = binary.Write(&plain, binary.BigEndian, v) }
	compressed := uint32(0)
	switch version {
	case 0:
		put(uint32(0x1c849308 | 0x80))
		put(int32(2))
		put(int64(1))
		put(int64(3_600_000_000))
		put(int64(0)) // total, which readers do not need
		compressed = 0x1c849309 | 0x80
	case 1, 2:
		cookie, word := uint32(0x1c849301), uint32(0x80)
		compressed = 0x1c849302 | word
		if version == 2 {
			cookie, word = 0x1c849303, 0x10
			compressed = 0x1c849304 | word
		}
		put(cookie | word)
		put(int32(payload.Len()))
		put(int32(0))
		put(int32(2))
		put(int64(1))
		put(int64(3_600_000_000))
		put(float64(1))
	}
	plain.Write(payload.Bytes())
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	_, _ = w.Write(plain.Bytes())
	_ = w.Close()
	var out bytes.Buffer
	_ = binary.Write(&out, binary.BigEndian, compressed)
	_ = binary.Write(&out, binary.BigEndian, int32(z.Len()))
	out.Write(z.Bytes())
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

// The three encodings of one histogram give the same values: exact below 256
// units (two digits), the upper edge of a bucket above.
func TestHistogramEncodings(t *testing.T) {
	counts := make([]int64, 400)
	counts[5], counts[255], counts[256], counts[399] = 7, 1, 2, 1 // 5, 255, 256–257, 572–575
	var packed []int64
	for i := 0; i < len(counts); {
		j := i
		for j < len(counts) && counts[j] == 0 {
			j++
		}
		if j > i {
			packed = append(packed, -int64(j-i))
		}
		if j < len(counts) {
			packed = append(packed, counts[j])
		}
		i = j + 1
	}
	for version, text := range []string{encode(0, counts), encode(1, counts), encode(2, packed)} {
		t.Run(fmt.Sprintf("V%d", version), func(t *testing.T) {
			m, _ := imported(t, "1.000,1.000,0.5,"+text+"\n", foreign.Options{From: "hlog", UnitNS: 1000})
			s := total(t, m)
			if s.counts.Scheduled != 11 || s.service.MinNS() != 5000 || s.service.MaxNS() != 575_000 {
				t.Errorf("%d values from %d to %d ns, want 11 from 5 to 575 µs", s.counts.Scheduled, s.service.MinNS(), s.service.MaxNS())
			}
			if got := s.service.QuantileUS(10.0 / 11); got != 257 {
				t.Errorf("the tenth value of eleven is %v µs, want 257, the edge of 256–257", got)
			}
			if got := s.service.QuantileUS(0.5); got != 5 {
				t.Errorf("median %v µs, want 5", got)
			}
		})
	}
}

// Damaged histograms are counted by reason, and the good lines beside them are
// kept.
func TestDamagedHistograms(t *testing.T) {
	good := "1.000,1.000,0.5," + encode(2, []int64{-5, 3}) + "\n"
	for reason, line := range map[string]string{
		"bad_base64":       "2.000,1.000,0.5,HIST*\n",
		"unknown_encoding": "2.000,1.000,0.5," + base64.StdEncoding.EncodeToString(make([]byte, 64)) + "\n",
		"bad_histogram":    "2.000,1.000,0.5," + encode(2, []int64{-2_000_000_000, 3}) + "\n",
		"missing_fields":   "2.000,1.000\n",
		"bad_instant":      "-2.000,1.000,0.5," + encode(2, []int64{3}) + "\n",
	} {
		m, im := imported(t, good+line, foreign.Options{From: "hlog", UnitNS: 1000})
		if s := total(t, m); s.counts.Scheduled != 3 || im.Damage.Count(reason) != 1 {
			t.Errorf("%s: %d values, damage %q", reason, s.counts.Scheduled, im.Damage)
		}
	}
}

// A log with a hole and lines out of order becomes intervals that follow on
// each other.
func TestLogWithHole(t *testing.T) {
	one := encode(2, []int64{-5, 1})
	log := "#[StartTime: 1441812279.500 (seconds since epoch)]\n5.000,1.000,0.5," + one + "\n0.000,1.000,0.5," + one + "\n1.000,1.000,0.5," + one + "\n"
	m, _ := imported(t, log, foreign.Options{From: "hlog", UnitNS: 1000})
	if len(m.Iv) != 4 || len(m.Iv[2].Cells) != 0 || m.Iv[2].WidthNS != 3e9 || m.P[0].EndNS != 6e9 {
		t.Errorf("%d intervals, phase of %d ns; want two full, one empty of 3 s, one full", len(m.Iv), m.P[0].EndNS)
	}
	if got := m.H.Started.UnixMilli(); got != 1441812279500 {
		t.Errorf("started %d", got)
	}
}
