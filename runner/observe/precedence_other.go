//go:build !linux

package observe

// Precede does nothing on this system.
func Precede() {}
