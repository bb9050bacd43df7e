// Package runner executes one run: it turns a plan into phases, drives an
// engine through them on a schedule that never waits for the service, and
// writes what happened to a record.Sink.
//
// A Script says which phase comes next; for a step load it decides that from
// the plateaus so far, with the same pure code that analyses the evidence
// afterwards. The conductor is the send.Feed: it merges arrivals, retries, later
// steps of flows, closed users and interval boundaries into one sequence of due
// instants. The tally turns ends of requests into closed intervals, and a
// recorder goroutine hands them to the sink, off the sending path.
package runner
