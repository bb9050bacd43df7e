package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/store/record"
)

func TestSealedRunReadsBack(t *testing.T) {
	want := small.memory()
	path := sealed(t, t.TempDir(), want)
	if filepath.Base(path) != "step-1.db" {
		t.Errorf("path %s", path)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o444 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
	r := reopen(t, path)
	if !r.Sealed() || r.Format() != 1 || len(r.Digest()) != 64 || r.Path() != path {
		t.Errorf("sealed %v, format %d, digest %q", r.Sealed(), r.Format(), r.Digest())
	}
	for range 2 { // evidence can be read again
		if diff := cmp.Diff(want, collect(t, r), sameRun); diff != "" {
			t.Fatalf("(-written +read)\n%s", diff)
		}
	}
}

// The seal says what was recorded, not how the pages of the file came about.
func TestSameRecordsSameSeal(t *testing.T) {
	m := small.memory()
	a := reopen(t, sealed(t, t.TempDir(), m))
	dir := t.TempDir()
	r, err := Create(dir, m.H)
	if err != nil {
		t.Fatal(err)
	}
	if err := Copy(m, r); err != nil {
		t.Fatal(err)
	}
	path, err := r.Finish(m.E)
	if err != nil {
		t.Fatal(err)
	}
	if b := reopen(t, path); a.Digest() != b.Digest() {
		t.Errorf("digests %s and %s", a.Digest(), b.Digest())
	}
}

func TestPartOfCrashIsInterrupted(t *testing.T) {
	m := small.memory()
	r := reopen(t, part(t, t.TempDir(), m))
	if r.Sealed() || r.Digest() != "" {
		t.Error("a .part file is sealed")
	}
	end := r.End()
	last := m.Iv[len(m.Iv)-1]
	if end.State != record.Interrupted || !strings.HasPrefix(end.Reason, "recorder_stopped") || end.AtNS != last.StartNS+last.WidthNS {
		t.Errorf("end %+v", end)
	}
	got := collect(t, r)
	if diff := cmp.Diff(m.Iv, got.Iv, sameRun); diff != "" {
		t.Error(diff)
	}
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h := small.header()
	bad := func(change func(*record.Header)) record.Header { h := h; change(&h); return h }
	sealed(t, dir, small.memory())
	for _, c := range []struct {
		name, dir string
		h         record.Header
		want      string
	}{
		{"missing folder", filepath.Join(dir, "none"), h, "create it first"},
		{"a file as folder", file, h, "is not a folder"},
		{"run id with a path", dir, bad(func(h *record.Header) { h.RunID = "../x" }), "run id"},
		{"run id with a slash", dir, bad(func(h *record.Header) { h.RunID = "a/b" }), "only letters"},
		{"no run id", dir, bad(func(h *record.Header) { h.RunID = "" }), "run id"},
		{"run id taken", dir, h, "never overwritten"},
		{"no geometry", dir, bad(func(h *record.Header) { h.MaxUS = 0 }), "histograms"},
	} {
		if _, err := Create(c.dir, c.h); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) != 2 {
		t.Errorf("files left: %v, error %v", names, err)
	}
}

func TestAbortLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	r, err := Create(dir, small.header())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Abort(); err != nil {
		t.Fatal(err)
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "*")); len(names) > 0 {
		t.Errorf("files left: %v", names)
	}
	if err := r.PutNote(record.Note{}); err == nil {
		t.Error("a put after the end was accepted")
	}
}

func TestSinkErrors(t *testing.T) {
	m := small.memory()
	for _, c := range []struct {
		name string
		put  func(*Recorder) error
		want string
	}{
		{"the same interval twice", func(r *Recorder) error {
			return errors.Join(r.PutInterval(m.Iv[0]), r.PutInterval(m.Iv[0]))
		}, "twice"},
		{"an unknown class", func(r *Recorder) error {
			return r.PutInterval(&record.Interval{Cells: []record.Cell{{Class: 9}}})
		}, "class 9 of 2"},
		{"another geometry", func(r *Recorder) error {
			return r.PutInterval(&record.Interval{Cells: []record.Cell{{Lag: record.NewHistogram(5)}}})
		}, "up to 5 µs"},
	} {
		r, err := Create(t.TempDir(), m.H)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.put(r); err != nil {
			t.Fatalf("%s: refused at once: %v", c.name, err)
		}
		if err := r.Sync(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err := r.PutNote(record.Note{}); err == nil || r.Err() == nil {
			t.Errorf("%s: the next put was accepted", c.name)
		}
		path, err := r.Finish(record.End{State: record.Complete})
		if err == nil || !strings.HasSuffix(path, ".part") {
			t.Errorf("%s: finished as %s, error %v", c.name, path, err)
		}
		if end := reopen(t, path).End(); end.State != record.Failed {
			t.Errorf("%s: state %s", c.name, end.State)
		}
	}
}

func TestMissingFileIsNotRefusedEvidence(t *testing.T) {
	_, err := Open(filepath.Join(t.TempDir(), "none.db"))
	if !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrDamaged) || errors.Is(err, ErrForeign) {
		t.Error(err)
	}
}
