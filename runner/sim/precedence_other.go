//go:build !linux

package sim

func precede() {}
