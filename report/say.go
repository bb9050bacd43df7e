package report

import "headroom/analyze"

// Speech writes single values as reports do, in a language.
type Speech struct{ w *words }

// In is the speech of a language.
func In(lang Lang) Speech { return Speech{wordsOf(lang)} }

// Absent is written where there is no value.
func (s Speech) Absent() string { return absent }

// Rate writes requests per second, with the unit.
func (s Speech) Rate(v float64) string { return s.w.rate(v) }

// Number writes a number with three significant digits.
func (s Speech) Number(v float64) string { return s.w.significant(v) }

// Count writes a whole number.
func (s Speech) Count(n uint64) string { return s.w.count(n) }

// Duration writes microseconds.
func (s Speech) Duration(us float64) string { return s.w.duration(us) }

// Seconds writes seconds.
func (s Speech) Seconds(v float64) string { return s.w.seconds(v) }

// Percent writes a share in [0,1].
func (s Speech) Percent(share float64) string { return s.w.percent(share) }

// Span writes an interval, "–" where there is none.
func (s Speech) Span(i *analyze.Interval) string { return s.w.span(i, s.w.significant) }

// Code is the word for a stable code.
func (s Speech) Code(code string) string { return s.w.code(code) }

// Outcome is the word for an outcome.
func (s Speech) Outcome(name string) string { return orElse(s.w.Outcomes[name], name) }

// Badge is the word for a verdict, with its tone and sign.
func (s Speech) Badge(code string) Badge { return Badge(s.w.badge(code)) }

// Caption is the sentence below the picture of a name, as in Picture.
func (s Speech) Caption(picture string) string { return s.w.Captions[picture] }
