package request

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// curlOptions are those of one curl command that make a request.
type curlOptions struct {
	*Draft
	urls     []string
	method   string
	headers  []pair
	data     []string
	bodyFile string
	socket   string

	get, head, upload, form, json bool
}

// short options and the long ones that they stand for; all of them are known.
var shortOptions = map[byte]string{
	'X': "request", 'H': "header", 'd': "data", 'F': "form", 'u': "user", 'A': "user-agent", 'e': "referer", 'b': "cookie", 'c': "cookie-jar",
	'o': "output", 'm': "max-time", 'w': "write-out", 'x': "proxy", 'E': "cert", 'T': "upload-file", 'r': "range", 'U': "proxy-user",
	'D': "dump-header", 'z': "time-cond", 'y': "speed-time", 'Y': "speed-limit", 'C': "continue-at", 'K': "config", 'Q': "quote", 't': "telnet-option", 'P': "ftp-port", 'h': "help",
	's': "silent", 'S': "show-error", 'L': "location", 'k': "insecure", 'i': "include", 'I': "head", 'v': "verbose", 'f': "fail", 'G': "get",
	'g': "globoff", 'N': "no-buffer", 'n': "netrc", 'O': "remote-name", 'J': "remote-header-name", 'R': "remote-time", '#': "progress-bar",
	'0': "http1.0", '1': "tlsv1", '2': "sslv2", '3': "sslv3", '4': "ipv4", '6': "ipv6", 'q': "disable", 'Z': "parallel", 'a': "append", 'B': "use-ascii", 'j': "junk-session-cookies", 'l': "list-only", 'p': "proxytunnel", 'M': "manual", 'V': "version",
}

var valueOptions = strings.Fields(`request header data data-raw data-binary data-ascii data-urlencode json form form-string user user-agent referer
	cookie cookie-jar output max-time connect-timeout write-out proxy cert cert-type key key-type pass cacert capath resolve connect-to url url-query
	upload-file range oauth2-bearer aws-sigv4 proxy-user dump-header time-cond speed-time speed-limit continue-at config retry retry-delay
	retry-max-time limit-rate max-redirs max-filesize interface local-port unix-socket abstract-unix-socket ciphers tls13-ciphers tls-max curves
	noproxy proto proto-default proto-redir dns-servers doh-url trace trace-ascii stderr output-dir request-target keepalive-time alt-svc hsts
	parallel-max rate engine crlfile pinnedpubkey quote telnet-option ftp-port netrc-file socks5 socks5-hostname socks4 socks4a preproxy
	expect100-timeout happy-eyeballs-timeout-ms create-file-mode etag-compare etag-save variable delegation service-name haproxy-clientip`)

var plainOptions = strings.Fields(`silent show-error location insecure include head verbose fail fail-with-body fail-early get globoff no-buffer netrc netrc-optional
	remote-name remote-name-all remote-header-name remote-time progress-bar http1.0 http1.1 http2 http2-prior-knowledge http3 http3-only tlsv1 tlsv1.0
	tlsv1.1 tlsv1.2 tlsv1.3 sslv2 sslv3 ipv4 ipv6 disable parallel compressed location-trusted anyauth basic digest ntlm negotiate no-keepalive
	no-sessionid no-alpn tcp-nodelay tcp-fastopen retry-connrefused retry-all-errors no-progress-meter styled-output raw path-as-is ssl-reqd ssl-no-revoke
	post301 post302 post303 create-dirs append use-ascii junk-session-cookies list-only proxytunnel trace-time trace-ids parallel-immediate proxy-insecure`)

func (o *curlOptions) read(words []string) error {
	for i := 0; i < len(words); i++ {
		w := words[i]
		next := func() (string, error) {
			if i++; i >= len(words) {
				return "", fmt.Errorf("the last option of curl, %s, has no value; copy the command whole", optionShown(w))
			}
			return words[i], nil
		}
		switch {
		case strings.HasPrefix(w, "--") && len(w) > 2:
			name, value, has := strings.Cut(w[2:], "=")
			switch {
			case slices.Contains(valueOptions, name):
				if !has {
					var err error
					if value, err = next(); err != nil {
						return err
					}
				}
				if err := o.take(name, value); err != nil {
					return err
				}
			case slices.Contains(plainOptions, name):
				o.flag(name)
			default:
				return fmt.Errorf("curl's option %s is not known here; delete it, with its value where it has one", optionShown(w))
			}
		case strings.HasPrefix(w, "-") && len(w) > 1:
			for at := 1; at < len(w); at++ {
				name, known := shortOptions[w[at]]
				if !known {
					return fmt.Errorf("curl's option %s is not known here; delete it, with its value where it has one", optionShown(w[:1]+w[at:at+1]))
				}
				if !slices.Contains(valueOptions, name) {
					o.flag(name)
					continue
				}
				value := w[at+1:]
				if value == "" {
					var err error
					if value, err = next(); err != nil {
						return err
					}
				}
				if err := o.take(name, value); err != nil {
					return err
				}
				break
			}
		default:
			o.urls = append(o.urls, w)
		}
	}
	return nil
}

// optionShown is the name of an option without a value.
func optionShown(w string) string { return before(comment(w[:min(len(w), 40)]), "=") }

func (o *curlOptions) flag(name string) {
	switch name {
	case "get":
		o.get = true
	case "head":
		o.head = true
	case "insecure":
		o.insecure = true
	case "http2", "http3", "http3-only":
		o.version = "auto"
	case "http2-prior-knowledge":
		o.version = "h2c"
	case "compressed":
		o.headers = append(o.headers, pair{name: "Accept-Encoding", value: "gzip, deflate, br"})
	case "location", "location-trusted":
		o.note("-L: redirects are not followed; give the address that answers, or expect the 3xx")
	case "anyauth", "digest", "ntlm", "negotiate":
		o.note("--%s: only Basic and Bearer can be put into a header once and for all", name)
	}
}

func (o *curlOptions) take(name, value string) error {
	switch name {
	case "request":
		o.method = value
	case "url":
		o.urls = append(o.urls, value)
	case "header":
		key, v, ok := strings.Cut(value, ":")
		if strings.HasPrefix(value, "@") {
			o.note("-H @FILE: the headers in a file are left out")
		} else if ok && strings.TrimSpace(v) != "" {
			o.headers = append(o.headers, pair{name: strings.TrimSpace(key), value: strings.TrimSpace(v)})
		}
	case "data", "data-ascii", "data-binary", "json":
		if name == "json" {
			o.json = true
			o.headers = append(o.headers, pair{name: "Accept", value: "application/json"})
		}
		if file, ok := strings.CutPrefix(value, "@"); ok {
			o.file(file)
			return nil
		}
		if name == "json" && len(o.data) > 0 {
			o.data[len(o.data)-1] += value // curl joins these without a separator
			return nil
		}
		o.data = append(o.data, value)
	case "data-raw":
		o.data = append(o.data, value)
	case "data-urlencode":
		key, v, ok := strings.Cut(value, "=")
		switch {
		case !ok && strings.Contains(value, "@"):
			o.note("--data-urlencode NAME@FILE: what is in a file is left out")
		case !ok:
			o.data = append(o.data, url.QueryEscape(value))
		case key == "":
			o.data = append(o.data, url.QueryEscape(v))
		case places.MatchString(v):
			o.data = append(o.data, key+"="+v)
		default:
			o.data = append(o.data, key+"="+url.QueryEscape(v))
		}
	case "url-query":
		o.note("--url-query is left out; write it into the URL")
	case "form", "form-string":
		o.form = true
		o.note("-F: a multipart body is left out; write it to a file and name it as body_file")
	case "user":
		o.headers = append(o.headers, pair{name: "Authorization", value: "Basic user:password"})
	case "oauth2-bearer":
		o.headers = append(o.headers, pair{name: "Authorization", value: "Bearer " + value})
	case "cookie":
		o.headers = append(o.headers, pair{name: "Cookie", value: "all"})
	case "upload-file":
		o.upload = true
		o.file(value)
	case "max-time":
		o.setTimeout(value)
	case "unix-socket":
		if strings.HasPrefix(value, "/") && !strings.ContainsAny(value, " ?#%${}") && len(value) < 108 && !places.MatchString(value) {
			o.socket = value
		} else {
			o.note("--unix-socket: its path is not one that a plan can name")
		}
	case "config":
		o.note("-K FILE: the options in a file are left out")
	case "proxy", "resolve", "connect-to", "cert", "key", "cacert", "aws-sigv4", "range", "request-target":
		o.note("--%s is left out; http in the plan has what there is of it", name)
	}
	return nil
}

// file is a body that is in a file, which the plan names.
func (o *curlOptions) file(name string) {
	if name == "-" || name == "" || places.MatchString(name) || environment.MatchString(name) || secretValue(name) {
		o.note("a body from stdin or a file that can't be named is left out; write it to a file and name it as body_file")
		return
	}
	o.bodyFile = name
}
