// Package queueing holds the exact results of queueing theory that the
// analysis and the built-in service are tested against. It is an oracle for
// tests, not part of any analysis.
//
// Rates are per second, durations in seconds, shares in [0,1]. Every function
// panics on parameters for which the result does not exist (no server, a rate
// that is not positive, a queue that is not stable), because in a test that
// is a mistake of the test.
package queueing
