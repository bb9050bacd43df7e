package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"headroom/store"
)

// fileLimit names the environment variable by which a script gives headroom a
// limit of file size in bytes: a disk that is full in the middle of a run.
const fileLimit = "SCRIPT_FILE_LIMIT"

func TestMain(m *testing.M) {
	testscript.Main(tidy{m}, map[string]func(){
		"headroom": func() {
			if v := os.Getenv(fileLimit); v != "" {
				limitFiles(v)
			}
			main()
		},
	})
}

// tidy removes what the scripts shared.
type tidy struct{ *testing.M }

func (t tidy) Run() int {
	code := t.M.Run()
	if serverDir != "" {
		os.RemoveAll(serverDir)
	}
	return code
}

// patience is how long a script waits for what must come.
const patience = 30 * time.Second

func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("SEALED", filepath.Join(root, "testdata", "runs"))
			e.Setenv("ROOT", root)
			return nil
		},
		Condition: func(c string) (bool, error) {
			if c == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, errors.New("unknown condition")
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":        cmdCode,
			"recorded":    cmdRecorded,
			"stopped":     cmdStopped,
			"damage":      cmdDamage,
			"count":       cmdCount,
			"found":       cmdFound,
			"lines":       cmdLines,
			"column":      cmdColumn,
			"server":      cmdServer,
			"stdout_full": cmdStdoutFull,
			"gone":        cmdGone,
		},
	})
}

// cmdCode runs a program and wants its exit code, or one of several where it
// depends on how busy the machine is: code 2 headroom run, code 0|4 headroom demo.
func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N PROGRAM [ARGUMENT...]")
	}
	got := strconv.Itoa(exitStatus(ts.Exec(args[1], args[2:]...)))
	if !slices.Contains(strings.Split(args[0], "|"), got) {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// cmdStdoutFull runs a program whose output goes to a full disk, and wants its
// exit code.
func cmdStdoutFull(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: stdout_full N PROGRAM [ARGUMENT...]")
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	ts.Check(err)
	defer full.Close()
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), full, ts.Stderr()
	if got := strconv.Itoa(exitStatus(cmd.Run())); got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

func exitStatus(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode() // -1 where a signal ended it
	}
	return -2
}

// cmdRecorded sets a variable to the path that the last line of a file, or of
// stdout, names: recorded RUN stdout.
func cmdRecorded(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: recorded VARIABLE FILE")
	}
	lines := strings.Split(strings.TrimRight(ts.ReadFile(args[1]), "\n"), "\n")
	path := lines[len(lines)-1]
	if _, err := os.Stat(ts.MkAbs(path)); err != nil {
		ts.Fatalf("the last line of %s is no file: %v", args[1], err)
	}
	ts.Setenv(args[0], path)
}

// cmdStopped starts a program, waits until it records into a folder, sends the
// signals one after the other, and wants its exit code, or -1 where a signal is
// to kill it: stopped 130 INT runs headroom run plan.yaml -o runs.
func cmdStopped(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: stopped N SIGNAL[,SIGNAL...] FOLDER PROGRAM [ARGUMENT...]")
	}
	path, err := exec.LookPath(args[3])
	ts.Check(err)
	cmd := exec.Command(path, args[4:]...)
	cmd.Args[0] = args[3]
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "TMPDIR="+ts.Getenv("TMPDIR"), "PATH="+ts.Getenv("PATH"), "TOKEN="+ts.Getenv("TOKEN"))
	var stdout bytes.Buffer
	stderr := &heard{words: "stopping: ", said: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &stdout, stderr
	ts.Check(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	defer func() {
		io.WriteString(ts.Stdout(), stdout.String())
		io.WriteString(ts.Stderr(), stderr.String())
	}()
	if !recording(ts.MkAbs(args[2]), ts.Getenv("TMPDIR"), ended, limit.C) {
		cmd.Process.Kill()
		ts.Fatalf("nothing was recorded into %s: %s", args[2], stderr.String())
	}
	for i, name := range strings.Split(args[1], ",") {
		if i == 1 { // signals that wait for the same process become one
			select {
			case <-stderr.said:
			case <-limit.C:
			}
		}
		if err := sendSignal(cmd.Process, name); err != nil && !errors.Is(err, os.ErrProcessDone) {
			cmd.Process.Kill()
			ts.Fatalf("signal %s: %v", name, err)
		}
	}
	select {
	case err := <-ended:
		if got := exitStatus(err); strconv.Itoa(got) != args[0] {
			ts.Fatalf("exit code %d, want %s: %s", got, args[0], stderr.String())
		}
	case <-limit.C:
		cmd.Process.Kill()
		ts.Fatalf("it did not stop within %s: %s", patience, stderr.String())
	}
}

// heard is what a program says, and tells when it says certain words.
type heard struct {
	mu    sync.Mutex
	all   strings.Builder
	words string
	said  chan struct{}
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := strings.Contains(h.all.String(), h.words)
	n, err := h.all.Write(p)
	if !before && strings.Contains(h.all.String(), h.words) {
		close(h.said)
	}
	return n, err
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all.String()
}

// recording waits until two intervals of a run are in a .part file in dir.
func recording(dir, temp string, ended chan error, limit <-chan time.Time) bool {
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		select {
		case err := <-ended:
			ended <- err
			return false
		case <-limit:
			return false
		case <-again.C:
		}
		parts, _ := filepath.Glob(filepath.Join(dir, "*.part"))
		for _, p := range parts {
			if intervals(p, filepath.Join(temp, "copy.part")) >= 2 {
				return true
			}
		}
	}
}

// intervals counts the intervals in a file that is being recorded, by way of a
// copy. One that was taken in the middle of a write has none.
func intervals(path, copied string) int {
	data, err := os.ReadFile(path)
	if err != nil || os.WriteFile(copied, data, 0o600) != nil {
		return 0
	}
	defer os.Remove(copied)
	run, err := store.Open(copied)
	if err != nil {
		return 0
	}
	defer run.Close()
	n := 0
	for _, err := range run.Intervals() {
		if err != nil {
			return 0
		}
		n++
	}
	return n
}

// cmdDamage makes a damaged copy of a file: damage cut=4096 IN OUT keeps the
// first bytes, flip=5000 inverts a byte, swap=OLD:NEW replaces a text by another.
func cmdDamage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: damage cut=N|flip=N|swap=OLD:NEW IN OUT")
	}
	data := []byte(ts.ReadFile(args[1]))
	how, value, _ := strings.Cut(args[0], "=")
	n, err := strconv.Atoi(value)
	if how != "swap" {
		ts.Check(err)
	}
	switch how {
	case "cut":
		data = data[:n]
	case "flip":
		data[n] ^= 0xff
	case "swap":
		old, new, _ := strings.Cut(value, ":")
		if !bytes.Contains(data, []byte(old)) {
			ts.Fatalf("%s does not contain %s", args[1], old)
		}
		data = bytes.ReplaceAll(data, []byte(old), []byte(new))
	default:
		ts.Fatalf("damage %s: unknown", how)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), data, 0o600))
}

// cmdCount wants a number of files that match a pattern: count 1 'runs/*.db'.
func cmdCount(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: count N PATTERN")
	}
	found, err := filepath.Glob(ts.MkAbs(args[1]))
	ts.Check(err)
	if strconv.Itoa(len(found)) != args[0] {
		ts.Fatalf("%d files match %s, want %s: %s", len(found), args[1], args[0], strings.Join(found, " "))
	}
}

// cmdFound sets a variable to the one file that matches: found RUN 'runs/*.db'.
func cmdFound(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: found VARIABLE PATTERN")
	}
	found, err := filepath.Glob(ts.MkAbs(args[1]))
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("%d files match %s, want 1: %s", len(found), args[1], strings.Join(found, " "))
	}
	ts.Setenv(args[0], found[0])
}

// cmdColumn keeps some columns of a CSV file: column phase,scheduled IN OUT.
func cmdColumn(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: column NAME[,NAME...] IN OUT")
	}
	rows, err := csv.NewReader(strings.NewReader(ts.ReadFile(args[1]))).ReadAll()
	ts.Check(err)
	var out strings.Builder
	for _, name := range strings.Split(args[0], ",") {
		at := slices.Index(rows[0], name)
		if at < 0 {
			ts.Fatalf("%s has no column %s, but %v", args[1], name, rows[0])
		}
		for _, row := range rows[1:] {
			fmt.Fprintln(&out, name, row[at])
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(out.String()), 0o600))
}

var serverDir string

// builtServer is the program under testdata/server, built once.
var builtServer = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "headroom-server-")
	if err != nil {
		return "", err
	}
	serverDir = dir
	path := filepath.Join(dir, "server")
	out, err := exec.Command("go", "build", "-o", path, "./testdata/server").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// cmdServer copies the program under testdata/server: server OUT.
func cmdServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: server FILE")
	}
	path, err := builtServer()
	ts.Check(err)
	program, err := os.ReadFile(path)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), program, 0o700))
}

// cmdGone wants that no process of those whose ids a file lists is left.
func cmdGone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: gone FILE")
	}
	ids := strings.Fields(ts.ReadFile(args[0]))
	if len(ids) == 0 {
		ts.Fatalf("%s lists no process", args[0])
	}
	limit := time.NewTimer(patience)
	defer limit.Stop()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for _, id := range ids {
		for alive(id) {
			select {
			case <-again.C:
			case <-limit.C:
				ts.Fatalf("process %s of %v is still there", id, ids)
			}
		}
	}
}

// cmdLines wants at most so many lines: lines 40 FILE.
func cmdLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines N FILE")
	}
	limit, err := strconv.Atoi(args[0])
	ts.Check(err)
	if n := strings.Count(ts.ReadFile(args[1]), "\n"); n == 0 || n > limit {
		ts.Fatalf("%s has %d lines, want 1 to %d", args[1], n, limit)
	}
}
