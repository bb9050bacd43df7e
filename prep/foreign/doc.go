// Package foreign reads the results of other load tools.
//
// A file with one row per request becomes evidence: a record.Header and the
// records that Import.Write puts into a record.Sink, counted by the same
// runner/tally that counts our own runs, in virtual time. A file that holds
// only aggregates becomes Points for the trend; no latency is ever made up from
// them.
//
// An import has at most two clocks. Where a column says when each request was
// due, response time counts from there and the omission factor is measured.
// Where the caller names the expected interval, the schedule is rebuilt from
// the first request and the sequence, request i being due i intervals after the
// first, and the factor becomes an estimate with a lower and an upper bound
// (see estimate.go). Everywhere else response time equals service time and
// there is no factor.
//
// FORMATS.md lists the formats, what each gives and what it cannot give.
package foreign
