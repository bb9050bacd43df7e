package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// base is a plan without a problem; the cases change it.
const base = `name: t
target: {url: "http://127.0.0.1:1"}
load: {steady: {rate: 10, length: 10s}}
requests:
  - {class: a, get: /}
`

// badPlans change base: old is replaced by new, "" appends new as the next
// lines, "ALL" replaces everything.
var badPlans = []struct {
	name, old, new string
	want           []string
}{
	{"unknown key", "", "gate: [margin >= 2]", []string{
		"p.yaml:6:1: gate: unknown key; did you mean gates?",
	}},
	{"unknown key with no near one", "", "frobnicate: 1", []string{
		"p.yaml:6:1: frobnicate: unknown key; known here are name, release, seed, target, http, arrivals, load, warmup, interval, data, requests, retries, neighbours, dependencies, faults, observe, production, gates, abort",
	}},
	{"key of another tool", "length: 10s", "duration: 10s", []string{
		"p.yaml:3:16: load.steady.length: is missing; add it",
		"p.yaml:3:27: load.steady.duration: unknown key; did you mean length?",
	}},
	{"key twice", "", "seed: 1\nseed: 2", []string{
		"p.yaml:7:1: seed: is given twice, first in line 6; keep one",
	}},
	{"empty value", "", "release:", []string{
		"p.yaml:6:1: release: has no value; write one, or delete the key",
	}},
	{"wrong type: list for a mapping", "", "http: [1]", []string{
		"p.yaml:6:7: http: is a list, not a mapping; write its keys as `key: value`",
	}},
	{"wrong type: mapping for a list", "", "gates: {margin: 2}", []string{
		"p.yaml:6:8: gates: is a mapping, not a list; write [a, b] or one `- item` a line",
	}},
	{"wrong type: mapping for a value", "", "seed: {a: 1}", []string{
		"p.yaml:6:7: seed: is a mapping, not a single value",
	}},
	{"wrong type: text for a number", "", "seed: \"7\"", []string{
		`p.yaml:6:7: seed: is a text, "7"; write it without quotes, such as 7`,
	}},
	{"negative seed", "", "seed: -7", []string{
		`p.yaml:6:7: seed: "-7" is not a seed; write a whole number from 0 to 18446744073709551615`,
	}},
	{"not a whole number", "", "http: {max_in_flight: 1.5}", []string{
		`p.yaml:6:23: http.max_in_flight: "1.5" is not a whole number; write one from 1 to 10000000`,
	}},
	{"out of range", "", "http: {max_in_flight: 0}", []string{
		"p.yaml:6:23: http.max_in_flight: 0 is out of range; write 1 to 10000000",
	}},
	{"bare duration", "length: 10s", "length: 10", []string{
		"p.yaml:3:35: load.steady.length: a duration has a unit; write 10s, 10ms or 10m",
	}},
	{"unknown unit", "length: 10s", "length: 10sec", []string{
		`p.yaml:3:35: load.steady.length: "10sec" has the unknown unit "sec"; units are ns, us, ms, s, m, h and d`,
	}},
	{"negative duration", "length: 10s", "length: -10s", []string{
		`p.yaml:3:35: load.steady.length: "-10s" is negative; a duration is zero or more`,
	}},
	{"duration out of range", "", "interval: 1ms", []string{
		"p.yaml:6:11: interval: 1ms is out of range; write 100ms to 1h",
	}},
	{"not a rate", "rate: 10", "rate: fast", []string{
		`p.yaml:3:23: load.steady.rate: "fast" is not a rate; write requests per second, such as 100, or 6000/m`,
	}},
	{"rate of zero", "rate: 10", "rate: 0", []string{
		"p.yaml:3:23: load.steady.rate: 0 is out of range; a rate is 0.001 to 10000000 requests per second",
	}},
	{"not true or false", "", "http: {keepalive: maybe}", []string{
		`p.yaml:6:19: http.keepalive: "maybe" is neither true nor false`,
	}},
	{"none of the words", "", "http: {version: \"1.0\"}", []string{
		`p.yaml:6:17: http.version: "1.0" is none of 1.1, 2, h2c, auto; did you mean 1.1?`,
	}},
	{"missing keys", "ALL", "release: x", []string{
		"p.yaml:1:1: name: is missing; add it",
		"p.yaml:1:1: target: is missing; add it",
		"p.yaml:1:1: load: is missing; add it",
		"p.yaml:1:1: requests: is missing; add it",
	}},
	{"everything missing inside", "load: {steady: {rate: 10, length: 10s}}", "load: {steady: {}}", []string{
		"p.yaml:3:16: load.steady.rate: is missing; add it",
		"p.yaml:3:16: load.steady.length: is missing; add it",
	}},
	{"no load", "load: {steady: {rate: 10, length: 10s}}", "load: {}", []string{
		"p.yaml:3:7: load: needs one of step, burst, soak, chaos, steady, closed, ramp",
	}},
	{"two loads", "load: {steady: {rate: 10, length: 10s}}", "load: {steady: {rate: 10, length: 10s}, ramp: {from: 1, to: 2, length: 1s}}", []string{
		"p.yaml:3:41: load.ramp: contradicts steady; keep one of the two",
	}},
	{"two targets", "target: {url: \"http://127.0.0.1:1\"}", "target: {url: \"http://127.0.0.1:1\", builtin: {workers: 1, service: 1ms}}", []string{
		"p.yaml:2:37: target.builtin: contradicts url; keep one of the two",
	}},
	{"not a URL", "http://127.0.0.1:1", "127.0.0.1:1", []string{
		"p.yaml:2:15: target.url: is not a URL; write http://host:port, https://host or unix:///path",
	}},
	{"URL with a user", "http://127.0.0.1:1", "http://me:pw@127.0.0.1:1", []string{
		"p.yaml:2:15: target.url: has a user in it; delete it, and give http.headers an Authorization",
	}},
	{"URL with a query", "http://127.0.0.1:1", "http://127.0.0.1:1/?a=b", []string{
		"p.yaml:2:15: target.url: has a query or a fragment; these belong to the requests' paths",
	}},
	{"builtin: unknown option and bad value", "target: {url: \"http://127.0.0.1:1\"}", "target: {builtin: {worker: 8, service: 20 parsec, wrong: 2}}", []string{
		"p.yaml:2:20: target.builtin.worker: unknown key; did you mean workers?",
		`p.yaml:2:40: target.builtin.service: service "20 parsec": "20" is not a duration; write it as "20ms constant", "20ms exponential" or "20ms lognormal(0.5)"`,
		"p.yaml:2:58: target.builtin.wrong: 2: must be a share from 0 to 1",
	}},
	{"step goes down", "load: {steady: {rate: 10, length: 10s}}", "load: {step: {from: 100, by: 10, to: 50}}", []string{
		"p.yaml:3:38: load.step.to: is 50, below from: 100; a step load goes up",
	}},
	{"step without by or to", "load: {steady: {rate: 10, length: 10s}}", "load: {step: {from: 100}}", []string{
		"p.yaml:3:14: load.step.to: is missing; add it",
		"p.yaml:3:14: load.step: needs one of by, factor",
	}},
	{"step by and factor", "load: {steady: {rate: 10, length: 10s}}", "load: {step: {from: 100, by: 10, factor: 1.2, to: 500}}", []string{
		"p.yaml:3:34: load.step.factor: contradicts by; keep one of the two",
	}},
	{"settle as long as the plateau", "load: {steady: {rate: 10, length: 10s}}", "load: {step: {from: 100, by: 10, to: 200, plateau: 10s, settle: 10s}}", []string{
		"p.yaml:3:65: load.step.settle: leaves nothing of a plateau of 10s to judge; make it shorter than that",
	}},
	{"beyond does not rise", "load: {steady: {rate: 10, length: 10s}}", "load: {step: {from: 100, by: 10, to: 200, beyond: [1.5, 1.25, 0.5]}}", []string{
		"p.yaml:3:57: load.step.beyond[1]: does not rise; write the multiples of the knee in rising order, each once",
		"p.yaml:3:63: load.step.beyond[2]: 0.5 is out of range; write 1.01 to 100",
	}},
	{"too many plateaus", "load: {steady: {rate: 10, length: 10s}}", "load: {step: {from: 1, by: 1, to: 5000}}", []string{
		"p.yaml:3:14: load.step: makes 5000 plateaus; choose steps so that there are at most 1000",
	}},
	{"auto with by", "load: {steady: {rate: 10, length: 10s}}", "load: {step: {from: auto, by: 10}}", []string{
		"p.yaml:3:27: load.step.by: contradicts from: with from: auto the ladder is geometric; write factor",
	}},
	{"a time for a ladder that is known", "load: {steady: {rate: 10, length: 10s}}", "load: {step: {from: 10, by: 10, to: 50, within: 6m}}", []string{
		"p.yaml:3:49: load.step.within: needs from: auto; a ladder that is known has its own length",
	}},
	{"a time and lengths", "load: {steady: {rate: 10, length: 10s}}", "load: {step: {from: auto, plateau: 10s, within: 6m}}", []string{
		"p.yaml:3:27: load.step.plateau: contradicts within: the time given makes the plateaus' lengths; keep one of the two",
	}},
	{"soak of a knee from nowhere", "load: {steady: {rate: 10, length: 10s}}", "load: {soak: {of_knee: 0.7, length: 1h}}", []string{
		"p.yaml:3:14: load.soak.knee_from: is missing; add it",
	}},
	{"closed with pacing and think", "load: {steady: {rate: 10, length: 10s}}", "load: {closed: {users: 10, pacing: 1s, think: 1s, length: 1m, by: 5}}", []string{
		"p.yaml:3:40: load.closed.think: contradicts pacing; keep one of the two",
		"p.yaml:3:63: load.closed.by: needs to as well; larger populations come by so many up to so many",
	}},
	{"not yet", "", "neighbours: []\nfaults: []\ndependencies: {}", []string{
		"p.yaml:6:1: neighbours: `neighbours` is not supported yet by this version; delete it",
		"p.yaml:7:1: faults: `faults` is not supported yet by this version; delete it",
		"p.yaml:8:1: dependencies: `dependencies` is not supported yet by this version; delete it",
	}},
	{"not yet, containers", "target: {url: \"http://127.0.0.1:1\"}", "target: {docker: {network: internal}}", []string{
		"p.yaml:2:10: target.docker: `docker` is not supported yet by this version; delete it",
	}},
	{"a curve of its own", "load: {steady: {rate: 10, length: 10s}}", "load: {step: {from: 1, by: 1, to: 2}}\narrivals: {profile: p, curve: true}", []string{
		"p.yaml:4:11: arrivals.curve: contradicts load.step, which sets its own rates; use it with load: {steady: …} or {soak: …}",
	}},
	{"a curve without a profile", "", "arrivals: {bursty: {dispersion: 3}, curve: true}", []string{
		"p.yaml:6:37: arrivals.curve: only a profile has a curve; delete it",
	}},
	{"peaks twice", "", "production: {profile: p.json, peak: 3, resolution: 1m}", []string{
		"p.yaml:6:31: production.peak: contradicts profile: the profile has it; delete it",
	}},
	{"a mix with other keys", "requests:\n  - {class: a, get: /}", "requests: {from_profile: p.json, weight: 3}", []string{
		"p.yaml:4:34: requests.weight: unknown key; known here are from_profile, methods",
	}},
	{"not yet, in lists", "{class: a, get: /}", "{class: a, get: /, expect: {oracle: x}}", []string{
		"p.yaml:5:33: requests[0].expect.oracle: `oracle` is not supported yet by this version; delete it",
	}},
	{"profile keys without a profile", "", "data: {k: {range: [1, 2], at: x, values: f}}", []string{
		"p.yaml:6:27: data.k.at: contradicts range: only a profile takes it; delete it",
		"p.yaml:6:34: data.k.values: contradicts range: only a profile takes it; delete it",
	}},
	{"numbers and values", "", "data: {k: {profile: p.json, first: 3, values: f}}", []string{
		"p.yaml:6:29: data.k.first: contradicts values: identifiers are numbers from first on, or the lines of values",
	}},
	{"arrivals", "", "arrivals: poison", []string{
		`p.yaml:6:11: arrivals: "poison" is none of poisson, constant, {trace: FILE}, {bursty: {dispersion: N}}; did you mean poisson?`,
	}},
	{"arrivals without a file", "", "arrivals: trace", []string{
		"p.yaml:6:11: arrivals: trace wants a file; write arrivals: {trace: FILE}",
	}},
	{"bursty below 1", "", "arrivals: {bursty: {dispersion: 0.5}}", []string{
		"p.yaml:6:33: arrivals.bursty.dispersion: 0.5 is out of range; write 1.001 to 1000000",
	}},
	{"trace with a rate and a scale", "", "arrivals: {trace: t, scale: 2}\nwarmup: {length: 1s}", []string{
		"p.yaml:6:11: arrivals: has a scale, but the load has a rate: the rate scales the trace as well; keep one of the two",
		"p.yaml:7:9: warmup.rate: is missing; the load has no first rate to take, so add one",
	}},
	{"trace in steps", "load: {steady: {rate: 10, length: 10s}}", "load: {step: {from: 1, by: 1, to: 2}}\narrivals: {trace: t}", []string{
		"p.yaml:4:11: arrivals: contradicts load.step: a trace has its own rate; use it with load: {steady: {length: …}}",
	}},
	{"no weight", "{class: a, get: /}", "{class: a, weight: 0, get: /}", []string{
		"p.yaml:5:3: requests: has no request with a weight above 0",
	}},
	{"empty requests", "  - {class: a, get: /}", "  []", []string{
		"p.yaml:5:3: requests: is empty; write at least one `- class: …`",
	}},
	{"request without a way", "{class: a, get: /}", "{class: a}", []string{
		"p.yaml:5:5: requests[0]: needs one of get, post, put, patch, delete, head, method",
	}},
	{"request with two ways", "{class: a, get: /}", "{class: a, get: /, post: /}", []string{
		"p.yaml:5:24: requests[0].post: contradicts get; keep one of the two",
	}},
	{"method without a path", "{class: a, get: /}", "{class: a, method: options}", []string{
		"p.yaml:5:5: requests[0].path: is missing; add it",
		`p.yaml:5:24: requests[0].method: "options" is not a method; write one such as GET or OPTIONS, in capitals, not CONNECT`,
	}},
	{"class twice", "  - {class: a, get: /}", "  - {class: a, get: /}\n  - {class: a, get: /b}", []string{
		`p.yaml:6:5: requests[1].class: "a" names a class of line 5 already; give it a name of its own`,
	}},
	{"bad class name", "class: a", "class: a/b", []string{
		`p.yaml:5:13: requests[0].class: "a/b" is not the name of a class; use up to 64 letters, digits, _ . and -`,
	}},
	{"path without a slash", "get: /}", "get: orders}", []string{
		"p.yaml:5:21: requests[0].get: does not begin with /; write the path and query only, such as /orders?limit=20",
	}},
	{"path with a space", "get: /}", "get: /a b}", []string{
		"p.yaml:5:21: requests[0].get: has a space, a # or another character that a path cannot have; write it as %20, %23 and so on",
	}},
	{"unknown placeholder", "get: /}", "get: \"/{itmes}\"}\ndata: {items: {range: [1, 9]}}", []string{
		"p.yaml:5:21: requests[0].get: {itmes} names no data source; did you mean {items}?",
	}},
	{"placeholder without data", "get: /}", "get: \"/{items}\"}", []string{
		"p.yaml:5:21: requests[0].get: {items} names no data source and no value captured by an earlier step; add items under data, or write {{items}} for the text itself",
	}},
	{"lone brace", "get: /}", "get: \"/{\"}", []string{
		`p.yaml:5:21: requests[0].get: "{" is no place for a value; write {name}, or {{ for the brace itself`,
	}},
	{"near placeholder in a body", "get: /}", "post: /, body: '{\"a\": \"{itmes}\"}'}\ndata: {items: {range: [1, 9]}}", []string{
		"p.yaml:5:31: requests[0].body: {itmes} names no data source; did you mean {items}? {{itmes}} is the text itself",
	}},
	{"data source without a kind", "", "data: {a: {}, \"b c\": {range: [9, 1]}, d: {choice: {}}, e: {zipf: {count: 10, exponent: 0}}, f: {order: random, zipf: {count: 1, exponent: 1}}}", []string{
		"p.yaml:6:11: data.a: needs one of choice, zipf, file, range, profile",
		`p.yaml:6:15: data.b c: "b c" is not a name for {…}; use letters, digits, _ and -, a letter first`,
		"p.yaml:6:30: data.b c.range: goes from 9 to 1; write the lower number first, at most 9223372036854775807 numbers",
		`p.yaml:6:51: data.d.choice: has no value with a weight; write {"20": 0.9, "100": 0.1}, or a list of values`,
		"p.yaml:6:88: data.e.zipf.exponent: 0 is out of range; write 0.001 to 20",
		"p.yaml:6:97: data.f.order: contradicts zipf: only the lines of a file have an order; delete it",
	}},
	{"header of the connection", "get: /}", "get: /, headers: {Content-Length: 3, \"a b\": c, X: 1, x: 2}}", []string{
		"p.yaml:5:34: requests[0].headers.Content-Length: is set by the connection itself; delete it",
		`p.yaml:5:53: requests[0].headers.a b: "a b" is not the name of a header`,
		"p.yaml:5:69: requests[0].headers.x: is given twice; header names ignore case",
	}},
	{"status", "get: /}", "get: /, expect: {status: [200, 99, 3x]}}", []string{
		`p.yaml:5:47: requests[0].expect.status[1]: "99" is not a status; write 100 to 599, 2xx or 200..204`,
		`p.yaml:5:51: requests[0].expect.status[2]: "3x" is not a status; write 100 to 599, 2xx or 200..204`,
	}},
	{"shed and expected", "get: /}", "get: /, expect: {status: [200, 429]}, shed: [429]}", []string{
		"p.yaml:5:60: requests[0].shed: 429 is under expect.status as well; an answer is valid or refused, not both",
	}},
	{"JSON path", "get: /}", "get: /, expect: {json: {\"$..a\": 1, \"b\": 2}}}", []string{
		`p.yaml:5:40: requests[0].expect.json.$..a: "..a" is not understood in a path; write names and positions only, such as $.items[0].id`,
		`p.yaml:5:51: requests[0].expect.json.b: "b" is not a path; it begins with $, such as $.items[0].id`,
	}},
	{"size", "get: /}", "get: /, expect: {max_bytes: big}}", []string{
		`p.yaml:5:44: requests[0].expect.max_bytes: "big" is not a size; write whole bytes, such as 4096, 64kB or 1MiB, up to 1024GiB`,
	}},
	{"flow", "{class: a, get: /}", "{class: a, flow: [{get: /, think: 1s, capture: {id: json}}, {get: \"/{id}\", capture: {id: 'regex (a)(b)'}}], get: /}", []string{
		"p.yaml:5:32: requests[0].flow[0].think: the first step starts at the flow's scheduled instant; think belongs to a later step",
		`p.yaml:5:57: requests[0].flow[0].capture.id: "json" is not a capture; write json $.id, header Location or regex id=(\d+)`,
		"p.yaml:5:90: requests[0].flow[1].capture.id: is the name of a data source or an earlier capture already; choose another",
		"p.yaml:5:94: requests[0].flow[1].capture.id: the expression has 2 groups; write one, and (?:…) for the others",
		"p.yaml:5:113: requests[0].get: contradicts flow: the steps of the flow are the requests; move it into a step",
	}},
	{"capture used too early", "{class: a, get: /}", "{class: a, flow: [{get: \"/{cart}\", capture: {cart: json $.id}}]}", []string{
		"p.yaml:5:29: requests[0].flow[0].get: {cart} names no data source and no value captured by an earlier step; add cart under data, or write {{cart}} for the text itself",
	}},
	{"gate with a typo", "", "gates: [margn >= 2, response(p99) <= 150, class(b).wrong == 0, margin >= 1, omission <= 2, omission <= 2]", []string{
		`p.yaml:6:9: gates[0]: unknown metric "margn"; did you mean margin?`,
		`p.yaml:6:21: gates[1]: "150" has no unit; write 150s, 150ms or 150m`,
		`p.yaml:6:43: gates[2]: no class is named "b"; known are a`,
		"p.yaml:6:64: gates[3]: margin needs the production peak; add production: {peak: …}",
		"p.yaml:6:92: gates[5]: is given twice; keep one",
	}},
	{"abort", "", "abort: [error_ratio > 0.5, knee > 3 for 10s, response(p99) > 1s for 10, target dead]", []string{
		`p.yaml:6:9: abort[0]: "error_ratio > 0.5" does not say for how long; write METRIC OP NUMBER for DURATION, or target dead`,
		"p.yaml:6:28: abort[1]: knee is not known while a run goes on; use one of response, service, lag, goodput, goodput_ratio, error_ratio, shed_ratio, wrong, unexpected, omission, amplification",
		"p.yaml:6:46: abort[2]: a duration has a unit; write 10s, 10ms or 10m",
	}},
	{"HTTP/2 in plain text", "", "http: {version: 2}", []string{
		"p.yaml:6:17: http.version: contradicts target.url: HTTP/2 without TLS is h2c; write h2c, or an https URL",
	}},
	{"no keepalive but requests per connection", "", "http: {keepalive: false, max_requests_per_connection: 10}", []string{
		"p.yaml:6:26: http.max_requests_per_connection: contradicts keepalive: without keepalive there is one request per connection; keep one of the two",
	}},
	{"certificate without key", "", "http: {tls: {cert: a.pem}}", []string{
		"p.yaml:6:13: http.tls: has only one of cert and key; give both, or none",
	}},
	{"redirects", "", "http: {redirects: 3}", []string{
		"p.yaml:6:19: http.redirects: following redirects is not supported yet by this version; write 0 and list the status under expect",
	}},
	{"resolve", "", "http: {resolve: {shop: 127.0.0.1}}", []string{
		`p.yaml:6:18: http.resolve.shop: is not "host:port": "host:port"; write both with their ports`,
	}},
	{"retries", "", "retries: {max: 3, on: [timeuot, 1000], jitter: some}", []string{
		`p.yaml:6:24: retries.on[0]: "timeuot" is neither a status nor one of timeout, connect_error, http_error, shed, wrong; did you mean timeout?`,
		`p.yaml:6:33: retries.on[1]: "1000" is neither a status nor one of timeout, connect_error, http_error, shed, wrong`,
		`p.yaml:6:48: retries.jitter: "some" is none of full, none`,
	}},
	{"production", "", "production: {taken: yesterday, peak: 0}", []string{
		`p.yaml:6:21: production.taken: "yesterday" is not a date; write one such as 2026-11-20`,
		"p.yaml:6:38: production.peak: 0 is out of range; a rate is 0.001 to 10000000 requests per second",
	}},
	{"missing variable", "get: /}", "get: /, headers: {Authorization: \"${NOWHERE}\"}}", []string{
		"p.yaml:5:49: requests[0].headers.Authorization: the environment has no NOWHERE; set it, or write $${NOWHERE} for the text itself",
	}},
	{"environment in evidence", "name: t", "name: ${TOKEN}\nrelease: ${TOKEN}", []string{
		"p.yaml:1:7: name: comes from the environment, but is written into evidence, where such values must not be; write it out",
		"p.yaml:2:10: release: comes from the environment, but is written into evidence, where such values must not be; give it with --release instead",
	}},
	{"environment in a number", "rate: 10", "rate: ${TOKEN}", []string{
		"p.yaml:3:23: load.steady.rate: comes from the environment, but is written into evidence, where such values must not be; write it out",
	}},
	{"environment in a key", "get: /}", "get: /, headers: {\"${TOKEN}\": x}}", []string{
		"p.yaml:5:34: requests[0].headers: has a key from the environment; ${NAME} is replaced in values only",
	}},
	{"observe", "", "observe:\n  - {process: nginx}\n  - {prometheus: http://x, proces: 1}\n  limits: {a: b}", []string{
		"p.yaml:7:15: observe[0].process: is neither target nor a process id",
		"p.yaml:8:28: observe[1].proces: unknown key; did you mean process?",
		`p.yaml:9:15: observe[2].limits.a: "b" is not a number; write one such as 1.5`,
	}},
	{"tag", "", "seed: !!int 7", []string{
		"p.yaml:6:7: seed: has the tag !!int; plans have no tags",
	}},
	{"merge key", "", "http: {<<: {timeout: 1s}}", []string{
		"p.yaml:6:8: http.<<: merge keys are not supported; repeat the keys",
	}},
	{"not YAML", "", "http: [1", []string{
		"p.yaml:7:1: is not YAML: did not find expected ',' or ']', while parsing a flow sequence that begins in line 6; check indentation, quotes and brackets",
	}},
	{"tab", "", "http:\n\ttimeout: 1s", []string{
		"p.yaml:7:1: is not YAML: found character that cannot start any token, while scanning for the next token that begins in line 7; check indentation, quotes and brackets",
	}},
	{"second document", "", "---\nname: b", []string{
		"p.yaml:6:1: holds a second document; keep one plan a file",
	}},
	{"control character", "", "release: a\x01b", []string{
		"p.yaml:6:11: the character U+0001 cannot stand in a plan; delete it",
	}},
	{"not UTF-8", "", "release: \xff", []string{
		"p.yaml:6:10: is not UTF-8 here; save the file as UTF-8",
	}},
	{"empty file", "ALL", "", []string{
		"p.yaml: is empty; `headroom init` writes a plan to start from",
	}},
	{"only a list", "ALL", "- a", []string{
		"p.yaml:1:1: is a list, not a mapping; write its keys as `key: value`",
	}},
}

func changed(old, new string) string {
	switch old {
	case "":
		return base + new + "\n"
	case "ALL":
		return new
	}
	return strings.Replace(base, old, new, 1)
}

func environ(name string) (string, bool) {
	v, ok := map[string]string{"TOKEN": "s3cret-{x}-value", "DSN": "postgres://u:s3cret@h/db"}[name]
	return v, ok
}

func TestBadPlans(t *testing.T) {
	for _, tt := range badPlans {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("p.yaml", []byte(changed(tt.old, tt.new)), environ)
			if err == nil {
				t.Fatalf("no problem; want %q", tt.want)
			}
			got := strings.Split(err.Error(), "\n")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("a secret is in the message")
			}
		})
	}
}
