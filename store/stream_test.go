package store

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"headroom/store/record"
)

// frame is one frame of a stream, for tests that change it.
type frame struct {
	kind frameKind
	body []byte
}

func streamOf(t testing.TB, m *record.Memory) []byte {
	t.Helper()
	run := reopen(t, sealed(t, t.TempDir(), m))
	var b bytes.Buffer
	if err := run.Send(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func framesOf(t testing.TB, stream []byte) []frame {
	t.Helper()
	var all []frame
	for b := stream[len(streamMagic):]; len(b) > 0; {
		size, n := binary.Uvarint(b[1:])
		end := 1 + n + int(size)
		all = append(all, frame{frameKind(b[0]), b[1+n : end]})
		b = b[end:]
	}
	return all
}

func join(all []frame) []byte {
	b := []byte(streamMagic)
	for _, f := range all {
		b = append(b, byte(f.kind))
		b = binary.AppendUvarint(b, uint64(len(f.body)))
		b = append(b, f.body...)
	}
	return b
}

func inbox(t testing.TB, lim Limits) (*Inbox, string) {
	t.Helper()
	dir := t.TempDir()
	in, err := OpenInbox(dir, lim)
	if err != nil {
		t.Fatal(err)
	}
	return in, dir
}

// nothingIn asserts that a folder holds no run, nor anything half made.
func nothingIn(t testing.TB, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			t.Errorf("%s was left", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A run that was sent is the same run: records, seal and all.
func TestStreamKeepsTheSeal(t *testing.T) {
	m := small.memory()
	path := sealed(t, t.TempDir(), m)
	run := reopen(t, path)
	var b bytes.Buffer
	if err := run.Send(&b); err != nil {
		t.Fatal(err)
	}
	in, dir := inbox(t, DefaultLimits())
	got, err := in.Receive(bytes.NewReader(b.Bytes()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Digest != run.Digest() || got.Already || got.RunID != m.H.RunID {
		t.Errorf("received %+v, sent digest %s", got, run.Digest())
	}
	copied := reopen(t, got.Path)
	if d := cmp.Diff(collect(t, run), collect(t, copied), sameRun); d != "" {
		t.Error(d)
	}
	report, err := Verify(got.Path)
	if err != nil || len(report.Findings) > 0 {
		t.Errorf("verify: %v %+v", err, report)
	}
	again, err := in.Receive(bytes.NewReader(b.Bytes()), func(record.Header, string) error { return errors.New("asked") })
	if err != nil || !again.Already || again.Path != got.Path {
		t.Errorf("the same run again: %+v, %v", again, err)
	}
	if all, err := List(dir); err != nil || len(all) != 1 {
		t.Errorf("%d runs in the folder, %v", len(all), err)
	}
}

func TestStreamOfAnUnsealedRunIsRefused(t *testing.T) {
	run := reopen(t, part(t, t.TempDir(), small.memory()))
	if err := run.Send(io.Discard); err == nil || !strings.Contains(err.Error(), "recover") {
		t.Errorf("sent: %v", err)
	}
}

func TestStreamsCutShort(t *testing.T) {
	whole := streamOf(t, small.memory())
	in, dir := inbox(t, DefaultLimits())
	step := max(1, len(whole)/60)
	for n := 0; n < len(whole); n += step {
		if _, err := in.Receive(bytes.NewReader(whole[:n]), nil); !errors.Is(err, ErrStream) {
			t.Fatalf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
	nothingIn(t, dir)
}

// editJSON changes the JSON of the first frame of a kind.
func editJSON(kind frameKind, change func(map[string]any)) func([]frame) []frame {
	return func(all []frame) []frame {
		for i := range all {
			if all[i].kind != kind {
				continue
			}
			var m map[string]any
			if err := json.Unmarshal(all[i].body, &m); err != nil {
				panic(err)
			}
			change(m)
			b, err := json.Marshal(m)
			if err != nil {
				panic(err)
			}
			all[i].body = b
			return all
		}
		panic("no such frame")
	}
}

func set(kind frameKind, key string, v any) func([]frame) []frame {
	return editJSON(kind, func(m map[string]any) { m[key] = v })
}

// body replaces the body of the first frame of a kind.
func body(kind frameKind, b []byte) func([]frame) []frame {
	return func(all []frame) []frame {
		for i := range all {
			if all[i].kind == kind {
				all[i].body = b
				return all
			}
		}
		panic("no such frame")
	}
}

// editInterval changes the first interval that has cells.
func editInterval(change func(*record.Interval)) func([]frame) []frame {
	return func(all []frame) []frame {
		for i := range all {
			if all[i].kind != frameInterval {
				continue
			}
			iv, err := record.DecodeInterval(all[i].body)
			if err != nil {
				panic(err)
			}
			change(iv)
			if all[i].body, err = record.AppendInterval(nil, iv); err != nil {
				panic(err)
			}
			return all
		}
		panic("no interval")
	}
}

func find(all []frame, kind frameKind) int {
	return slices.IndexFunc(all, func(f frame) bool { return f.kind == kind })
}

// bomb is an interval whose histogram claims what it does not hold.
func bomb(maxUS uint64, buckets []byte) []byte {
	var h, cell, iv []byte
	h = protowire.AppendTag(h, 5, protowire.BytesType)
	h = protowire.AppendBytes(h, buckets)
	cell = protowire.AppendTag(cell, 9, protowire.BytesType)
	cell = protowire.AppendBytes(cell, h)
	iv = protowire.AppendTag(iv, 4, protowire.VarintType)
	iv = protowire.AppendVarint(iv, 1e9)
	iv = protowire.AppendTag(iv, 5, protowire.VarintType)
	iv = protowire.AppendVarint(iv, maxUS)
	iv = protowire.AppendTag(iv, 6, protowire.BytesType)
	return protowire.AppendBytes(iv, cell)
}

func deep(n int) string {
	return `{"run_id":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`
}

// What a stranger may try, each refused with a sentence, and nothing written.
var hostile = map[string]func([]frame) []frame{
	"no frames":                 func([]frame) []frame { return nil },
	"begin twice":               func(all []frame) []frame { return append(all[:1:1], all...) },
	"no begin":                  func(all []frame) []frame { return all[1:] },
	"begin is not JSON":         body(frameBegin, []byte("x")),
	"begin of a newer format":   set(frameBegin, "format", 99),
	"begin of format 0":         set(frameBegin, "format", 0),
	"digest of another length":  set(frameBegin, "digest", "ab"),
	"digest in capitals":        set(frameBegin, "digest", strings.Repeat("AB", 32)),
	"digest is a path":          set(frameBegin, "digest", "../../../../etc/passwd"),
	"digest of something else":  set(frameBegin, "digest", strings.Repeat("ab", 32)),
	"digest is a number":        set(frameBegin, "digest", 7),
	"no header":                 func(all []frame) []frame { return slices.Delete(all, 1, 2) },
	"header twice":              func(all []frame) []frame { return slices.Insert(all, 1, all[1]) },
	"header is not JSON":        body(frameHeader, []byte{0xff, 0xfe}),
	"header is a list":          body(frameHeader, []byte("[]")),
	"header is deep":            body(frameHeader, []byte(deep(10000))),
	"run id is a path":          set(frameHeader, "run_id", "../../etc/cron.d/x"),
	"run id is absolute":        set(frameHeader, "run_id", "/etc/passwd"),
	"run id has a NUL":          set(frameHeader, "run_id", "a\x00b"),
	"run id is a dot file":      set(frameHeader, "run_id", ".bashrc"),
	"run id is a flag":          set(frameHeader, "run_id", "-rf"),
	"run id is empty":           set(frameHeader, "run_id", ""),
	"run id is long":            set(frameHeader, "run_id", strings.Repeat("a", 129)),
	"run id has a backslash":    set(frameHeader, "run_id", `..\..\x`),
	"run id has a line break":   set(frameHeader, "run_id", "a\nb"),
	"name has an escape":        set(frameHeader, "name", "a\x1b[31mb"),
	"name is long":              set(frameHeader, "name", strings.Repeat("n", 201)),
	"release has a bell":        set(frameHeader, "release", "v1\a"),
	"plan is huge":              set(frameHeader, "plan", strings.Repeat("p", 1<<20+1)),
	"histograms up to a day":    set(frameHeader, "max_us", int64(record.MaxMaxUS)),
	"histograms up to 2^62":     set(frameHeader, "max_us", int64(1)<<62),
	"histograms up to -1":       set(frameHeader, "max_us", -1),
	"histograms of another run": set(frameHeader, "max_us", 120_000_000),
	"intervals of 0":            set(frameHeader, "interval_ns", 0),
	"intervals of 1 ns":         set(frameHeader, "interval_ns", 1),
	"negative timeout":          set(frameHeader, "timeout_ns", -5),
	"year 1":                    set(frameHeader, "started", "0001-01-01T00:00:00Z"),
	"a million shards":          set(frameHeader, "shards", 1<<21),
	"classes that cost too much": editJSON(frameHeader, func(m map[string]any) {
		m["max_us"] = 3_600_000_000
		var cs []any
		for i := range 1000 {
			cs = append(cs, map[string]any{"name": fmt.Sprint(i)})
		}
		m["classes"] = cs
	}),
	"too many classes": editJSON(frameHeader, func(m map[string]any) {
		var cs []any
		for i := range 1001 {
			cs = append(cs, map[string]any{"name": fmt.Sprint(i)})
		}
		m["classes"] = cs
	}),
	"a class with a NUL":      set(frameHeader, "classes", []any{map[string]any{"name": "a\x00"}}),
	"no classes":              set(frameHeader, "classes", []any{}),
	"a threshold on no clock": set(frameHeader, "thresholds", []any{map[string]any{"clock": "wall"}}),
	"gates without end":       set(frameHeader, "gates", make([]string, 1001)),
	"a gate that is a book":   set(frameHeader, "gates", []string{strings.Repeat("g", 2001)}),
	"facts twice":             func(all []frame) []frame { i := find(all, frameFacts); return slices.Insert(all, i, all[i]) },
	"a fact with an escape":   body(frameFacts, []byte(`{"generator":{"a":"\u001b[2J"}}`)),
	"facts are deep":          body(frameFacts, []byte(deep(17))),
	"phase 5 first":           set(framePhase, "index", 5),
	"negative phase":          set(framePhase, "index", -1),
	"phase runs backwards":    set(framePhase, "end_ns", -1),
	"phase of a century":      set(framePhase, "end_ns", int64(1)<<62),
	"phase kind with a bell":  set(framePhase, "kind", "\a"),
	"phases without end": func(all []frame) []frame {
		i := find(all, framePhase)
		var many []frame
		for k := range 5001 {
			many = append(many, frame{framePhase, fmt.Appendf(nil, `{"index":%d,"kind":"drain"}`, k)})
		}
		return slices.Replace(all, i, i+1, many...)
	},
	"phases cost too much": func(all []frame) []frame {
		i := find(all, framePhase)
		var many []frame
		for k := range 1000 {
			many = append(many, frame{framePhase, fmt.Appendf(nil, `{"index":%d,"kind":"step"}`, k)})
		}
		return slices.Replace(all, i, i+1, many...)
	},
	"a fault event in another age": func(all []frame) []frame {
		return slices.Insert(all, find(all, frameNote), frame{frameFault, []byte(`{"at_ns":-9223372036854775808}`)})
	},
	"a note that is a book":     set(frameNote, "text", strings.Repeat("n", 2001)),
	"a note with a bell":        set(frameNote, "code", "\a"),
	"interval is noise":         body(frameInterval, []byte{0xff, 0xff, 0xff, 0xff, 0xff}),
	"interval of no phase":      editInterval(func(iv *record.Interval) { iv.Phase = 77 }),
	"interval of no width":      editInterval(func(iv *record.Interval) { iv.WidthNS = 0 }),
	"interval of a century":     editInterval(func(iv *record.Interval) { iv.WidthNS = 1 << 61 }),
	"interval of another class": editInterval(func(iv *record.Interval) { iv.Cells[len(iv.Cells)-1].Class = 9 }),
	"interval twice":            func(all []frame) []frame { i := find(all, frameInterval); return slices.Insert(all, i, all[i]) },
	"interval missing":          func(all []frame) []frame { i := find(all, frameInterval); return slices.Delete(all, i+1, i+2) },
	"interval moved":            editInterval(func(iv *record.Interval) { iv.StartNS += 5 }),
	"the law is broken":         editInterval(func(iv *record.Interval) { iv.Cells[0].Counts.Scheduled++ }),
	"the law by overflow": editInterval(func(iv *record.Interval) {
		iv.Cells[0].Counts.By = [record.NumOutcomes]uint64{1 << 63, 1 << 63}
		iv.Cells[0].Counts.Scheduled = 0
	}),
	"a count of 2^63":           editInterval(func(iv *record.Interval) { iv.Cells[0].Counts.Attempts = 1 << 63 }),
	"bytes of 2^63":             editInterval(func(iv *record.Interval) { iv.Cells[0].Counts.BytesIn = 1 << 63 }),
	"sends of 2^63":             editInterval(func(iv *record.Interval) { iv.Moment.Sends = 1 << 63 }),
	"a status of 2^63":          editInterval(func(iv *record.Interval) { iv.Cells[0].Status[200] = 1 << 63 }),
	"two threshold counts":      editInterval(func(iv *record.Interval) { iv.Cells[0].AtOrBelow = []uint64{1, 2} }),
	"a bucket beyond the last":  body(frameInterval, bomb(60_000_000, protowire.AppendVarint(nil, 1<<40))),
	"a bucket count of 2^63":    body(frameInterval, bomb(60_000_000, protowire.AppendVarint([]byte{1}, 1<<63))),
	"a million buckets":         body(frameInterval, bomb(60_000_000, make([]byte, 1<<20))),
	"a geometry of 2^62":        body(frameInterval, bomb(1<<62, []byte{0})),
	"send window is noise":      body(frameSend, []byte{0x0a}),
	"send window of no phase":   body(frameSend, []byte{0x08, 0x7f}),
	"send window twice":         func(all []frame) []frame { i := find(all, frameSend); return slices.Insert(all, i, all[i]) },
	"readings without a number": body(frameSamples, nil),
	"readings of nothing":       body(frameSamples, []byte{0}),
	"readings are noise":        body(frameSamples, []byte{0, 0xff, 0xff}),
	"readings of another batch": func(all []frame) []frame {
		i := find(all, frameSamples)
		all[i].body = append([]byte{9}, all[i].body[1:]...)
		return all
	},
	"no end":                       func(all []frame) []frame { return slices.Delete(all, len(all)-2, len(all)-1) },
	"two ends":                     func(all []frame) []frame { return slices.Insert(all, len(all)-1, all[len(all)-2]) },
	"ended as recording":           set(frameEnd, "state", "recording"),
	"ended before it began":        set(frameEnd, "at_ns", -1),
	"reason is a book":             set(frameEnd, "reason", strings.Repeat("r", 2001)),
	"no stop":                      func(all []frame) []frame { return all[:len(all)-1] },
	"something after the stop":     func(all []frame) []frame { return append(all, frame{frameStop, nil}) },
	"kind 0":                       func(all []frame) []frame { return slices.Insert(all, 2, frame{0, nil}) },
	"kind 255":                     func(all []frame) []frame { return slices.Insert(all, 2, frame{255, nil}) },
	"out of order":                 func(all []frame) []frame { return slices.Insert(all, len(all)-1, all[find(all, framePhase)]) },
	"a record of 5 MB":             body(frameInterval, make([]byte, 5<<20)),
	"a begin of 5 kB":              body(frameBegin, make([]byte, 5000)),
	"a changed record":             editJSON(frameFacts, func(m map[string]any) { m["target"] = map[string]string{"server": "other"} }),
	"a reading at the end of time": body(frameSamples, samplesAt(1<<62)),
}

func samplesAt(at int64) []byte {
	b, err := record.AppendSamples([]byte{0}, []record.Sample{{AtNS: at, Value: 1}})
	if err != nil {
		panic(err)
	}
	return b
}

func TestHostileStreams(t *testing.T) {
	whole := streamOf(t, small.memory())
	first, _ := inbox(t, DefaultLimits())
	if _, err := first.Receive(bytes.NewReader(join(framesOf(t, whole))), nil); err != nil {
		t.Fatalf("the stream itself: %v", err)
	}
	in, dir := inbox(t, DefaultLimits())
	for name, change := range hostile {
		stream := join(change(framesOf(t, bytes.Clone(whole))))
		_, err := in.Receive(bytes.NewReader(stream), nil)
		if !errors.Is(err, ErrStream) && !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), dir) {
			t.Errorf("%s: the answer names the server's folder: %v", name, err)
		}
	}
	huge := append([]byte(streamMagic), byte(frameBegin))
	huge = binary.AppendUvarint(huge, 1<<62)
	for name, stream := range map[string][]byte{
		"nothing": nil, "another magic": []byte("headroom.records/2\n"), "a bbolt file": bytes.Repeat([]byte{0xed, 0xda, 0x0c, 0xed}, 4096),
		"2^62 bytes announced": huge, "a length without end": append([]byte(streamMagic), bytes.Repeat([]byte{0xff}, 64)...),
	} {
		if _, err := in.Receive(bytes.NewReader(stream), nil); !errors.Is(err, ErrStream) {
			t.Errorf("%s: %v", name, err)
		}
	}
	nothingIn(t, dir)
}

func TestReceiveLimits(t *testing.T) {
	whole := streamOf(t, small.memory())
	for name, lim := range map[string]Limits{
		"bytes":     {Bytes: int64(len(whole)) / 2, Intervals: 1000, Samples: 1000, Buckets: 1 << 20},
		"intervals": {Bytes: 1 << 30, Intervals: 3, Samples: 1000, Buckets: 1 << 20},
		"samples":   {Bytes: 1 << 30, Intervals: 1000, Samples: 3, Buckets: 1 << 20},
		"buckets":   {Bytes: 1 << 30, Intervals: 1000, Samples: 1000, Buckets: 1000},
	} {
		in, dir := inbox(t, lim)
		if _, err := in.Receive(bytes.NewReader(whole), nil); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
		nothingIn(t, dir)
	}
}

// A connection that fails is told from a stream that is wrong.
func TestReceiveFromAFailingConnection(t *testing.T) {
	whole := streamOf(t, small.memory())
	in, dir := inbox(t, DefaultLimits())
	failing := io.MultiReader(bytes.NewReader(whole[:len(whole)/2]), errReader{os.ErrDeadlineExceeded})
	if _, err := in.Receive(failing, nil); !errors.Is(err, ErrInterrupted) || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v", err)
	}
	nothingIn(t, dir)
}

type errReader struct{ err error }

func (e errReader) Read([]byte) (int, error) { return 0, e.err }

// What a killed receiver left is removed when the next one begins.
func TestInboxCleansUp(t *testing.T) {
	_, dir := inbox(t, DefaultLimits())
	temp := filepath.Join(dir, inboxName)
	part(t, temp, small.memory())
	for _, name := range []string{"upload-1.new", "upload-2.db"} {
		if err := os.WriteFile(filepath.Join(temp, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := OpenInbox(dir, DefaultLimits()); err != nil {
		t.Fatal(err)
	}
	nothingIn(t, dir)
}

// FuzzReceive asserts that no stream does harm: it is refused, or it becomes a
// run that verifies, and nothing else is left.
func FuzzReceive(f *testing.F) {
	whole := streamOf(f, shape{id: "f", classes: 1, rate: 20, interval: second, plateaus: 1, length: second}.memory())
	f.Add(whole)
	for _, change := range hostile {
		if b := join(change(framesOf(f, streamOf(f, small.memory())))); len(b) < 64<<10 {
			f.Add(b)
		}
	}
	dir := f.TempDir()
	in, err := OpenInbox(dir, Limits{Bytes: 1 << 20, Intervals: 1000, Samples: 10000, Buckets: 1 << 20})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := in.Receive(bytes.NewReader(b), nil)
		if err == nil {
			if _, err := Verify(got.Path); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(got.Path); err != nil {
				t.Fatal(err)
			}
		}
		nothingIn(t, dir)
	})
}
