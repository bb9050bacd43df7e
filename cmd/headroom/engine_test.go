package main

import (
	"bytes"
	"log"
	"testing"

	"headroom/runner/send"
)

// TestQuietEngine: what net/http has to say of a server's answers does not reach
// the terminal of a run.
func TestQuietEngine(t *testing.T) {
	var b bytes.Buffer
	old := log.Writer()
	log.SetOutput(&b)
	defer log.SetOutput(old)
	e, err := newEngine(send.Config{Scheme: "http", Address: "127.0.0.1:1", HTTPVersion: "h2c", KeepAlive: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if log.Print("Unsolicited response"); b.Len() > 0 {
		t.Errorf("on the terminal: %q", b.String())
	}
}
