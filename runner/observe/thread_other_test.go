//go:build !linux

package observe

func threadID() int { return 0 }
