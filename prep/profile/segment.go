package profile

import "bytes"

// kind is what a segment of a path looks like.
type kind uint8

const (
	word kind = iota // stays as it is
	number
	uuid
	hash
	text
	many  // a word among too many others
	rare  // a word with too few requests
	deep  // the rest of a path that is too long
	odd   // not an HTTP request
	kinds // how many there are
)

var kindNames = [kinds]string{"", "{id}", "{uuid}", "{hash}", "{text}", "{name}", "{other}", "{rest}", "(odd request)"}

// known are endings of files that are kept on a folded name, as in {id}.jpg.
var known = map[string]bool{}

func init() {
	for _, e := range []string{
		"html", "htm", "php", "asp", "aspx", "jsp", "jspx", "do", "action", "cgi", "pl", "py", "rb", "json", "xml", "yaml", "yml", "csv", "tsv", "txt", "md", "rss", "atom",
		"js", "mjs", "css", "map", "wasm", "ico", "gif", "jpg", "jpeg", "png", "webp", "avif", "svg", "bmp", "tif", "tiff", "woff", "woff2", "ttf", "otf", "eot",
		"pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "zip", "gz", "tgz", "tar", "bz2", "xz", "zst", "7z", "rar", "exe", "dll", "msi", "deb", "rpm", "iso", "bin", "jar", "apk",
		"mp3", "mp4", "m4a", "m4v", "webm", "ogg", "wav", "avi", "mov", "mpg", "mpeg", "ts", "m3u8", "mpd", "inc", "sql", "log", "bak", "conf", "ini", "flashxml", "swf", "class", "vtt",
	} {
		known[e] = true
	}
}

// classify says what a segment looks like, and which known ending it has.
func classify(seg []byte) (k kind, ending []byte) {
	if len(seg) > 1 && seg[0] == '~' { // somebody's home
		return text, nil
	}
	var digits, letters, hexes, upper, lower, marks int
	for _, c := range seg {
		switch {
		case c >= '0' && c <= '9':
			digits++
			hexes++
		case c >= 'a' && c <= 'z':
			letters++
			lower++
			if c <= 'f' {
				hexes++
			}
		case c >= 'A' && c <= 'Z':
			letters++
			upper++
			if c <= 'F' {
				hexes++
			}
		case c == '-' || c == '_' || c == '.' || c == '~':
			marks++
		default: // a blank, %, @, a comma, bytes of UTF-8: something that somebody typed
			return text, endingOf(seg)
		}
	}
	if digits == 0 && len(seg) <= 24 && bytes.IndexByte(seg, '.') < 0 {
		return word, nil
	}
	ending = endingOf(seg)
	if dot := bytes.LastIndexByte(seg, '.'); dot >= 0 && ending == nil && alphabetic(seg[dot+1:]) && dot > 0 {
		return text, nil // a host, or an ending that nobody knows
	}
	base := seg
	if ending != nil {
		base = seg[:len(seg)-len(ending)-1]
		for _, c := range ending {
			if c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' || isDigit(c) {
				hexes--
			}
			if isDigit(c) {
				digits--
			} else {
				letters--
			}
		}
		marks--
	}
	n := len(base)
	switch {
	case n > 0 && digits == n:
		return number, ending
	case n == 36 && base[8] == '-' && base[13] == '-' && hexes == 32:
		return uuid, ending
	case n >= 8 && hexes == n && digits > 0, n >= 16 && hexes == n, n >= 16 && digits >= 2 && upper > 0 && lower > 0, n >= 20 && digits >= 4 && marks == 0:
		return hash, ending
	case n >= 4 && digits*5 >= (n-marks)*3 && digits > 1: // M17286, 2024-01-02, 10.0.0.1
		return number, ending
	case leadingNumber(base): // 18182835-my-first-project
		return number, ending
	case n > 40:
		return text, ending
	}
	return word, ending
}

func alphabetic(b []byte) bool {
	for _, c := range b {
		if c|0x20 < 'a' || c|0x20 > 'z' {
			return false
		}
	}
	return len(b) > 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func leadingNumber(b []byte) bool {
	n := 0
	for n < len(b) && isDigit(b[n]) {
		n++
	}
	return n >= 3 && n < len(b) && (b[n] == '-' || b[n] == '_')
}

// endingOf returns a known ending of a file's name, without its dot.
func endingOf(seg []byte) []byte {
	dot := bytes.LastIndexByte(seg, '.')
	if dot < 1 || len(seg)-dot > 9 {
		return nil
	}
	var small [8]byte
	e := seg[dot+1:]
	for i, c := range e {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		small[i] = c
	}
	if known[string(small[:len(e)])] {
		return e
	}
	return nil
}

// parameterName reports whether the name of a query parameter may be kept: a
// word, not something that somebody typed or that names one thing.
func parameterName(b []byte) bool {
	if len(b) == 0 || len(b) > 32 || isDigit(b[0]) {
		return false
	}
	digits := 0
	for _, c := range b {
		switch {
		case isDigit(c):
			digits++
		case c|0x20 >= 'a' && c|0x20 <= 'z', c == '_', c == '-', c == '.':
		default:
			return false
		}
	}
	return digits <= 2
}
