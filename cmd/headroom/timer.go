package main

import (
	"runtime"

	"headroom/store/record"
)

// timerNote says that the timers of a system are those of Go's runtime, which
// may wake a millisecond late where the process is idle. On Linux the engines
// wait to the nanosecond.
func timerNote(system string) (record.Note, bool) {
	if system == "linux" {
		return record.Note{}, false
	}
	return record.Note{
		Code: "plain_timer", Severity: record.Caution, Phase: -1, Measured: 1, Limit: 0.1,
		Text: "this system has no timer finer than about 1 ms that is used here: requests may leave up to so much late",
	}, true
}

// ownNotes are what is known of the generator before it begins.
func ownNotes() []record.Note {
	if n, ok := timerNote(runtime.GOOS); ok {
		return []record.Note{n}
	}
	return nil
}
