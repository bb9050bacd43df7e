/*
Headroom finds the load at which a service stops keeping up, and says how far
production is from it.

It sends requests on a schedule that does not wait for the service, measures
each from the instant at which it was due, writes what happened as one evidence
file a run, and says afterwards what the evidence means and how far it can be
trusted. Evidence and meaning are apart: an old file can be analysed anew, with
other gates, years later.

# First steps

	headroom demo             the whole story in under 90 s, on a built-in service whose capacity is known
	headroom find URL         how much can the service at this address take? No plan needed
	headroom init shop.yaml   a commented plan to start from
	headroom check shop.yaml  is the plan valid, what will it do, does each request work?
	headroom run shop.yaml    record one run; the last line printed is the evidence file
	headroom analyze RUN.db   what it means; the exit code is the verdict
	headroom report RUN.db -o report
	                          pictures, tables and one HTML page to pass on

A plan that fits on a page, for a service that headroom brings along: one worker
that needs 10 ms, so that it can answer 100 requests per second and not one more.

	$ cat shop.yaml
	name: shop
	target:
	  builtin: {workers: 1, service: 10ms constant}
	load:
	  steady: {rate: 50, length: 2s}
	requests:
	  - {class: view, weight: 4, get: "/items/{item}"}
	  - {class: search, weight: 1, get: "/search?q={item}"}
	data:
	  item: {zipf: {count: 1000, exponent: 1}}
	$ headroom check shop.yaml
	shop.yaml: the plan "shop" is valid
	$ headroom run shop.yaml -o runs
	runs/shop-20261120T093000Z-5a5a0001.db
	$ headroom ls runs
	STARTED               NAME  RELEASE  FORMAT  STATE     SIZE   FILE
	$ headroom verify runs/*.db
	runs/shop-20261120T093000Z-5a5a0001.db: sound, complete, sealed
	$ headroom analyze runs/*.db           # exit 0 or 4
	trust
	$ headroom report runs/*.db -o report
	report

With target url instead of builtin, the same plan tests a service of yours.

# Commands

Flags may stand before or after the arguments; what follows -- is never a flag.
Results go to stdout, words about the work to stderr. Every command has --quiet
(-q) and --no-progress; where a result is printed, --format text, json, csv or
markdown chooses how.

	demo [--quick] [-o DIR] [--print-plan]
		A step run against the built-in service, its analysis and its report.
		It prints the true capacity beside the one it found. --quick takes
		under 25 s, for a wider interval.

	find URL [--peak RPS] [--timeout D] [--within D] [-o DIR] [--print-plan]
		Needs no plan: doubles the rate until something gives, climbs a ladder
		around that rate and past it, analyses and reports, in about the time
		given (6m). At a few requests per second that is not enough for a
		narrow interval; it then says how long it would take.

	init [FILE]
		Writes a commented plan, headroom.yaml unless a name is given; - is
		stdout. It never overwrites.

	check PLAN [--offline] [--profile FILE] [--strict]
		Validates the plan, all problems at once, prints the schedule, and
		sends one request of each class. Exit 1 where an answer is not what
		the plan expects.
		Six rows set the plan beside production, whose profile the plan names
		or --profile gives: arrivals, cardinality with the hit ratio of a cache
		of --cache entries, mix, data, neighbours, dependencies, each with what
		to change. --strict exits 3 where one is a caution, 4 where one is not
		known.

	run PLAN [-o DIR] [--release LABEL] [--seed N] [--ui ADDRESS]
		Records one run into the folder DIR (runs), which is made where it is
		missing. A first Ctrl-C stops sending and waits for what is in
		flight; a second one ends the run at once. The evidence is sealed
		either way, as interrupted. --ui shows the run while it goes on, as a
		page at ADDRESS.

	run --url URL --rate R --length D [-o DIR] [--print-plan]
		A quick look at one URL at a steady rate, without a plan.
		--print-plan prints the plan that it would run.

	analyze RUN... [--peak RPS] [--gate RULE]...
		Says what the evidence means. Gates on the command line are added to
		those of the plan; --peak takes the place of the plan's production
		peak. Several runs: the worst verdict is the exit code.

	analyze --table FILE.csv [--peak RPS] [--gate RULE]...
		The same for a step table of another tool, - for stdin, with the
		columns offered_rps (or target_rps), sent_rps (or achieved_rps),
		goodput_rps and, where known, duration_s, p50_ms and p99_ms.

	analyze --series FILE.csv --time COLUMN [--column C]... [--limit C=X]...
		Judges resource series of any origin: leak, drift, step, saw-tooth,
		warm-up or none, and when a limit would be reached.

	Analyses are printed by --format junit and github as well; --knee is the
	knee that the recovery from a burst is compared with, where it is known
	from another run; --lang pt-BR speaks Brazilian Portuguese.

	report RUN -o DIR [--lang en|pt-BR] [--peak RPS] [--gate RULE]...
		Writes report.html, which needs nothing else, report.md,
		analysis.json, intervals.csv, steps.csv and each picture as SVG and PNG.

	compare BASE... -- NEW... [--metric M]... [--force] [-o DIR]
		Are two releases different, by how much, with what confidence? Each
		run is one observation: three a side at least, five to find a
		slowdown of 10 %. Exit 3 where a gated metric got worse, 4 where the
		runs can't be compared; --force compares unlike plans and says so.

	trend DIR [--name N] [--metric M]... [--gate M]... [--since DATE] [-o DIR]
		The history of one plan: slopes, changes of level, missing runs. Exit
		3 where a gated metric got worse, 4 where there are too few runs.

	serve DIR [--listen ADDRESS] [--token-file FILE]
		Serves the folder's history, runs, comparisons and trends to people,
		and as JSON under /api/v1/, at 127.0.0.1:8077 unless told otherwise.
		Beyond this machine it wants a token and TLS (--tls-cert, --tls-key),
		or --insecure. --host NAME is a name that it is called by, --live URL
		the feed of a run recorded elsewhere with --ui, --max-upload BYTES the
		largest run that it takes.

	push RUN URL [--token-file FILE] [--cacert FILE] [--insecure]
		Sends a run to such a server; sending it again changes nothing.

	prep profile LOG... -o FILE [--dry-run] [--shape-only]
		Learns the mix, the popularity of keys, the arrivals and the peak from
		access logs, plain or packed, in any order. Nothing that names a
		person, an address or a value is kept. --format-string is the logs'
		format where it is not found out, --sampled SHARE what part of all
		requests they hold, --route PATTERN a route that is not guessed right.

	prep curl FILE | prep har FILE | prep openapi FILE [-o PLAN]
		Makes the start of a plan: of curl commands (- is stdin, and behind --
		stands a command itself), of a browser's recording, with its counts as
		weights, or of an OpenAPI 3 document. Cookies, credentials, keys and
		passwords are left out and become ${NAME}; stderr says which. --host
		HOST is the one under test where a recording has several. -o never
		overwrites.

	ls DIR
		The history in a folder, damaged and unfinished files included.

	verify RUN...
		Structure, checksums, seal and the law of accounting. Exit 5 where a
		file is not sound.

	export RUN --as csv|json|hlog [-o FILE]
		A row per interval and class; every record; or an HdrHistogram
		interval log.

	import FILE --from FORMAT [-o DIR] [--scheduled-column C[:UNIT] | --expected-interval D]
		Turns another tool's results into evidence, so that its omission
		factor can be told: k6-json, k6-csv, jtl, vegeta, hlog, csv and more,
		which its help lists. The schedule comes from a column, or is rebuilt
		from the interval that the tool was told to keep; it is never guessed
		from gaps. For csv, --columns FIELD=COLUMN[:UNIT] names what is where;
		--unit is that of an hlog, --end-stamps says that a jtl stamps the
		ends, --model says what the format does not. --name, --release and
		--gate stand for the plan's. Summaries without single requests become
		points of the trend.

	merge SHARD... -o FILE
		Makes one run of the shards of one plan. Histograms are added up;
		percentiles are never averaged.

	recover [DIR...]
		Seals what a killed run left behind as interrupted, and removes files
		that never became evidence. Damaged files stay as they are.

	target [FLAGS]
		Serves the built-in service until it is stopped; `headroom target
		--help` lists its flags. GET /truth answers what it is and did.

	version [--json], completion bash|zsh|fish, help [COMMAND | exit-codes]

# The plan

YAML, read strictly. `headroom init -` prints one with comments. Durations are
written as 250ms, 30s, 5m, 4h or 90d; rates in requests per second. ${NAME} comes
from the environment and never reaches evidence, reports or logs. Files that a
plan names are looked for beside it.

	name, release, seed   what is tested; the same plan and seed make the same schedule
	target                one of url, builtin (known capacity) and exec (started and stopped by the run)
	http                  version, timeout (from the send), deadline (from the due instant), headers, tls, limits
	arrivals              poisson (as independent users come), constant, or trace: FILE
	load                  one of step (find the limit), steady, burst, soak, closed, ramp
	warmup, interval      recorded and never judged; the slices of the record, 1s
	data                  where {identifiers} come from: zipf, choice, file
	requests              class, weight, get or post, headers, body, expect, shed; or flow: the steps of one user
	retries, observe      off unless asked for; processes and metrics on the same time axis
	production            the busiest second of the last 90 days, which the margin is counted from
	gates                 rules that must hold, as in margin >= 2.0 or response(p99) <= 150ms

All problems of a plan are printed at once, each with its place:

	$ cat typo.yaml
	name: typo
	target: {uri: "http://127.0.0.1:8080"}
	load:
	  steady: {rate: fast, length: 10s}
	requests:
	  - {class: view, get: /}
	$ headroom check typo.yaml --offline   # exit 2
	headroom: typo.yaml:2:10: target.uri: unknown key; did you mean url?

# What is measured

Every scheduled request ends in exactly one outcome: ok, late (valid, after the
deadline), shed (refused on purpose), wrong, http_error, timeout, connect_error,
generator_error, dropped or unfinished. Goodput counts ok answers per second.

Response time runs from the instant at which a request was due: what a user
feels. Service time runs from the send: what the server's own dashboard sees.
Where the generator falls behind, the two part; their ratio at p99 is the
omission factor, and beyond 2 nothing that the run says is trusted.

The knee is the arrival rate above which goodput stops growing. The margin is
the knee over production's peak, and a gate on it is judged on the lower end of
its 95 % interval. analyze/METHODS.md in the source says how each number is
made, and when it is refused.

A run is pass, fail or inconclusive. Evidence that is missing, interrupted or
untrusted is inconclusive: it never passes. A step table shows all three:

	$ cat steps.csv
	offered_rps,sent_rps,goodput_rps,duration_s
	100,100,100,60
	200,200,200,60
	300,300,300,60
	400,400,400,60
	500,500,499,60
	600,600,500,60
	700,700,498,60
	800,800,499,60
	$ headroom analyze --table steps.csv --peak 100 --gate 'margin >= 2'
	trust
	$ headroom analyze --table steps.csv --peak 400 --gate 'margin >= 2'   # exit 3
	trust
	$ headroom analyze --table steps.csv --gate 'recovery <= 30s'          # exit 4
	trust

# Exit codes

	$ headroom help exit-codes
	0    done, or every gate passed
	1    could not do the job
	2    usage or plan error
	3    a gate failed
	4    inconclusive: the evidence is untrusted or insufficient
	5    evidence refused: damaged, not evidence, or too new
	130  stopped by SIGINT; the evidence so far is sealed
	143  stopped by SIGTERM; the evidence so far is sealed

# Evidence

A run is one file, RUN.part while it is recorded and RUN.db, read-only and sealed
with a SHA-256, afterwards. A run that was killed can be read up to its last
complete interval. A file that is damaged, foreign or of a newer version is
refused with one sentence and exit 5. The format is described in store/FORMAT.md
in the source, and files of every version ever written stay readable. Evidence
holds counts, histograms and the names of classes; it holds no URL, no header, no
body, no key and no text of an error.

# Environment

Colour is for terminals. NO_COLOR, when it is not empty, means none at all;
CLICOLOR_FORCE means colour also where stdout is no terminal.
*/
package main
