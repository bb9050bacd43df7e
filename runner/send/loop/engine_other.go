//go:build !linux

package loop

import (
	"time"

	"headroom/runner/send"
)

// Supports reports whether New can do what cfg asks.
func Supports(send.Config) bool { return false }

// New returns ErrUnsupported.
func New(send.Config, time.Time) (send.Engine, error) { return nil, ErrUnsupported }
