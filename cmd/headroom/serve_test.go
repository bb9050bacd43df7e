package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"headroom/report/web"
	"headroom/runner/live"
	"headroom/store"
	"headroom/store/record"
)

// server is headroom serve as a process of its own.
type server struct {
	cmd    *exec.Cmd
	url    string
	stderr bytes.Buffer
}

func startServer(t *testing.T, args ...string) *server {
	t.Helper()
	s := &server{cmd: exec.Command("headroom", append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)}
	s.cmd.Stderr = &s.stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("no address: %v %s", err, s.stderr.String())
	}
	s.url = strings.TrimSuffix(strings.TrimSpace(line), "/")
	return s
}

func tokenFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("correct-horse-battery-staple\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func command(t *testing.T, args ...string) (out, errs string, code int) {
	t.Helper()
	cmd := exec.Command("headroom", args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !asExit(err, &exit) {
		t.Fatal(err)
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

func asExit(err error, to **exec.ExitError) bool {
	e, ok := err.(*exec.ExitError) //nolint:errorlint // exec returns it unwrapped
	*to = e
	return ok
}

// runsNamed writes runs with the records of a sealed one under other ids.
func runsNamed(t *testing.T, dir string, ids ...string) (paths []string) {
	t.Helper()
	from, err := store.Open("../../testdata/runs/v1-step.db")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	for _, id := range ids {
		h := from.Header()
		h.RunID = id
		r, err := store.CreateWith(dir, h, store.Options{Bulk: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Copy(from, r); err != nil {
			t.Fatal(err)
		}
		path, err := r.Finish(from.End())
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

func getOK(t *testing.T, url string) []byte {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %v %s", url, res.Status, err, b)
	}
	return b
}

// A run is pushed, shown, pushed again, and is the same run.
func TestServeAndPush(t *testing.T) {
	dir, token := t.TempDir(), tokenFile(t)
	s := startServer(t, "--token-file", token, dir)
	path := runsNamed(t, t.TempDir(), "pushed-1")[0]
	for i, want := range []string{"received", "was there already"} {
		out, errs, code := command(t, "push", "--token-file", token, path, s.url)
		if code != 0 || strings.TrimSpace(out) != s.url+"/en/runs/pushed-1" || !strings.Contains(errs, want) {
			t.Fatalf("%d: exit %d, %q, %q", i, code, out, errs)
		}
		getOK(t, strings.TrimSpace(out))
	}
	all, err := store.List(dir)
	if err != nil || len(all) != 1 || all[0].RunID != "pushed-1" {
		t.Fatalf("%+v, %v", all, err)
	}
	sent, err := store.Verify(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := store.Verify(all[0].Path)
	if err != nil || got.Err() != nil || got.Digest != sent.Digest {
		t.Errorf("%+v, %v", got, err)
	}

	// Another run under the same id is a conflict.
	other := t.TempDir()
	from, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	h := from.Header()
	h.Release = "another"
	r, err := store.CreateWith(other, h, store.Options{Bulk: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Copy(from, r); err != nil {
		t.Fatal(err)
	}
	conflicting, err := r.Finish(from.End())
	if err != nil {
		t.Fatal(err)
	}
	if _, errs, code := command(t, "push", "--token-file", token, conflicting, s.url); code != 1 || !strings.Contains(errs, "another run has this id") {
		t.Errorf("conflict: exit %d, %q", code, errs)
	}
	if _, errs, code := command(t, "push", conflicting, s.url); code != 1 || !strings.Contains(errs, "token") {
		t.Errorf("without a token: exit %d, %q", code, errs)
	}
	if _, errs, code := command(t, "push", "--token-file", token, "../../testdata/runs/v1-interrupted.part", s.url); code != 1 || !strings.Contains(errs, "recover") {
		t.Errorf("an unsealed run: exit %d, %q", code, errs)
	}

	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("stopped: %v %s", err, s.stderr.String())
	}
}

// What is reachable from elsewhere wants a token and TLS, or --insecure said aloud.
func TestExposure(t *testing.T) {
	dir, token := t.TempDir(), tokenFile(t)
	short := filepath.Join(t.TempDir(), "short")
	if err := os.WriteFile(short, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--listen", "0.0.0.0:0"}, "--token-file"},
		{[]string{"--listen", ":0"}, "other machines"},
		{[]string{"--listen", "[::]:0", "--token-file", token}, "in the clear"},
		{[]string{"--listen", "192.0.2.1:0"}, "--insecure"},
		{[]string{"--listen", "nonsense"}, "address and a port"},
		{[]string{"--tls-cert", "x"}, "belong together"},
		{[]string{"--token-file", short}, "at least 16"},
	} {
		_, errs, code := command(t, append(append([]string{"serve"}, c.args...), dir)...)
		if code != 2 || !strings.Contains(errs, c.says) {
			t.Errorf("%v: exit %d, %q", c.args, code, errs)
		}
	}
	if _, errs, code := command(t, "serve", filepath.Join(dir, "none")); code != 1 || !strings.Contains(errs, "folder of runs") {
		t.Errorf("no folder: exit %d, %q", code, errs)
	}
	s := startServer(t, "--listen", "0.0.0.0:0", "--insecure", dir)
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil || !strings.Contains(s.stderr.String(), "INSECURE") {
		t.Errorf("%v, %q", err, s.stderr.String())
	}
}

// Over TLS the push knows the server by its certificate, and the server its own
// names by the same.
func TestPushOverTLS(t *testing.T) {
	dir, keys, token := t.TempDir(), t.TempDir(), tokenFile(t)
	cert, key := filepath.Join(keys, "cert.pem"), filepath.Join(keys, "key.pem")
	selfSigned(t, cert, key)
	s := startServer(t, "--token-file", token, "--tls-cert", cert, "--tls-key", key, dir)
	path := runsNamed(t, t.TempDir(), "tls-1")[0]
	if _, errs, code := command(t, "push", "--token-file", token, "--cacert", cert, path, s.url); code != 0 {
		t.Errorf("exit %d, %q", code, errs)
	}
	port := s.url[strings.LastIndex(s.url, ":"):]
	if _, errs, code := command(t, "push", "--token-file", token, "--cacert", cert, path, "https://localhost"+port); code != 0 {
		t.Errorf("by name: exit %d, %q", code, errs)
	}
	if _, errs, code := command(t, "push", "--token-file", token, "http://127.0.0.1"+port); code != 2 {
		t.Errorf("one argument: exit %d, %q", code, errs)
	}
	if _, errs, code := command(t, "push", "--token-file", token, path, "http://runs.example.com"); code != 2 || !strings.Contains(errs, "in the clear") {
		t.Errorf("in the clear: exit %d, %q", code, errs)
	}
}

func selfSigned(t *testing.T, cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	x := x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"localhost", "runs.example.com"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, &x, &x, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: raw}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// The server is killed while it receives: every run that it acknowledged is
// there and verifies, no other is half there, and the next server starts clean.
func TestKilledServer(t *testing.T) {
	dir, token := t.TempDir(), tokenFile(t)
	var ids []string
	for i := range 12 {
		ids = append(ids, fmt.Sprintf("killed-%02d", i))
	}
	paths := runsNamed(t, t.TempDir(), ids...)
	for _, after := range []int{1, 4} {
		s := startServer(t, "--token-file", token, dir)
		halfSent(t, s.url, paths[0])
		var mu sync.Mutex
		acknowledged := 0
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Go(func() {
				for k := i + 1; k < len(paths); k += 3 {
					if !pushed(s.url, paths[k]) {
						return // the server is gone
					}
					mu.Lock()
					acknowledged++
					if acknowledged == after {
						_ = s.cmd.Process.Kill()
					}
					mu.Unlock()
					// Whoever is acknowledged is in the folder under its id.
					if err := inFolder(dir, ids[k]); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		_ = s.cmd.Wait()
		all, err := store.List(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			r, err := store.Verify(e.Path)
			if err != nil || r.Err() != nil || !r.Sealed {
				t.Errorf("%s: %v %+v", e.Path, err, r)
			}
		}
		if len(all) < acknowledged {
			t.Errorf("%d runs after %d acknowledgements", len(all), acknowledged)
		}
	}
	s := startServer(t, "--token-file", token, dir)
	if left, err := filepath.Glob(filepath.Join(dir, ".incoming", "*")); err != nil || len(left) > 0 {
		t.Errorf("the next server found %v, %v", left, err)
	}
	for _, p := range paths {
		if !pushed(s.url, p) {
			t.Errorf("%s was not received by the next server", p)
		}
	}
	if all, err := store.List(dir); err != nil || len(all) != len(paths) {
		t.Errorf("%d of %d runs, %v", len(all), len(paths), err)
	}
}

func inFolder(dir, id string) error {
	all, err := store.List(dir)
	if err != nil {
		return err
	}
	for _, e := range all {
		if e.RunID == id && e.Err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s was acknowledged and is not there", id)
}

func uploadOf(url string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url+"/api/v1/runs", body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer correct-horse-battery-staple")
	req.Header.Set("Content-Type", store.StreamType)
	return http.DefaultClient.Do(req)
}

func streamed(path string) ([]byte, error) {
	run, err := store.Open(path)
	if err != nil {
		return nil, err
	}
	defer run.Close()
	var b bytes.Buffer
	err = run.Send(&b)
	return b.Bytes(), err
}

func pushed(url, path string) bool {
	b, err := streamed(path)
	if err != nil {
		return false
	}
	res, err := uploadOf(url, bytes.NewReader(b))
	if err != nil {
		return false
	}
	defer res.Body.Close()
	_, err = io.ReadAll(res.Body)
	return err == nil && (res.StatusCode == http.StatusCreated || res.StatusCode == http.StatusOK)
}

// halfSent leaves an upload open in its middle.
func halfSent(t *testing.T, url, path string) {
	t.Helper()
	b, err := streamed(path)
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	t.Cleanup(func() { w.Close() })
	go func() {
		res, err := uploadOf(url, r)
		if err == nil {
			res.Body.Close()
		}
	}()
	if _, err := w.Write(b[:len(b)/2]); err != nil {
		t.Fatal(err)
	}
}

var watchAt = regexp.MustCompile(`watch it at (http://\S+)/`)

// A run with --ui is watched by fifty readers at the recorder and through a
// server that found its announcement; what is recorded is whole, and the
// announcement is gone afterwards.
func TestLiveRun(t *testing.T) {
	dir := t.TempDir()
	planFile := filepath.Join(dir, "plan.yaml")
	plan := "name: watched\ntarget: {builtin: {workers: 8, service: 1ms exponential}}\nload: {steady: {rate: 200, length: 4s}}\ninterval: 250ms\nrequests: [{class: view, weight: 1, get: /view}]\n"
	if err := os.WriteFile(planFile, []byte(plan), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("headroom", "run", planFile, "-o", dir, "--ui", "127.0.0.1:0")
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	lines := bufio.NewScanner(errs)
	var at string
	for at == "" && lines.Scan() {
		if m := watchAt.FindStringSubmatch(lines.Text()); m != nil {
			at = m[1]
		}
	}
	if at == "" {
		t.Fatal("the run does not say where it can be watched")
	}
	go io.Copy(io.Discard, errs) //nolint:errcheck // what it says does not matter here

	s := startServer(t, dir)
	var listed struct{ Runs []struct{ ID, State string } }
	if err := json.Unmarshal(getOK(t, s.url+"/api/v1/runs?state=recording"), &listed); err != nil || len(listed.Runs) != 1 {
		t.Fatalf("%+v, %v", listed, err)
	}
	id := listed.Runs[0].ID
	page := getOK(t, s.url+"/pt/live/"+id)
	if !bytes.Contains(page, []byte("watched")) {
		t.Errorf("the live page lacks the plan's name")
	}
	getOK(t, s.url+"/en/live/"+id+"/timeline.svg")
	if res, err := http.Get(at + "/metrics"); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("metrics of the recorder: %v", err)
	} else {
		res.Body.Close()
	}

	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			var last uint64
			for {
				res, err := http.Get(at + "/live.json?rows=0")
				if err != nil {
					return // the run has ended
				}
				var st web.LiveStatus
				err = json.NewDecoder(res.Body).Decode(&st)
				res.Body.Close()
				if err != nil || st.RunID != id || st.Total.Scheduled < last {
					t.Errorf("%v: %s has %d after %d", err, st.RunID, st.Total.Scheduled, last)
					return
				}
				last = st.Total.Scheduled
				if st.State != "recording" {
					return
				}
			}
		})
	}
	wg.Wait()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	report, err := store.Verify(strings.TrimSpace(out.String()))
	if err != nil || report.Err() != nil || report.State != record.Complete || report.Scheduled < 600 {
		t.Errorf("%+v, %v", report, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.live*")); len(left) > 0 {
		t.Errorf("%v was left", left)
	}
	getOK(t, s.url+"/en/runs/"+id)
}

// What a recorder says is what a server reads: nothing is lost on the way.
func TestLiveStatusIsOne(t *testing.T) {
	v := 1.5
	q := record.Phase{Index: 1, Kind: record.Step, Step: 2, TargetRPS: 3, StartNS: 4e9, EndNS: 5e9}
	f := live.New(record.Header{RunID: "r", Name: "n", Release: "v", Format: "step", Model: record.Open, IntervalNS: 1e9, TimeoutNS: 2e9, MaxUS: record.DefaultMaxUS, Classes: []record.Class{{Name: "c"}}})
	f.Tick(live.Tick{AtNS: 6e9, Phase: q, InFlight: 7})
	f.SetSoFar(live.SoFar{Plateaus: 8, HighestHeldRPS: &v, LowestFailedRPS: &v, KneeRPS: &v, UntrustedReasons: []string{"lag_p99"}})
	a, err := json.Marshal(f.Status())
	if err != nil {
		t.Fatal(err)
	}
	var s web.LiveStatus
	d := json.NewDecoder(bytes.NewReader(a))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		t.Fatal("not JSON")
	}
	if d := cmp.Diff(x, y); d != "" {
		t.Error(d)
	}
}
