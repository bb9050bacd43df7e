// Server is a small service for the test of target.exec. It answers /healthz and
// /work, writes its process ids to a file, and starts a child that does not stop
// when asked.
package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
)

func main() {
	port := flag.Int("p", 0, "port")
	pids := flag.String("pids", "", "file for the process ids")
	fail := flag.Bool("fail", false, "print the environment variable SECRET and end")
	stubborn := flag.Bool("stubborn", false, "be the child: wait, whatever is asked")
	flag.Parse()
	if *fail {
		fmt.Fprintln(os.Stderr, "can't reach the database with password", os.Getenv("SECRET"))
		os.Exit(7)
	}
	if *stubborn {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
		select {}
	}
	if *pids != "" {
		child := exec.Command(os.Args[0], "-stubborn", "-p", "1")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		text := fmt.Sprintln(os.Getpid(), child.Process.Pid)
		if err := os.WriteFile(*pids, []byte(text), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	http.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("/work", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"greeting": %q}`, os.Getenv("GREETING"))
	})
	if err := http.ListenAndServe("127.0.0.1:"+strconv.Itoa(*port), nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
