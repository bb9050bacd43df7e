package foreign

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"headroom/store/record"
)

// vegetaResult is what is read of vegeta's Result; bodies and headers are read
// over.
type vegetaResult struct {
	Seq       uint64        `json:"seq"`
	Code      uint16        `json:"code"`
	Timestamp time.Time     `json:"timestamp"`
	Latency   time.Duration `json:"latency"`
	BytesOut  uint64        `json:"bytes_out"`
	BytesIn   uint64        `json:"bytes_in"`
	Error     string        `json:"error"`
	Method    string        `json:"method"`
	URL       string        `json:"url"`
}

func (v *vegetaResult) row() Row {
	r := Row{
		StartNS: v.Timestamp.UnixNano(), Seq: int64(v.Seq & (1<<62 - 1)), Status: int(v.Code),
		BytesIn: int64(min(v.BytesIn, 1<<50)), BytesOut: int64(min(v.BytesOut, 1<<50)), Class: className(v.Method + " " + v.URL),
	}
	r.DoneNS = r.StartNS + int64(v.Latency)
	text := v.Error
	if v.Code >= 200 && v.Code < 400 && text == "" {
		r.Outcome = record.OK
		return r
	}
	r.Outcome, r.Err = classify(-1, r.Status, true, text)
	return r
}

// readVegeta reads the results of vegeta attack: gob, JSON lines or CSV.
func readVegeta(s *source) error {
	head, _ := s.in.Peek(512)
	switch {
	case len(bytes.TrimSpace(head)) > 0 && bytes.TrimSpace(head)[0] == '{':
		if bytes.Contains(head, []byte(`"latencies"`)) {
			return refuse(AggregatesOnly, "this is a report of vegeta, which holds no requests: import it as a trend point with --from vegeta-report")
		}
		return readVegetaJSON(s)
	case len(head) > 0 && head[0] >= '0' && head[0] <= '9' && bytes.IndexByte(head, 0) < 0:
		return readVegetaCSV(s)
	case bytes.HasPrefix(head, []byte("Value(ms)")):
		return refuse(AggregatesOnly, "this is a percentile plot of vegeta, which holds no requests: import it as a trend point with --from vegeta-hdrplot")
	}
	return readVegetaGob(s)
}

func readVegetaJSON(s *source) error {
	for {
		line, err := s.raw()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var v vegetaResult
		if err := json.Unmarshal(line, &v); err != nil {
			s.damage.add("bad_json", s.line)
			continue
		}
		if err := s.giveVegeta(&v); err != nil {
			return err
		}
	}
}

func (s *source) giveVegeta(v *vegetaResult) error {
	if y := v.Timestamp.Year(); y < 1971 || y > 2200 {
		s.damage.add("bad_instant", s.line)
		return nil
	}
	if v.Latency < 0 {
		s.damage.add("negative_duration", s.line)
		return nil
	}
	r := v.row()
	return s.give(&r)
}

// readVegetaCSV reads vegeta encode --to csv, which has no header: instant in
// ns, code, latency in ns, bytes out, bytes in, error, body, attack, sequence,
// method, URL, headers.
func readVegetaCSV(s *source) error {
	for {
		c, err := s.record(',')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if len(c) < 9 {
			s.damage.add("too_few_cells", s.line)
			continue
		}
		at, err1 := strconv.ParseInt(c[0], 10, 62)
		code, err2 := strconv.ParseUint(c[1], 10, 16)
		latency, err3 := strconv.ParseInt(c[2], 10, 62)
		out, err4 := strconv.ParseUint(c[3], 10, 62)
		in, err5 := strconv.ParseUint(c[4], 10, 62)
		seq, err6 := strconv.ParseUint(c[8], 10, 62)
		if errors.Join(err1, err2, err3, err4, err5, err6) != nil {
			s.damage.add("bad_number", s.line)
			continue
		}
		v := vegetaResult{
			Seq: seq, Code: uint16(code), Timestamp: time.Unix(0, at).UTC(), Latency: time.Duration(latency), BytesOut: out, BytesIn: in, Error: c[5],
		}
		if len(c) > 10 {
			v.Method, v.URL = c[9], c[10]
		}
		if err := s.giveVegeta(&v); err != nil {
			return err
		}
	}
}

// maxMessage bounds one gob message, that is one result with its body, in bytes.
const maxMessage = 16 << 20

// frames hands a gob stream to a decoder message by message and refuses one
// that is too long before anything is allocated for it.
type frames struct {
	in   io.Reader
	left []byte // of the current message
}

func (f *frames) fill() error {
	if len(f.left) > 0 {
		return nil
	}
	var head [9]byte
	if _, err := io.ReadFull(f.in, head[:1]); err != nil {
		return io.EOF
	}
	size, n := uint64(head[0]), 1
	if size > 0x7f {
		width := 256 - int(size) // a negated count of bytes, big endian
		if width > 8 {
			return fmt.Errorf("a gob message with a length of %d bytes", width)
		}
		if _, err := io.ReadFull(f.in, head[1:1+width]); err != nil {
			return io.ErrUnexpectedEOF
		}
		size = 0
		for _, b := range head[1 : 1+width] {
			size = size<<8 | uint64(b)
		}
		n += width
	}
	if size > maxMessage {
		return fmt.Errorf("a gob message of %d bytes, more than %d", size, maxMessage)
	}
	body := &bytes.Buffer{}
	body.Write(head[:n])
	if m, err := io.CopyN(body, f.in, int64(size)); err != nil || m < int64(size) {
		return io.ErrUnexpectedEOF
	}
	f.left = body.Bytes()
	return nil
}

func (f *frames) Read(p []byte) (int, error) {
	if err := f.fill(); err != nil {
		return 0, err
	}
	n := copy(p, f.left)
	f.left = f.left[n:]
	return n, nil
}

// ReadByte makes the decoder read no further than it needs.
func (f *frames) ReadByte() (byte, error) {
	if err := f.fill(); err != nil {
		return 0, err
	}
	b := f.left[0]
	f.left = f.left[1:]
	return b, nil
}

// readVegetaGob reads what vegeta attack writes by itself.
func readVegetaGob(s *source) error {
	d := gob.NewDecoder(&frames{in: s.in})
	for {
		var v vegetaResult
		err := decodeGob(d, &v)
		if err == io.EOF {
			return nil
		}
		s.line++
		if err != nil {
			if s.rows == 0 && s.damage.Total() == 0 {
				return refuse(NotThisFormat, "not vegeta's results in gob, JSON or CSV: %v", err)
			}
			// A gob stream cannot be taken up again after an error.
			s.damage.add("file_cut_short", s.line)
			return nil
		}
		if err := s.giveVegeta(&v); err != nil {
			return err
		}
	}
}

// decodeGob turns what the decoder panics with, given a hostile stream, into an
// error.
func decodeGob(d *gob.Decoder, v *vegetaResult) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("gob: %v", p)
		}
	}()
	return d.Decode(v)
}
