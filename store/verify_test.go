package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"

	"headroom/store/record"
)

func TestVerifySound(t *testing.T) {
	m := small.memory()
	r, err := Verify(sealed(t, t.TempDir(), m))
	if err != nil {
		t.Fatal(err)
	}
	var scheduled uint64
	for _, iv := range m.Iv {
		total := iv.Total()
		scheduled += total.Scheduled
	}
	if r.Err() != nil || len(r.Findings) > 0 || !r.Sealed || r.Intervals != len(m.Iv) || r.Scheduled != scheduled || r.State != record.Complete {
		t.Errorf("%+v", r)
	}
}

func codes(r *Report) (list []string) {
	for _, f := range r.Findings {
		code := f.Code
		if f.Harmful {
			code += "!"
		}
		list = append(list, code)
	}
	return list
}

func TestVerifyTellsHarmlessFromHarmful(t *testing.T) {
	change := func(f func(m *record.Memory)) func(t *testing.T) string {
		return func(t *testing.T) string {
			m := small.memory()
			f(m)
			return sealed(t, t.TempDir(), m)
		}
	}
	forge := func(f func(tx *bolt.Tx) error) func(t *testing.T) string {
		return func(t *testing.T) string {
			path := sealed(t, t.TempDir(), small.memory())
			edit(t, path, f)
			if err := os.Chmod(path, 0o444); err != nil {
				t.Fatal(err)
			}
			return path
		}
	}
	for _, c := range []struct {
		name string
		make func(t *testing.T) string
		want []string
	}{
		{"a .part file", func(t *testing.T) string { return part(t, t.TempDir(), small.memory()) }, []string{"unsealed"}},
		{"made writable", func(t *testing.T) string {
			path := sealed(t, t.TempDir(), small.memory())
			if err := os.Chmod(path, 0o644); err != nil {
				t.Fatal(err)
			}
			return path
		}, []string{"writable"}},
		{"renamed", func(t *testing.T) string {
			path := sealed(t, t.TempDir(), small.memory())
			to := filepath.Join(t.TempDir(), "friday.db")
			if err := os.Rename(path, to); err != nil {
				t.Fatal(err)
			}
			return to
		}, []string{"renamed"}},
		{"a request lost", change(func(m *record.Memory) { m.Iv[2].Cells[0].Counts.Scheduled++ }), []string{"accounting!"}},
		{"a flow lost", change(func(m *record.Memory) { m.Iv[2].Flows = []record.Cell{{Counts: record.Counts{Scheduled: 1}}} }), []string{"accounting!"}},
		{"an interval missing", change(func(m *record.Memory) { m.Iv = append(m.Iv[:2], m.Iv[3:]...) }), []string{"interval_missing!"}},
		{"the last interval missing", change(func(m *record.Memory) { m.Iv = append(m.Iv[:3], m.Iv[4:]...) }), []string{"interval_missing!"}},
		{"the same, of an interrupted run", change(func(m *record.Memory) {
			m.E.State = record.Interrupted
			m.Iv = append(m.Iv[:3], m.Iv[4:]...)
		}), []string{"interval_missing"}},
		{"an interval moved", change(func(m *record.Memory) { m.Iv[2].StartNS += 5 }), []string{"interval_gap!", "interval_gap!"}},
		{"a phase missing", change(func(m *record.Memory) { m.P = append(m.P[:1], m.P[2:]...) }), []string{"phase_missing!"}},
		{"phases out of order", change(func(m *record.Memory) { m.P[2].EndNS = 0 }), []string{"phase_order!"}},
		{"a note added after the run", forge(func(tx *bolt.Tx) error {
			var w wrapper
			// In place of the one that was there, so that the number of records holds.
			return store(tx, &w, put{bucket: bucketNotes, key: key64(1), encode: func() ([]byte, error) {
				return record.EncodeJSON(record.Note{Code: "forged"})
			}})
		}), []string{"seal_broken!"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Verify(c.make(t))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, codes(r)); diff != "" {
				t.Errorf("%s\n%+v", diff, r.Findings)
			}
			harmful := len(c.want) > 0 && c.want[0][len(c.want[0])-1] == '!'
			if err := r.Err(); (err != nil) != harmful || harmful && !errors.Is(err, ErrDamaged) {
				t.Errorf("Err() = %v", err)
			}
		})
	}
}

func TestListHasGoodAndBad(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 {
		s := small
		s.id = fmt.Sprintf("run-%d", 3-i)
		m := s.memory()
		m.H.Started = m.H.Started.AddDate(0, 0, i)
		sealed(t, dir, m)
	}
	for name, text := range map[string]string{"garbled.db": "garbage", "notes.txt": "not listed"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := small
	s.id = "crashed"
	m := s.memory()
	m.H.Started = m.H.Started.AddDate(0, 0, -1)
	part(t, dir, m)
	s.id = "going-on"
	r, err := Create(dir, s.header())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Abort()
	list, err := List(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	var order []string
	for _, e := range list {
		got[filepath.Base(e.Path)] = string(e.State)
		if e.Err == nil {
			order = append(order, e.RunID)
		}
		switch filepath.Base(e.Path) {
		case "garbled.db":
			if !errors.Is(e.Err, ErrForeign) {
				t.Error(e.Err)
			}
		case "going-on.part":
			if !errors.Is(e.Err, ErrRecording) {
				t.Error(e.Err)
			}
		default:
			if e.Err != nil || e.Header.Name != "checkout" || e.Bytes == 0 {
				t.Errorf("%+v", e)
			}
		}
	}
	want := map[string]string{
		"run-1.db": "complete", "run-2.db": "complete", "run-3.db": "complete", "garbled.db": "",
		"crashed.part": "interrupted", "going-on.part": "recording",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"crashed", "run-3", "run-2", "run-1"}, order); diff != "" {
		t.Error(diff)
	}
}

func TestRecoverSealsWhatWasLeft(t *testing.T) {
	dir := t.TempDir()
	m := small.memory()
	path := part(t, dir, m)
	s := small
	s.id = "going-on"
	r, err := Create(dir, s.header())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Abort()
	left, err := Orphans(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{path}, left); diff != "" {
		t.Fatal(diff)
	}
	final, err := SealInterrupted(path)
	if err != nil {
		t.Fatal(err)
	}
	rep, err := Verify(final)
	if err != nil || rep.Err() != nil || rep.State != record.Interrupted || !rep.Sealed {
		t.Errorf("%+v, error %v", rep, err)
	}
	if diff := cmp.Diff(m.Iv, collect(t, reopen(t, final)).Iv, sameRun); diff != "" {
		t.Error(diff)
	}
	if left, err := Orphans(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, error %v", left, err)
	}
	if _, err := SealInterrupted(r.Path()); !errors.Is(err, ErrRecording) {
		t.Errorf("sealing a run that goes on: %v", err)
	}
}

// A crash between the seal and the new name.
func TestRecoverRenamesWhatIsSealed(t *testing.T) {
	path := sealed(t, t.TempDir(), small.memory())
	before := reopen(t, path).Digest()
	back := filepath.Join(filepath.Dir(path), "step-1.part")
	if err := os.Rename(path, back); err != nil {
		t.Fatal(err)
	}
	final, err := SealInterrupted(back)
	if err != nil {
		t.Fatal(err)
	}
	r := reopen(t, final)
	if r.Digest() != before || r.End().State != record.Complete {
		t.Errorf("digest %s, state %s", r.Digest(), r.End().State)
	}
}
