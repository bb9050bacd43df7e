// Package stat is arithmetic on slices: the statistical methods that the
// analysis of a run is made of. Every function is pure. None reads a clock,
// a file or a global random source; where randomness is needed the caller
// passes a seed, so two analyses of the same evidence print the same digits.
//
// NaN and infinity never leave this package. A function that cannot answer
// says so in one of two ways: a second result ok that is false, for plain
// arithmetic, or a field Refused holding a [Refusal], for a method. Both
// come with zero values that must not be used. Values in the input that
// are not finite, or larger than 1e100, are refused too, except in the signals of [Recovery], where NaN
// stands for an interval without a value.
//
// Functions panic only on arguments that are wrong in the program and not in
// the data, such as a probability outside (0,1); each says so.
package stat
