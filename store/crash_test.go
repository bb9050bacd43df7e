//go:build unix

package store

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"headroom/store/record"
)

// The tests of this file run the test binary again as a recorder, because a
// process can be killed and limited, and a goroutine cannot.
const recorderEnv = "HEADROOM_TEST_RECORDER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(recorderEnv); mode != "" {
		recorder(mode, os.Getenv("HEADROOM_TEST_DIR"))
		return
	}
	os.Exit(m.Run())
}

// recorder records without end and prints how many intervals are committed.
func recorder(mode, dir string) {
	s := shape{id: "child", classes: 4, rate: 500, interval: second, plateaus: 1, length: 20 * second}
	m := s.memory()
	if mode == "full" {
		signal.Ignore(syscall.SIGXFSZ)
		limit := syscall.Rlimit{Cur: 96 << 10, Max: 96 << 10}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			fmt.Println("error", err)
			return
		}
	}
	r, err := Create(dir, m.H)
	if err != nil {
		fmt.Println("error", err)
		return
	}
	for n := 0; ; n++ {
		iv := m.Iv[1+n%20]
		again := *iv
		again.Phase, again.Index, again.StartNS = 0, n, int64(n)*second
		err := r.PutInterval(&again)
		if err == nil {
			err = r.Sync()
		}
		if err != nil {
			fmt.Println("failed", err)
			path, err := r.Finish(record.End{State: record.Complete})
			fmt.Println("finish", path, err)
			return
		}
		fmt.Println("committed", n+1)
	}
}

func startRecorder(t *testing.T, mode, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), recorderEnv+"="+mode, "HEADROOM_TEST_DIR="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd, bufio.NewScanner(out)
}

func committed(t *testing.T, lines *bufio.Scanner, until int) {
	t.Helper()
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "committed") {
			var n int
			if _, err := fmt.Sscanf(lines.Text(), "committed %d", &n); err != nil {
				t.Fatal(err)
			}
			if n == until {
				return
			}
			continue
		}
		t.Fatal(lines.Text())
	}
	t.Fatal("the recorder ended")
}

func TestBeingRecordedByAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	_, lines := startRecorder(t, "kill", dir)
	committed(t, lines, 1)
	path := filepath.Join(dir, "child.part")
	_, err := Open(path)
	if !errors.Is(err, ErrRecording) || errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	if list, err := List(dir); err != nil || len(list) != 1 || list[0].State != record.Recording {
		t.Errorf("%+v, %v", list, err)
	}
	if left, err := Orphans(dir); err != nil || len(left) > 0 {
		t.Errorf("orphans %v, error %v", left, err)
	}
	if _, err := SealInterrupted(path); !errors.Is(err, ErrRecording) {
		t.Errorf("sealed while it was being recorded: %v", err)
	}
}

func TestKilledRecorder(t *testing.T) {
	for _, n := range []int{1, 2, 3, 17, 40} {
		dir := t.TempDir()
		cmd, lines := startRecorder(t, "kill", dir)
		committed(t, lines, n)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		r := reopen(t, filepath.Join(dir, "child.part"))
		if end := r.End(); end.State != record.Interrupted {
			t.Errorf("after %d intervals: %+v", n, end)
		}
		got := 0
		for iv, err := range r.Intervals() {
			if err != nil {
				t.Fatal(err)
			}
			if iv.Index != got {
				t.Fatalf("interval %d, want %d", iv.Index, got)
			}
			got++
		}
		if got < n {
			t.Errorf("%d intervals were committed, %d are readable", n, got)
		}
	}
}

// A file size limit stands for a full disk: the write fails in the middle of
// the run.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	_, lines := startRecorder(t, "full", dir)
	n := 0
	var failed, finish string
	for lines.Scan() {
		switch word, rest, _ := strings.Cut(lines.Text(), " "); word {
		case "committed":
			n++
		case "failed":
			failed = rest
		case "finish":
			finish = rest
		default:
			t.Fatal(lines.Text())
		}
	}
	if n == 0 || !strings.Contains(failed, "child.part") || !strings.Contains(failed, "too large") {
		t.Errorf("%d intervals, then %q", n, failed)
	}
	if !strings.HasPrefix(finish, filepath.Join(dir, "child.part")) || strings.HasSuffix(finish, "<nil>") {
		t.Errorf("finish: %q", finish)
	}
	r := reopen(t, filepath.Join(dir, "child.part"))
	if end := r.End(); end.State == record.Complete {
		t.Errorf("end %+v", end)
	}
	got := 0
	for _, err := range r.Intervals() {
		if err != nil {
			t.Fatal(err)
		}
		got++
	}
	if got != n {
		t.Errorf("%d intervals were committed, %d are readable", n, got)
	}
}

// Whatever the order of puts, crashes and endings: what was committed is what
// is read, and nothing else.
func TestStoreModel(t *testing.T) {
	m := small.memory()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "model")
		if err != nil {
			rt.Fatal(err)
		}
		want := &record.Memory{H: m.H}
		r, err := Create(dir, m.H)
		if err != nil {
			rt.Fatal(err)
		}
		put := func(a, b error) {
			if a != nil || b != nil {
				rt.Fatal(a, b)
			}
		}
		r.db.NoSync = true // the model is not about power failures
		notes := 0
		rt.Repeat(map[string]func(*rapid.T){
			"interval": func(rt *rapid.T) {
				if len(want.Iv) < len(m.Iv) {
					iv := m.Iv[len(want.Iv)]
					put(r.PutInterval(iv), want.PutInterval(iv))
				}
			},
			"phase": func(rt *rapid.T) {
				p := record.Phase{Index: rapid.IntRange(0, len(want.P)).Draw(rt, "index"), EndNS: rapid.Int64Range(0, 99).Draw(rt, "end")}
				put(r.PutPhase(p), want.PutPhase(p))
			},
			"note": func(rt *rapid.T) {
				notes++
				n := record.Note{Code: fmt.Sprint(notes)}
				put(r.PutNote(n), want.PutNote(n))
			},
			"samples": func(rt *rapid.T) {
				s := []record.Sample{{Series: 0, AtNS: int64(len(want.Res)), Value: 1}, {Series: 1, AtNS: int64(len(want.Res)) + 1, Value: 2}}
				put(r.PutSamples(s), want.PutSamples(s))
			},
			"send sample": func(rt *rapid.T) {
				s := &record.SendSample{Window: len(want.Sends), Scheduled: []int64{1}, Sent: []int64{2}}
				put(r.PutSendSample(s), want.PutSendSample(s))
			},
			"facts": func(rt *rapid.T) {
				f := record.Facts{Changed: []string{rapid.StringMatching("[a-z]*").Draw(rt, "fact")}}
				put(r.PutFacts(f), want.PutFacts(f))
			},
			"refused note": func(rt *rapid.T) {
				if r.PutNote(record.Note{Measured: nan}) == nil {
					rt.Fatal("a note with NaN was accepted")
				}
			},
			"refused samples": func(rt *rapid.T) {
				if r.PutSamples([]record.Sample{{Value: nan}}) == nil {
					rt.Fatal("a reading with NaN was accepted")
				}
			},
			"": func(rt *rapid.T) {
				if err := r.Err(); err != nil {
					rt.Fatal(err)
				}
			},
		})
		crash := rapid.Bool().Draw(rt, "crash")
		path := r.Path()
		if crash {
			if err := errors.Join(r.Sync(), r.stop(), r.db.Close()); err != nil {
				rt.Fatal(err)
			}
			if rapid.Bool().Draw(rt, "recover") {
				if path, err = SealInterrupted(path); err != nil {
					rt.Fatal(err)
				}
			}
		} else {
			want.E = record.End{State: record.Complete}
			if path, err = r.Finish(want.E); err != nil {
				rt.Fatal(err)
			}
		}
		got, err := readAll(path)
		if err != nil {
			rt.Fatal(err)
		}
		if crash {
			if got.E.State != record.Interrupted {
				rt.Fatalf("state %s", got.E.State)
			}
			want.E = got.E
		}
		sortPhases(want)
		if diff := cmp.Diff(want, got, sameRun); diff != "" {
			rt.Fatalf("(-put +read)\n%s", diff)
		}
	})
}
