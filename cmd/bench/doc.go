// Command bench measures headroom beside other generators on this machine, and
// its other budgets, and prints one table. `make bench` runs it.
//
//	bench [-rounds 3] [-length 8s] [-quick] [-only compare,search,exact,truth,budgets]
//	      [-markdown FILE] [-install vegeta] [-headroom bin/headroom] [-wait 1h] [-check]
//
// One server serves all: nginx with a small answer from memory where it is
// installed, the built-in service elsewhere. It has the last core of the
// machine for itself, the generators have the first. Every child process gets
// the precedence that headroom asks for itself, where the user may give it, so
// that nobody is favoured on a machine with other work. Rounds are interleaved:
// each generator once, then each again; the table has the median and, in
// brackets, the least and the most. Headroom runs as its user runs it: a plan,
// the program, a sealed evidence file; what it says of itself is read from that
// file.
//
// vegeta and k6 are found on PATH or installed, once, into the user's cache
// folder; wrk and wrk2 are used where they are on PATH. They are run as
// programs: nothing of theirs becomes part of the project.
//
// Figures of a machine that has other work to do are worth little: the table
// says how much of the machine that work had, and -wait waits for it to end.
//
// What a number means:
//
//   - CPU: user and system time of the generator's process, start and end
//     included, divided by the requests that were answered.
//   - lag: sent − scheduled. vegeta notes when it sent each request and which
//     number it had, so its lag is known too: against the evenly spaced
//     schedule that fits it best. Others do not say.
//   - response: as the tool reports it; headroom's counts from the schedule,
//     vegeta's too (lag added), k6's from the send, wrk2's from the schedule.
//   - lag and response by the server's truth: the built-in service writes down
//     when each request came; the nth that came is compared with the nth instant
//     of the schedule, and the earliest of all counts as punctual, because the
//     way there takes time, too. Its work takes exactly 100 µs.
//   - the instrument: a server on a thread that never sleeps answers 1 ms after
//     it saw a request; what headroom's median service time says beyond 1 ms is
//     the way there and back and its own delay.
//   - held: the highest rate of a ladder of 12 % steps, found by bisection, at
//     which 99 % of what was asked was done, nothing failed, and lag p99 was at
//     most 1 ms; where lag is not known, at which k6 dropped nothing, and at
//     which wrk2's response p99 was at most 3 ms. A rung that fails is tried
//     once more.
//
// It exits with 0, with 1 where -check is given and a budget was measured and
// missed, with 2 where it could not run.
package main
