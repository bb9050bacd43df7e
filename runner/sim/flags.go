package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// option is one flag of headroom target, which is also a key of target.builtin.
type option struct {
	name, value, about string
	set                func(*Options, string) error
	get                func(*Options) string // "" where it is the default
}

var options = []option{
	{"workers", "N", "workers (default 1)", func(o *Options, v string) error { return setInt(&o.Workers, v) }, func(o *Options) string { return intText(o.Workers) }},
	{
		"service", "\"MEAN SHAPE\"", "service time: \"20ms constant\", \"20ms exponential\" (default), \"20ms lognormal(0.5)\"; the capacity is workers / mean",
		func(o *Options, v string) (err error) { o.Service, err = ParseService(v); return err },
		func(o *Options) string {
			if o.Service == (Service{}) {
				return ""
			}
			return o.Service.String()
		},
	},
	{"queue", "K", "places to wait; beyond them 503 is answered at once (default unlimited)", setQueue, func(o *Options) string {
		if o.Queue == NoQueue {
			return "0"
		}
		return intText(o.Queue)
	}},
	{"shed-after", "D", "refuse with 503 when the expected wait is longer", func(o *Options, v string) error { return setDuration(&o.ShedAfter, v) }, func(o *Options) string { return durationText(o.ShedAfter) }},
	{"abandon", "BOOL", "drop the queued work of clients that left (default true); false: keep working for them", func(o *Options, v string) error {
		b, err := strconv.ParseBool(v)
		o.KeepWorking = !b
		return err
	}, func(o *Options) string {
		if o.KeepWorking {
			return "false"
		}
		return ""
	}},
	{"freeze", "AT,FOR", "all workers stand still, counted from the first request; more than one: AT,FOR;AT,FOR", setFreeze, func(o *Options) string {
		all := make([]string, len(o.Freezes))
		for i, f := range o.Freezes {
			all[i] = f.String()
		}
		return strings.Join(all, ";")
	}},
	{"leak", "RATE", "lose connections (2/s), memory (512KiB/s) or latency (1ms/m)", func(o *Options, v string) (err error) { o.Leak, err = ParseLeak(v); return err }, func(o *Options) string { return o.Leak.String() }},
	{"slow", "SHARE,FACTOR", "a share of the requests costs a factor more", func(o *Options, v string) error {
		share, factor, ok := strings.Cut(v, ",")
		if !ok {
			return fmt.Errorf("wants SHARE,FACTOR, as in 0.01,30")
		}
		if err := setFloat(&o.Slow.Share, share); err != nil {
			return err
		}
		return setFloat(&o.Slow.Factor, factor)
	}, func(o *Options) string {
		if o.Slow == (Slow{}) {
			return ""
		}
		return floatText(o.Slow.Share) + "," + floatText(o.Slow.Factor)
	}},
	{"wrong", "SHARE", "a share of the answers has wrong content", func(o *Options, v string) error { return setFloat(&o.Wrong, v) }, func(o *Options) string { return floatText(o.Wrong) }},
	{"noise", "SIGMA", "the speed of the workers varies from second to second by this share", func(o *Options, v string) error { return setFloat(&o.Noise.Sigma, v) }, func(o *Options) string { return floatText(o.Noise.Sigma) }},
	{"seed", "N", "seed of the service times", func(o *Options, v string) (err error) { o.Seed, err = strconv.ParseUint(v, 10, 64); return err }, func(o *Options) string {
		if o.Seed == 0 {
			return ""
		}
		return strconv.FormatUint(o.Seed, 10)
	}},
	{"listen", "ADDR", "address to listen on (default 127.0.0.1:0, a free port)", func(o *Options, v string) error { o.Listen = v; return nil }, func(o *Options) string { return o.Listen }},
	{"depends", "URL", "ask URL after the work of each request, the worker waiting; 502 when it fails", func(o *Options, v string) error { o.Depends = v; return nil }, func(o *Options) string { return o.Depends }},
	{"tls", "", "HTTPS, with a certificate made at the start", func(o *Options, v string) (err error) { o.TLS, err = strconv.ParseBool(v); return err }, func(o *Options) string { return boolText(o.TLS) }},
	{"ca-file", "FILE", "write that certificate to FILE", func(o *Options, v string) error { o.CAFile = v; return nil }, func(o *Options) string { return o.CAFile }},
	{"h2c", "", "HTTP/2 in plain text beside HTTP/1.1", func(o *Options, v string) (err error) { o.H2C, err = strconv.ParseBool(v); return err }, func(o *Options) string { return boolText(o.H2C) }},
	{"log", "FILE", "write arrival instants and ids to FILE", func(o *Options, v string) error { o.Log = v; return nil }, func(o *Options) string { return o.Log }},
	{"with-parent", "", "end when standard input is closed", func(o *Options, v string) (err error) { o.WithParent, err = strconv.ParseBool(v); return err }, func(o *Options) string { return boolText(o.WithParent) }},
}

// Set sets one option by the name of its flag; "_" in a name counts as "-".
func (o *Options) Set(name, value string) error {
	name = strings.ReplaceAll(name, "_", "-")
	for _, opt := range options {
		if opt.name == name {
			if err := opt.set(o, strings.TrimSpace(value)); err != nil {
				return fmt.Errorf("%s %q: %w", name, value, err)
			}
			return nil
		}
	}
	names := make([]string, len(options))
	for i, opt := range options {
		names[i] = opt.name
	}
	return fmt.Errorf("%s: no such option of the built-in service; there are %s", name, strings.Join(names, ", "))
}

// ParseOptions reads the arguments of headroom target: --name value,
// --name=value, or --name alone where no value is wanted.
func ParseOptions(args []string) (Options, error) {
	var o Options
	for i := 0; i < len(args); i++ {
		name, found := strings.CutPrefix(args[i], "-")
		name = strings.TrimPrefix(name, "-")
		if !found || name == "" {
			return o, fmt.Errorf("%q: not an option; headroom target takes no other arguments", args[i])
		}
		name, value, given := strings.Cut(name, "=")
		if !given && wantsValue(name) {
			i++
			if i == len(args) {
				return o, fmt.Errorf("--%s: wants a value", name)
			}
			value = args[i]
		} else if !given {
			value = "true"
		}
		if err := o.Set(name, value); err != nil {
			return o, fmt.Errorf("--%w", err)
		}
	}
	return o, o.Check()
}

func wantsValue(name string) bool {
	for _, opt := range options {
		if opt.name == name {
			return opt.value != ""
		}
	}
	return false
}

// Args is the command line, without the command, that ParseOptions reads as o.
func (o Options) Args() []string {
	var args []string
	for _, opt := range options {
		if v := opt.get(&o); v != "" {
			args = append(args, "--"+opt.name+"="+v)
		}
	}
	return args
}

// Usage lists the options, a line each.
func Usage() string {
	var b strings.Builder
	for _, opt := range options {
		fmt.Fprintf(&b, "   --%-26s %s\n", strings.TrimSpace(opt.name+" "+opt.value), opt.about)
	}
	return b.String()
}

func (f Freeze) String() string { return f.At.String() + "," + f.For.String() }

func setQueue(o *Options, v string) error {
	if v == "unlimited" {
		o.Queue = 0
		return nil
	}
	if err := setInt(&o.Queue, v); err != nil || o.Queue < 0 {
		return fmt.Errorf("wants the number of places to wait, or unlimited")
	}
	if o.Queue == 0 {
		o.Queue = NoQueue
	}
	return nil
}

func setFreeze(o *Options, v string) error {
	var all []Freeze
	for part := range strings.SplitSeq(v, ";") {
		at, length, ok := strings.Cut(part, ",")
		if !ok {
			return fmt.Errorf("wants AT,FOR, as in 30s,6s")
		}
		var f Freeze
		if err := setDuration(&f.At, at); err != nil {
			return err
		}
		if err := setDuration(&f.For, length); err != nil {
			return err
		}
		all = append(all, f)
	}
	o.Freezes = all
	return nil
}

func setInt(p *int, v string) error {
	n, err := strconv.Atoi(v)
	if err != nil {
		return fmt.Errorf("wants a whole number")
	}
	*p = n
	return nil
}

func setFloat(p *float64, v string) error {
	x, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil {
		return fmt.Errorf("wants a number")
	}
	*p = x
	return nil
}

func setDuration(p *time.Duration, v string) error {
	d, err := time.ParseDuration(strings.TrimSpace(v))
	if err != nil {
		return fmt.Errorf("wants a duration, as in 30s")
	}
	*p = d
	return nil
}

func intText(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func floatText(x float64) string {
	if x == 0 {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

func durationText(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

func boolText(b bool) string {
	if b {
		return "true"
	}
	return ""
}
