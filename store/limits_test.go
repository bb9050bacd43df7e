package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"headroom/store/record"
)

// Storage that does not keep up fails the run; it never makes a put wait.
func TestStorageThatFallsBehind(t *testing.T) {
	defer goleak.VerifyNone(t)
	r, err := Create(t.TempDir(), small.header())
	if err != nil {
		t.Fatal(err)
	}
	tx, err := r.db.Begin(true) // the writer waits for this
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; err == nil; n++ {
		if n > 3*queueLen {
			t.Fatal("the queue has no end")
		}
		err = r.PutPhase(record.Phase{Index: n})
	}
	if !errors.Is(err, ErrBehind) || n < queueLen || !errors.Is(r.Err(), ErrBehind) {
		t.Errorf("after %d puts: %v", n, err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	path, err := r.Finish(record.End{State: record.Complete})
	if !errors.Is(err, ErrBehind) || !strings.HasSuffix(path, ".part") {
		t.Errorf("finished as %s, error %v", path, err)
	}
	if end := reopen(t, path).End(); end.State != record.Failed || !strings.HasPrefix(end.Reason, "storage: ") {
		t.Errorf("end %+v", end)
	}
}

func TestUnwritableFolder(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs a folder that nobody can write to, as /proc is on Linux")
	}
	_, err := Create("/proc", small.header())
	if err == nil || !strings.Contains(err.Error(), "folder for evidence") {
		t.Error(err)
	}
}

// What a crash during Create leaves is not evidence, is not in the way, and is
// found by recover.
func TestLeftoverOfCreate(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, "step-1.new")
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := List(dir); err != nil || len(list) > 0 {
		t.Errorf("listed %+v, error %v", list, err)
	}
	if found, err := Orphans(dir); err != nil || len(found) != 1 || found[0] != left {
		t.Errorf("found %v, error %v", found, err)
	}
	sealed(t, dir, small.memory())
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the leftover is still there")
	}
}

func BenchmarkListThousandRuns(b *testing.B) {
	dir := b.TempDir()
	first := sealed(b, dir, small.memory())
	file, err := os.ReadFile(first)
	if err != nil {
		b.Fatal(err)
	}
	for i := range 999 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("run-%d.db", i)), file, 0o444); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		list, err := List(dir)
		if err != nil || len(list) != 1000 {
			b.Fatal(len(list), err)
		}
	}
}

func FuzzUnwrap(f *testing.F) {
	var w wrapper
	for _, plain := range [][]byte{nil, []byte("x"), make([]byte, 1000)} {
		v, err := w.wrap("b", []byte("k"), plain, true)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		var u unwrapper
		if plain, err := u.unwrap("b", []byte("k"), value); err == nil && len(plain) > maxRatio*len(value) {
			t.Fatalf("%d bytes from %d", len(plain), len(value))
		}
		// Behind the checksum, where damage is not by chance.
		if len(value) > 0 {
			body := value[:max(1, len(value)-checksumSize)]
			forged := append([]byte(nil), body...)
			sum := checksum("b", []byte("k"), body)
			forged = append(forged, byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum))
			if plain, err := u.unwrap("b", []byte("k"), forged); err == nil && len(plain) > maxRatio*len(forged) {
				t.Fatalf("%d bytes from %d", len(plain), len(forged))
			}
		}
	})
}

// FuzzOpen gives the reader files of which a few bytes are someone else's, with
// the first pages signed so that the tree below them is read.
func FuzzOpen(f *testing.F) {
	file, err := os.ReadFile(sealed(f, f.TempDir(), small.memory()))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint16(3), uint16(16), []byte{1, 0, 0, 0})
	f.Add(uint16(0), uint16(32), []byte{4})
	f.Fuzz(func(t *testing.T, page, offset uint16, patch []byte) {
		broken := append([]byte(nil), file...)
		at := int(page)%(len(file)/pageSize)*pageSize + int(offset)%pageSize
		copy(broken[at:], patch)
		sign(broken)
		path := filepath.Join(t.TempDir(), "step-1.db")
		if err := os.WriteFile(path, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readAll(path); err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrForeign) && !errors.Is(err, ErrTooNew) {
			t.Fatal(err)
		}
		if rep, err := Verify(path); err == nil {
			_ = rep.Err()
		}
	})
}
