package sim

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain lets the test binary stand in for headroom: StartProcess runs it
// with the argument target.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "target" {
		o, err := ParseOptions(os.Args[2:])
		if err == nil {
			err = Serve(context.Background(), o, os.Stdout)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == "parent" { // of a service, for as long as it lives
		p, err := StartProcess(context.Background(), os.Args[0], Options{})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(p.PID, p.URL)
		select {}
	}
	goleak.VerifyTestMain(m)
}

func TestProcess(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := StartProcess(t.Context(), exe, Options{Workers: 2, Service: Service{Mean: time.Millisecond, Shape: Exponential}, Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	get(t, newClient(t), p.URL+"/a/1")
	tr, err := p.Truth(t.Context())
	if err != nil || tr.CapacityRPS != 2000 || tr.Seed != 9 || tr.Counters.Departed != 1 || tr.Lateness == nil {
		t.Errorf("%+v, %v", tr, err)
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if err := p.Stop(); err == nil {
		t.Error("a second stop says nothing of a process that had ended")
	}
	http.DefaultClient.CloseIdleConnections()

	if _, err := StartProcess(t.Context(), exe, Options{Listen: "256.0.0.1:0"}); err == nil || !strings.Contains(err.Error(), "256.0.0.1") {
		t.Errorf("an address that cannot be: %v", err)
	}
	if _, err := StartProcess(t.Context(), exe, Options{Workers: -1}); err == nil {
		t.Error("options that cannot be were accepted")
	}
}

// A service ends with its parent, even one that is killed.
func TestProcessParentKilled(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "parent")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	var url string
	_, err = fmt.Fscan(bufio.NewReader(out), &pid, &url)
	if kill := cmd.Process.Kill(); kill != nil {
		t.Error(kill)
	}
	_ = cmd.Wait() // it was killed
	if err != nil {
		t.Fatal(err)
	}
	until(t, func() bool {
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err == nil {
			c.Close()
		}
		return err != nil
	})
}
