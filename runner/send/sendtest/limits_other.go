//go:build !linux

package sendtest

import "testing"

// limits needs ways of running out of things that only Linux has.
func (s *suite) limits(*testing.T) {}
