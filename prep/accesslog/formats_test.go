package accesslog

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// want is an entry in words; the zero value of a field means what reset sets.
type want struct {
	at      string // RFC 3339
	ends    bool
	client  string
	request string // METHOD path?query
	status  int
	bytes   int64
	service time.Duration
}

func words3(e *Entry) want {
	w := want{
		at: time.Unix(0, e.At).UTC().Format(time.RFC3339Nano), ends: e.Ends, client: string(e.Client),
		status: e.Status, bytes: e.Bytes, service: time.Duration(e.Service),
	}
	if !e.Odd {
		w.request = string(e.Method) + " " + string(e.Path)
		if e.Query != nil {
			w.request += "?" + string(e.Query)
		}
	}
	return w
}

var formatCases = []struct {
	name   string
	lines  []string // the last one is judged
	want   want
	format string // as counted
}{
	{
		"common",
		[]string{`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a.gif HTTP/1.0" 200 2326`},
		want{"2000-10-10T20:55:36Z", false, "192.0.2.1", "GET /a.gif", 200, 2326, -1},
		"combined",
	},
	{
		"combined, user with blanks, escaped quotes",
		[]string{`2001:db8::1%eth0 - Jo Doe [29/Feb/2024:23:59:60 +0545] "GET /a?q=\"x\" HTTP/1.1" 304 - "-" "he said \"hi\""`},
		want{"2024-02-29T18:15:00Z", false, "2001:db8::1%eth0", `GET /a?q=\"x\"`, 304, -1, -1},
		"combined",
	},
	{
		"virtual host",
		[]string{`shop.example:443 192.0.2.7 - - [01/Jan/2024:00:00:00 +0000] "POST /x HTTP/2.0" 201 5 "-" "-"`},
		want{"2024-01-01T00:00:00Z", false, "192.0.2.7", "POST /x", 201, 5, -1},
		"combined",
	},
	{
		"addresses of a chain of proxies",
		[]string{`192.0.2.7, 192.0.2.8 - - [01/Jan/2024:00:00:00 +0000] "GET / HTTP/1.1" 200 5`},
		want{"2024-01-01T00:00:00Z", false, "192.0.2.7", "GET /", 200, 5, -1},
		"combined",
	},
	{
		"request time of nginx",
		[]string{`192.0.2.1 - - [01/Jan/2024:00:00:09 +0000] "GET / HTTP/1.1" 200 5 "-" "ua" "203.0.113.9" 1.250 1.249`},
		want{"2024-01-01T00:00:09Z", true, "192.0.2.1", "GET /", 200, 5, 1250 * time.Millisecond},
		"combined",
	},
	{
		"labelled request time",
		[]string{`192.0.2.1 - - [01/Jan/2024:00:00:09 +0000] "GET / HTTP/1.1" 200 5 "-" "ua" rt=0.007 uct="0.000"`},
		want{"2024-01-01T00:00:09Z", true, "192.0.2.1", "GET /", 200, 5, 7 * time.Millisecond},
		"combined",
	},
	{
		"traefik",
		[]string{`192.0.2.1 - - [01/Jan/2024:00:00:09 +0000] "GET / HTTP/1.1" 200 5 "-" "-" 500 "r@docker -> s@docker" "http://192.0.2.3:80" 42ms`},
		want{"2024-01-01T00:00:09Z", false, "192.0.2.1", "GET /", 200, 5, 42 * time.Millisecond},
		"combined",
	},
	{
		"binary request",
		[]string{`192.0.2.1 - - [01/Jan/2024:00:00:09 +0000] "\x16\x03\x01\x00\x22" 400 157 "-" "-"`},
		want{"2024-01-01T00:00:09Z", false, "192.0.2.1", "", 400, 157, -1},
		"combined",
	},
	{
		"caddy",
		[]string{`{"level":"info","ts":1693840791.7564995,"logger":"http.log.access","request":{"remote_ip":"192.0.2.9","client_ip":"192.0.2.1","method":"GET","uri":"/a?b=1","headers":{"A":["}\""]}},"duration":2.701e-06,"size":18,"status":200}`},
		want{"2023-09-04T15:19:51.7564995Z", true, "192.0.2.1", "GET /a?b=1", 200, 18, 2701},
		"json",
	},
	{
		"traefik JSON",
		[]string{`{"ClientAddr":"192.0.2.1:39490","ClientHost":"192.0.2.1","DownstreamContentSize":356,"DownstreamStatus":404,"Duration":215563,"RequestMethod":"GET","RequestPath":"/a","StartUTC":"2021-12-08T14:02:43.464763557Z","time":"2021-12-08T14:02:43Z"}`},
		want{"2021-12-08T14:02:43.464763557Z", false, "192.0.2.1", "GET /a", 404, 356, 215563},
		"json",
	},
	{
		"nginx JSON",
		[]string{`{"time_iso8601":"2024-01-01T00:00:09+01:00","remote_addr":"192.0.2.1","request":"GET \/caf\u00e9 HTTP\/1.1","status":"200","body_bytes_sent":"12","request_time":"0.120"}`},
		want{"2023-12-31T23:00:09Z", true, "192.0.2.1", "GET /café", 200, 12, 120 * time.Millisecond},
		"json",
	},
	{
		"envoy JSON behind a container's prefix",
		[]string{`2025-12-31T17:37:40.493035218+01:00 stdout F {":authority":"a","bytes_sent":121258,"downstream_remote_address":"[2001:db8::5]:59292","duration":11,"method":"GET","response_code":200,"start_time":"2025-12-31T16:37:40.479Z","x-envoy-origin-path":"/i.webp","x-forwarded-for":null}`},
		want{"2025-12-31T16:37:40.479Z", false, "2001:db8::5", "GET /i.webp", 200, 121258, 11 * time.Millisecond},
		"json",
	},
	{
		"cloudflare",
		[]string{`{"ClientIP":"192.0.2.1","ClientRequestMethod":"HEAD","ClientRequestURI":"/","EdgeStartTimestamp":1667088002000000000,"EdgeEndTimestamp":1667088002015000000,"EdgeResponseBytes":570,"EdgeResponseStatus":301}`},
		want{"2022-10-30T00:00:02Z", false, "192.0.2.1", "HEAD /", 301, 570, 15 * time.Millisecond},
		"json",
	},
	{
		"fastly",
		[]string{`{"timestamp":"2024-01-01T00:00:09+0000","client_ip":"192.0.2.1","url":"/a","request_method":"GET","response_status":200,"response_body_size":9,"time_elapsed":1500}`},
		want{"2024-01-01T00:00:09Z", true, "192.0.2.1", "GET /a", 200, 9, 1500 * time.Microsecond},
		"json",
	},
	{
		"a line that Docker wrapped",
		[]string{`{"log":"192.0.2.1 - - [01/Jan/2024:00:00:09 +0000] \"GET / HTTP/1.1\" 200 5\n","stream":"stdout","time":"2024-01-01T00:00:09.1Z"}`},
		want{"2024-01-01T00:00:09Z", false, "192.0.2.1", "GET /", 200, 5, -1},
		"combined",
	},
	{
		"envoy text",
		[]string{`[2016-04-15T20:17:00.310Z] "POST /v1/a HTTP/2" 204 - 154 0 226 100 "192.0.2.1, 192.0.2.2" "ua" "id" "host" "tcp://192.0.2.3:80"`},
		want{"2016-04-15T20:17:00.31Z", false, "192.0.2.1", "POST /v1/a", 204, 0, 226 * time.Millisecond},
		"envoy",
	},
	{
		"istio text",
		[]string{`[2016-04-15T20:17:00.310Z] "GET /v1/a HTTP/1.1" 503 UF upstream_reset "-" "-" 0 91 3 - "-" "ua" "id" "host" "-"`},
		want{"2016-04-15T20:17:00.31Z", false, "", "GET /v1/a", 503, 91, 3 * time.Millisecond},
		"envoy",
	},
	{
		"application load balancer",
		[]string{`h2 2024-01-01T00:00:09.186641Z app/x/1 192.0.2.1:44740 10.0.0.1:80 0.086 0.048 0.037 200 200 0 57 "GET https://a.example:443/r.txt?x=1 HTTP/2.0" "curl" - - arn "Root=1" "-" "-" 0 2024-01-01T00:00:09.000000Z "forward" "-" "-"`},
		want{"2024-01-01T00:00:09.186641Z", true, "192.0.2.1", "GET /r.txt?x=1", 200, 57, 171 * time.Millisecond},
		"aws_elb",
	},
	{
		"no target answered",
		[]string{`https 2024-01-01T00:00:09.186641Z app/x/1 192.0.2.1:44740 - -1 -1 -1 460 - 0 0 "GET https://a.example:443/ HTTP/1.1" "curl"`},
		want{"2024-01-01T00:00:09.186641Z", false, "192.0.2.1", "GET /", 460, 0, -1},
		"aws_elb",
	},
	{
		"classic load balancer",
		[]string{`2015-05-13T23:39:43.945958Z my-elb 192.0.2.1:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 "GET http://www.example.com:80/ HTTP/1.1" "curl" - -`},
		want{"2015-05-13T23:39:43.945958Z", true, "192.0.2.1", "GET /", 200, 29, 1178 * time.Microsecond},
		"aws_elb",
	},
	{
		"s3",
		[]string{`0a66 bkt.example [05/Oct/2012:15:24:46 +0000] 192.0.2.1 - CE74 REST.GET.OBJECT a/22/t.jpg "GET /bkt.example/a/22/t.jpg HTTP/1.1" 200 - 9515 9515 42 41 "-" "ua" -`},
		want{"2012-10-05T15:24:46Z", false, "192.0.2.1", "GET /a/22/t.jpg", 200, 9515, 42 * time.Millisecond},
		"s3",
	},
	{
		"cloudfront without header",
		[]string{"2024-03-12\t15:22:28\tCDG50\t703\t192.0.2.1\tGET\td.example\t/t\t400\t-\tcurl\tq=42\t-\tError\tid==\th.example\thttps\t62\t0.113\t-"},
		want{"2024-03-12T15:22:28Z", true, "192.0.2.1", "GET /t?q=42", 400, 703, 113 * time.Millisecond},
		"w3c",
	},
	{
		"iis",
		[]string{
			"#Software: Microsoft Internet Information Services 10.0", "#Fields: date time cs-method cs-uri-stem cs-uri-query c-ip sc-status sc-bytes time-taken",
			"2024-01-01 00:00:09 GET /a - 192.0.2.1 200 12 250",
		},
		want{"2024-01-01T00:00:09Z", true, "192.0.2.1", "GET /a", 200, 12, 250 * time.Millisecond},
		"w3c",
	},
	{
		"w3c with the date in a directive and fields declared twice",
		[]string{
			"#Date: 2000-10-09 16:44:49", "#Fields: time c-ip cs-method cs-uri-stem sc-status", "16:44:49 192.0.2.1 GET /a 200",
			"#Date: 2000-10-10 00:00:00", "#Fields: sc-status time cs-method cs-uri time-taken", "304 00:00:01 GET /a?b=1 1.5",
		},
		want{"2000-10-10T00:00:01Z", true, "", "GET /a?b=1", 304, -1, 1500 * time.Millisecond},
		"w3c",
	},
	{
		"haproxy behind syslog",
		[]string{`Feb 25 16:19:49 192.0.2.2 haproxy[7]: 192.0.2.1:53332 [25/Feb/2019:16:19:48.143] in~ bk/srv 0/0/7/1457/1487 200 11394 - - ---- 2/1/0/0/0 0/0 {Mozilla "x"} {} "GET /a?b HTTP/1.1"`},
		want{"2019-02-25T16:19:48.143Z", false, "192.0.2.1", "GET /a?b", 200, 11394, 1487 * time.Millisecond},
		"haproxy",
	},
	{
		"haproxy, aborted",
		[]string{`192.0.2.1:53332 [25/Feb/2019:16:19:48.143] in bk/<NOSRV> -1/-1/-1/-1/+5 -1 0 - - CR-- 2/1/0/0/0 0/0 "<BADREQ>"`},
		want{"2019-02-25T16:19:48.143Z", false, "192.0.2.1", "", 0, 0, 5 * time.Millisecond},
		"haproxy",
	},
	{
		"nginx proxy manager",
		[]string{`[01/Oct/2025:14:32:15 +0000] HIT 200 304 - GET https example.com "/a?b" [Client 192.0.2.1] [Length 1543] [Gzip 2.45] [Sent-to 192.0.2.3] "ua" "-"`},
		want{"2025-10-01T14:32:15Z", false, "192.0.2.1", "GET /a?b", 304, 1543, -1},
		"nginx_proxy_manager",
	},
	{
		"table",
		[]string{"host\tlogname\ttime\tmethod\turl\tresponse\tbytes", "h1.example\t-\t804571201\tGET\t/a/\t200\t6245\t\t"},
		want{"1995-07-01T04:00:01Z", false, "h1.example", "GET /a/", 200, 6245, -1},
		"tsv",
	},
	{
		"syslog of RFC 5424",
		[]string{`<190>1 2024-01-01T00:00:09Z web nginx - - - 192.0.2.1 - - [01/Jan/2024:00:00:09 +0000] "GET / HTTP/1.1" 200 5`},
		want{"2024-01-01T00:00:09Z", false, "192.0.2.1", "GET /", 200, 5, -1},
		"combined",
	},
}

func TestFormats(t *testing.T) {
	for _, c := range formatCases {
		t.Run(c.name, func(t *testing.T) {
			p := NewParser(nil)
			var e Entry
			var reason Reason
			for _, l := range c.lines {
				reason = p.Parse([]byte(l+"\r"), &e)
			}
			if reason != "" {
				t.Fatalf("refused: %s", reason)
			}
			if d := cmp.Diff(c.want, words3(&e), cmp.AllowUnexported(want{})); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			if n := p.Formats()[c.format]; n == 0 {
				t.Errorf("read as %v, want %s", p.Formats(), c.format)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		line string
		want Reason
	}{
		{"", Blank},
		{"  \t", Blank},
		{`192.0.2.1 [20/Jul/2009:22:59:29 +0000] "GET / HTTP/1.0" 404 46210 "-" "x"`, Malformed}, // ident and user missing
		{`192.0.2.1 - - [31/Feb/2009:22:59:29 +0000] "GET / HTTP/1.0" 404 46210`, BadTime},
		{`192.0.2.1 - - [20/Jul/2009:24:59:29 +0000] "GET / HTTP/1.0" 404 46210`, BadTime},
		{`192.0.2.1 - - [20/Jul/2009:22:59:29 +0000] "GET / HTTP/1.0" 2000 46210`, BadStatus},
		{`192.0.2.1 - - [20/Jul/2009:22:59:29 +0000] "GET / HTTP/1.0" 200 many`, Malformed},
		{`192.0.2.1 - - [20/Jul/2009:22:59:29 +0000] "GET / HTTP/1.0`, Malformed}, // cut
		{`{"status":200,"method":"GET","uri":"/","ts":1}garbage`, BadJSON},
		{`{"status":200,"method":"GET","uri":"/`, BadJSON},
		{`{"level":"debug","ts":1742400753.0,"msg":"selected upstream"}`, NotRequest},
		{`[Thu Oct 13 12:24:49.880562 2022] [auth_basic:error] [pid 10] AH01618: no`, NotRequest},
		{`2022/01/24 16:33:06 [error] 334#334: *338 user "toto": password mismatch`, NotRequest},
		{`192.0.2.4:50033 [28/Feb/2025:02:43:10.123] frontend/backend: SSL handshake failure`, NotRequest},
		{"\x00\x01\x02\xff", NotText},
		{"hello", Unrecognised},
	} {
		p := NewParser(nil)
		var e Entry
		if got := p.Parse([]byte(c.line), &e); got != c.want {
			t.Errorf("%q: %q, want %q", c.line, got, c.want)
		}
	}
}

// TestMixedFormats: what one format leaves behind does not keep the next from
// being read.
func TestMixedFormats(t *testing.T) {
	p := NewParser(nil)
	var e Entry
	for round := range 3 {
		for _, c := range formatCases {
			var reason Reason
			for _, l := range c.lines {
				reason = p.Parse([]byte(l), &e)
			}
			if reason != "" {
				t.Errorf("round %d, %s: refused: %s", round, c.name, reason)
				continue
			}
			if d := cmp.Diff(c.want, words3(&e), cmp.AllowUnexported(want{})); d != "" {
				t.Errorf("round %d, %s: -want +got:\n%s", round, c.name, d)
			}
		}
	}
}

func TestTailOfWholeNumbers(t *testing.T) {
	for _, c := range []struct {
		value string
		want  time.Duration
	}{
		{"12345", 12345 * time.Microsecond}, // %D
		{"2", -1},                           // %T, or a counter: not told apart, so unknown
	} {
		p := NewParser(nil)
		var e Entry
		for range tailSample + 1 {
			if r := p.Parse([]byte(`192.0.2.1 - - [20/Jul/2009:22:59:29 +0000] "GET / HTTP/1.0" 200 4 "-" "x" `+c.value), &e); r != "" {
				t.Fatal(r)
			}
		}
		if got := time.Duration(e.Service); got != c.want {
			t.Errorf("%s: %v, want %v", c.value, got, c.want)
		}
	}
}

func TestArrival(t *testing.T) {
	for _, c := range []struct {
		e    Entry
		want int64
	}{
		{Entry{At: 10e9, Service: 3e9}, 10e9},                            // a stamp of the arrival
		{Entry{At: 10e9, Service: 3e9, Ends: true, Fraction: true}, 7e9}, // of the end
		{Entry{At: 10e9, Service: 3e9, Ends: true}, 7.5e9},               // somewhere in its second
		{Entry{At: 10e9, Service: -1, Ends: true}, 10e9},
	} {
		if got := c.e.Arrival(); got != c.want {
			t.Errorf("%+v: %d, want %d", c.e, got, c.want)
		}
	}
}

func TestCompile(t *testing.T) {
	for _, c := range []struct {
		format, line string
		want         want
	}{
		{
			`log_format main '$remote_addr - $remote_user [$time_local] "$request" '
			'$status $body_bytes_sent "$http_referer" $request_time';`,
			`192.0.2.1 - jo doe [01/Jan/2024:00:00:09 +0000] "GET /a\x22b HTTP/1.1" 200 5 "-" 0.250`,
			want{"2024-01-01T00:00:09Z", true, "192.0.2.1", `GET /a\x22b`, 200, 5, 250 * time.Millisecond},
		},
		{
			`$msec|${remote_addr}|$request_method|$request_uri|$status|$bytes_sent|$request_time`,
			`1704067209.125|192.0.2.1|GET|/a?b=1|200|5|0.250`,
			want{"2024-01-01T00:00:09.125Z", true, "192.0.2.1", "GET /a?b=1", 200, 5, 250 * time.Millisecond},
		},
		{
			`LogFormat "%v:%p %h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\" %D" vhost_timed`,
			`a.example:80 192.0.2.1 - - [01/Jan/2024:00:00:09 +0000] "GET /a HTTP/1.1" 200 5 "-" "he \"x\"" 2500`,
			want{"2024-01-01T00:00:09Z", false, "192.0.2.1", "GET /a", 200, 5, 2500 * time.Microsecond},
		},
		{
			`%h %{end:msec}t %m %U%q %>s %B %{ms}T`,
			``,
			want{},
		},
		{
			`%h %{end:msec}t %m %U %q %>s %B %{ms}T`,
			`192.0.2.1 1704067209125 GET /a ?b=1 200 5 25`,
			want{"2024-01-01T00:00:09.125Z", true, "192.0.2.1", "GET /a?b=1", 200, 5, 25 * time.Millisecond},
		},
		{`$remote_addr $status`, ``, want{}},
		{`%h %t %>s`, ``, want{}},
		{``, ``, want{}},
	} {
		f, err := Compile(c.format)
		if c.line == "" {
			if err == nil {
				t.Errorf("%s: no error", c.format)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.format, err)
			continue
		}
		var e Entry
		if r := NewParser(f).Parse([]byte(c.line), &e); r != "" {
			t.Errorf("%s: %q refused: %s", c.format, c.line, r)
			continue
		}
		if d := cmp.Diff(c.want, words3(&e), cmp.AllowUnexported(want{})); d != "" {
			t.Errorf("%s: -want +got:\n%s", c.format, d)
		}
	}
}

func TestParseAllocatesNothing(t *testing.T) {
	for _, c := range formatCases {
		if c.name == "a line that Docker wrapped" {
			continue
		}
		p := NewParser(nil)
		var e Entry
		for _, l := range c.lines {
			p.Parse([]byte(l), &e)
		}
		line := []byte(c.lines[len(c.lines)-1])
		if n := testing.AllocsPerRun(100, func() { p.Parse(line, &e) }); n > 0 {
			t.Errorf("%s: %v allocations a line", c.name, n)
		}
	}
}
