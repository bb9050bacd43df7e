package std

import (
	"io"
	"log"
	"runtime"
	"testing"

	"go.uber.org/goleak"

	"headroom/runner/send/sendtest"
)

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard) // see the package comment, The log
	goleak.VerifyTestMain(m)
}

func TestSuite(t *testing.T) {
	sendtest.Run(t, New, sendtest.Capabilities{LooksFirst: runtime.GOOS == "linux"})
}
