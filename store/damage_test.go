package store

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"

	"headroom/store/record"
)

// readAll reads everything that an analysis would.
func readAll(path string) (*record.Memory, error) {
	r, err := Open(path)
	if err != nil {
		return nil, err
	}
	m := &record.Memory{H: r.Header(), E: r.End()}
	err = Copy(r, m)
	return m, errors.Join(err, r.Close())
}

// mustRefuse fails unless the file is read as want, or refused for a reason
// that the command line knows.
func mustRefuse(t *testing.T, path, what string, want *record.Memory) (refused bool) {
	t.Helper()
	got, err := readAll(path)
	if err != nil {
		if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrForeign) && !errors.Is(err, ErrTooNew) {
			t.Errorf("%s: an error of no kind: %v", what, err)
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: not one sentence: %v", what, err)
		}
		return true
	}
	if !bytes.Equal(fingerprint(t, want), fingerprint(t, got)) {
		t.Errorf("%s: read, but not what was written\n%.2000s", what, cmp.Diff(want, got, sameRun))
	}
	return false
}

// fingerprint is everything in a run, as bytes.
func fingerprint(t *testing.T, m *record.Memory) []byte {
	b, err := json.Marshal([]any{m.H, m.F, m.P, m.N, m.Ev, m.E})
	if err != nil {
		t.Fatal(err)
	}
	for _, iv := range m.Iv {
		if b, err = record.AppendInterval(b, iv); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range m.Sends {
		if b, err = record.AppendSendSample(b, s); err != nil {
			t.Fatal(err)
		}
	}
	if b, err = record.AppendSamples(b, m.Res); err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(b, []byte("null"), []byte("[]"))
}

func TestTruncatedAtEveryPage(t *testing.T) {
	for _, make := range []func(testing.TB, string, *record.Memory) string{sealed, part} {
		m := small.memory()
		path := make(t, t.TempDir(), m)
		if strings.HasSuffix(path, partSuffix) {
			m.E = reopen(t, path).End()
			m.F, m.Res, m.Sends, m.N, m.Ev = record.Facts{}, nil, nil, nil, nil
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		for size := 0; size < len(whole); size += pageSize {
			for _, cut := range []int{size, size + 1, size + pageSize/2} {
				if cut >= len(whole) {
					continue
				}
				short := filepath.Join(t.TempDir(), filepath.Base(path))
				if err := os.WriteFile(short, whole[:cut], 0o600); err != nil {
					t.Fatal(err)
				}
				if mustRefuse(t, short, fmt.Sprintf("%d of %d bytes", cut, len(whole)), m) {
					refused++
				}
			}
		}
		if refused < 10 {
			t.Errorf("only %d truncations of %s were refused", refused, filepath.Base(path))
		}
	}
}

func TestFlippedBits(t *testing.T) {
	m := small.memory()
	path := sealed(t, t.TempDir(), m)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := 600
	if testing.Short() {
		n = 100
	}
	rng := rand.New(rand.NewPCG(3, 4))
	garbled := filepath.Join(t.TempDir(), "step-1.db")
	for i := range n {
		bit := rng.IntN(8 * len(whole))
		switch i % 3 {
		case 0: // headers of pages, where structure is
			bit = 8*(bit/8/pageSize*pageSize+rng.IntN(64)) + bit%8
		case 1: // the first pages
			bit %= 8 * 2 * pageSize
		}
		broken := append([]byte(nil), whole...)
		broken[bit/8] ^= 1 << (bit % 8)
		if err := os.WriteFile(garbled, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		mustRefuse(t, garbled, fmt.Sprintf("bit %d of byte %d", bit%8, bit/8), m)
	}
}

func TestOverwrittenPages(t *testing.T) {
	m := small.memory()
	path := sealed(t, t.TempDir(), m)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	garbled := filepath.Join(t.TempDir(), "step-1.db")
	rng := rand.New(rand.NewPCG(5, 6))
	pages := len(whole) / pageSize
	for p := range pages {
		for name, fill := range map[string]func(b []byte){
			"zeros":  func(b []byte) { clear(b) },
			"noise":  func(b []byte) { fillRandom(rng, b) },
			"a copy": func(b []byte) { copy(b, whole[rng.IntN(pages)*pageSize:][:pageSize]) },
		} {
			broken := append([]byte(nil), whole...)
			fill(broken[p*pageSize:][:pageSize])
			if err := os.WriteFile(garbled, broken, 0o600); err != nil {
				t.Fatal(err)
			}
			mustRefuse(t, garbled, fmt.Sprintf("page %d of %s", p, name), m)
		}
	}
}

func fillRandom(rng *rand.Rand, b []byte) {
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
}

// craft makes a bbolt file with pages that no bbolt would write.
func craft(t *testing.T, change func(file []byte)) string {
	t.Helper()
	path := sealed(t, t.TempDir(), small.memory())
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	change(file)
	sign(file)
	out := filepath.Join(t.TempDir(), "step-1.db")
	if err := os.WriteFile(out, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}

// sign makes the checksums of the first pages right.
func sign(file []byte) {
	for i := range 2 {
		m := file[i*pageSize+pageHeader:]
		h := fnv.New64a()
		_, _ = h.Write(m[:56])
		binary.LittleEndian.PutUint64(m[56:], h.Sum64())
	}
}

// Hostile files, for which bbolt alone would fault, loop or allocate for ever.
func TestCraftedPages(t *testing.T) {
	le := binary.LittleEndian
	root := func(f []byte) uint64 {
		a, b := f[pageHeader:], f[pageSize+pageHeader:]
		if le.Uint64(b[48:]) > le.Uint64(a[48:]) {
			a = b
		}
		return le.Uint64(a[16:])
	}
	branch := func(f []byte) []byte {
		for p := 2 * pageSize; p < len(f); p += pageSize {
			if le.Uint16(f[p+8:]) == flagBranch {
				return f[p:]
			}
		}
		t.Fatal("no branch page")
		return nil
	}
	for name, change := range map[string]func(f []byte){
		"a branch that leads to itself": func(f []byte) { b := branch(f); le.PutUint64(b[pageHeader+8:], le.Uint64(b)) },
		"a branch far outside":          func(f []byte) { le.PutUint64(branch(f)[pageHeader+8:], 1<<50) },
		"a branch without children":     func(f []byte) { le.PutUint16(branch(f)[10:], 0) },
		"a root far outside": func(f []byte) {
			le.PutUint64(f[pageHeader+16:], 1<<40)
			le.PutUint64(f[pageSize+pageHeader+16:], 1<<40)
		},
		"more pages than bytes": func(f []byte) {
			le.PutUint64(f[pageHeader+40:], 1<<60)
			le.PutUint64(f[pageSize+pageHeader+40:], 1<<60)
		},
		"an overflow of 16 TB":      func(f []byte) { le.PutUint32(f[root(f)*pageSize+12:], 1<<32-1) },
		"65,535 elements":           func(f []byte) { le.PutUint16(f[root(f)*pageSize+10:], 0xffff) },
		"a key far outside":         func(f []byte) { le.PutUint32(f[root(f)*pageSize+pageHeader+4:], 1<<31) },
		"a key of 2 GB":             func(f []byte) { le.PutUint32(f[root(f)*pageSize+pageHeader+8:], 1<<31) },
		"a value of 4 GB":           func(f []byte) { le.PutUint32(f[root(f)*pageSize+pageHeader+12:], 1<<32-1) },
		"a value where a bucket is": func(f []byte) { le.PutUint32(f[root(f)*pageSize+pageHeader:], 0) },
	} {
		path := craft(t, change)
		_, err := Open(path)
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		// The lock must not leak.
		if db, err := bolt.Open(path, 0, &bolt.Options{Timeout: lockTimeout, OpenFile: func(string, int, os.FileMode) (*os.File, error) {
			return os.OpenFile(path, os.O_RDONLY, 0)
		}, ReadOnly: true}); err == nil {
			_ = db.Close()
		} else if strings.Contains(err.Error(), "timeout") {
			t.Errorf("%s: the file stayed locked", name)
		}
	}
	// The same helper without a change must be read.
	if _, err := readAll(craft(t, func([]byte) {})); err != nil {
		t.Error(err)
	}
}

func TestForeignFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	other := filepath.Join(dir, "other.db")
	db, err := bolt.Open(other, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("users")); return err }); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 100_000)
	fillRandom(rand.New(rand.NewPCG(7, 8)), noise)
	for _, path := range []string{
		write("empty.db", nil), write("text.db", []byte("hello, this is not evidence")), write("zip.db", append([]byte("PK\x03\x04"), make([]byte, 40_000)...)),
		write("noise.db", noise), write("zeros.db", make([]byte, 65536)), other, dir,
	} {
		_, err := Open(path)
		if !errors.Is(err, ErrForeign) {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
}

func TestNewerFormatIsRefused(t *testing.T) {
	path := part(t, t.TempDir(), small.memory())
	edit(t, path, func(tx *bolt.Tx) error {
		return tx.Bucket([]byte(bucketRun)).Put([]byte(keyFormat), []byte("headroom.evidence/2"))
	})
	if _, err := Open(path); !errors.Is(err, ErrTooNew) {
		t.Error(err)
	}
}

// edit changes a file as only a program that knows bbolt could.
func edit(t *testing.T, path string, change func(*bolt.Tx) error) {
	t.Helper()
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := bolt.Open(path, 0o600, writeOptions())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(change), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// What a later version of the format adds without a new number is skipped.
func TestUnknownBucketsAndKeysAreSkipped(t *testing.T) {
	m := small.memory()
	path := part(t, t.TempDir(), m)
	edit(t, path, func(tx *bolt.Tx) error {
		b, err := tx.CreateBucket([]byte("offsets"))
		if err != nil {
			return err
		}
		var w wrapper
		v, _ := w.wrap("offsets", []byte("k"), []byte("v"), false)
		v2, _ := w.wrap(bucketRun, []byte("weather"), []byte("rain"), false)
		return errors.Join(b.Put([]byte("k"), v), tx.Bucket([]byte(bucketRun)).Put([]byte("weather"), v2))
	})
	got, err := readAll(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m.Iv, got.Iv, sameRun); diff != "" {
		t.Error(diff)
	}
}
