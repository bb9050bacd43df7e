package sim

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Process is a service in a process of its own. It ends with the process that
// started it, however that one ends.
type Process struct {
	URL string
	PID int

	cmd   *exec.Cmd
	stdin io.Closer
	done  chan struct{}
	err   error // once done is closed
	tail  tail
}

// startLimit is how long a service may take until it listens.
const startLimit = 15 * time.Second

// StartProcess runs "exe target …" with the options of o, exe being headroom,
// and returns once the service listens. It is killed when ctx ends.
func StartProcess(ctx context.Context, exe string, o Options) (*Process, error) {
	if err := o.Check(); err != nil {
		return nil, fmt.Errorf("built-in service: %w", err)
	}
	o.WithParent = true
	cmd := exec.CommandContext(ctx, exe, append([]string{"target"}, o.Args()...)...)
	p := &Process{cmd: cmd, done: make(chan struct{})}
	cmd.Stderr = &p.tail
	cmd.WaitDelay = time.Second
	apart(cmd)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("built-in service: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("built-in service: %w", err)
	}
	p.stdin = stdin
	started := make(chan error, 1)
	first := make(chan string, 1)
	go func() {
		// The kernel ties the service to the thread that started it, so that
		// thread stays here.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		r := bufio.NewReader(stdout)
		line, _ := r.ReadString('\n') // "" where it ended before
		first <- line
		_, _ = io.Copy(io.Discard, r) // until it ends
		p.err = cmd.Wait()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("built-in service: %w", err)
	}
	p.PID = cmd.Process.Pid
	limit := time.NewTimer(startLimit)
	defer limit.Stop()
	select {
	case line := <-first:
		url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
		if ok {
			p.URL = url
			return p, nil
		}
	case <-ctx.Done():
	case <-limit.C:
		_ = cmd.Process.Kill() // it has ended already, or ends now
	}
	_ = p.Stop() // what it said is the better error
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, fmt.Errorf("built-in service: it did not start within %s: %s", startLimit, p.tail.text())
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Stop ends the process, by force where it does not end within 3 s, and
// returns an error where it had ended by itself or failed.
func (p *Process) Stop() error {
	early := false
	select {
	case <-p.done:
		early = true
	default:
	}
	p.stdin.Close() // a second close changes nothing
	select {
	case <-p.done:
	case <-time.After(3 * time.Second):
		_ = p.cmd.Process.Kill() // it ends either way
		<-p.done
	}
	if early || p.err != nil {
		return fmt.Errorf("built-in service: ended early or failed: %v %s", p.err, p.tail.text())
	}
	return nil
}

// Truth asks the process what it is and did.
func (p *Process) Truth(ctx context.Context) (Truth, error) {
	return ReadTruth(ctx, http.DefaultClient, p.URL)
}

// ReadTruth asks the service at url, as printed by headroom target.
func ReadTruth(ctx context.Context, client *http.Client, url string) (Truth, error) {
	var t Truth
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/truth", nil)
	if err != nil {
		return t, fmt.Errorf("truth of the built-in service: %w", err)
	}
	res, err := client.Do(req)
	if err != nil {
		return t, fmt.Errorf("truth of the built-in service: %w", err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&t); err != nil {
		return t, fmt.Errorf("truth of the built-in service: %w", err)
	}
	return t, nil
}

// tail keeps the last 4 kB of what is written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b...)
	if len(t.b) > 8192 {
		t.b = append(t.b[:0], t.b[len(t.b)-4096:]...)
	}
	return len(b), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.b))
}
