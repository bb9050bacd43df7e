// Package plot draws the pictures of a report: values in, SVG or PNG bytes
// out. Nothing here opens a file, reads a clock or keeps state, and the same
// values give the same bytes.
//
// Every picture is a Figure: a title, a row of keys, and one or more panels
// that share the horizontal axis. Colours are those of Okabe and Ito, which
// people with any common colour vision tell apart; dashes, marker shapes and
// hatching say the same again for print without colour.
//
// A value that is not known is NaN. It leaves a gap, it is never drawn as zero.
// Values that a logarithmic axis can't show (zero and below) leave a gap too.
package plot
