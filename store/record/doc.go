// Package record is the vocabulary of headroom: what a run writes down and what
// an analysis reads.
//
// Everything here is a plain value. There is no clock, no file and no socket;
// instants are nanoseconds since the origin of the run, on a monotonic clock.
// The runner makes these values, the store keeps them, the analysis reads them,
// and nothing else passes between the three.
package record
