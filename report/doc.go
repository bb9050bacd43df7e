// Package report tells an analysis: as JSON, CSV, text for a terminal, Markdown
// and one HTML page that needs nothing else. Every renderer is a function of
// values; Write alone touches files, and puts all of them in place or none.
//
// Numbers carry a unit and three significant digits. A number that is absent is
// printed as "–" with the reason beside it, a percentile beyond the timeout as
// "> 2 s".
package report
