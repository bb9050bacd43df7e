/*
Headroom finds the load at which a service stops keeping up, and how far
production is from it.

It sends requests on a schedule that does not wait for the service, measures
each from the instant at which it was due, writes what happened as one evidence
file a run, and says afterwards what the evidence means and how far it can be
trusted.

	headroom demo                                 the whole story in 90 seconds
	headroom init plan.yaml                       a commented plan to start from
	headroom check plan.yaml                      is it valid, what will it do, does each request work?
	headroom run plan.yaml -o runs                record one run
	headroom analyze runs/RUN.db                  what it means; the exit code is the verdict
	headroom report runs/RUN.db -o report         pictures, tables, one HTML page

Results go to stdout, words about the work to stderr. The exit codes are printed
by `headroom help exit-codes`.
*/
package main
