// Package plan reads the YAML file that says what a run does.
//
// Reading is strict. An unknown key, a wrong type, a bad value, a key given
// twice, a key that is missing and keys that contradict each other are all
// problems; Parse reports every one of them at once, each with file, line,
// column and key. Durations are written as Go writes them, with d for days;
// rates in requests per second; sizes as 1MB or 512KiB; shares as 0.02 or 2%.
//
// ${NAME} in a value is replaced from the environment ($${NAME} is the text
// itself). What came from there is only ever used to send requests: it is
// refused where a value is written into evidence, and Text and Template print
// as the plan writes them, with ${NAME}.
//
// A Plan has a canonical form, which parses again to the same plan. Its bytes
// are frozen, so that a digest means the same in every version: keys stand in a
// fixed order, and an optional key with its default value is left out.
package plan
