package request

import (
	"math"
	"regexp"
	"slices"
	"strings"
)

// Variable is one that the plan takes from the environment in place of what was
// left out.
type Variable struct {
	Name  string
	Where []string // places, such as "header Authorization"
}

// secrets are the variables of a draft, by name.
type secrets []Variable

// leave returns the place of a variable named like hint.
func (s *secrets) leave(hint, where string) string {
	name := strings.ToUpper(identifier(hint, "SECRET"))
	if slices.Contains(taken, name) {
		name = "PLAN_" + name // the shell's own value must not be sent
	}
	i := slices.IndexFunc(*s, func(v Variable) bool { return v.Name == name })
	if i < 0 {
		*s = append(*s, Variable{Name: name})
		i = len(*s) - 1
	}
	if v := &(*s)[i]; !slices.Contains(v.Where, where) {
		v.Where = append(v.Where, where)
	}
	return variable(name)
}

// taken are variables that most environments set.
var taken = []string{"PATH", "HOME", "USER", "USERNAME", "LOGNAME", "SHELL", "PWD", "OLDPWD", "LANG", "TERM", "HOSTNAME", "HOST", "MAIL", "EDITOR", "DISPLAY", "TMPDIR", "TEMP", "TMP", "OS", "_"}

var (
	// within a name in lower case, letters and digits only
	secretParts = []string{
		"password", "passwd", "passphrase", "passwort", "senha", "secret", "token", "apikey", "accesskey", "privatekey", "subscriptionkey",
		"session", "credential", "cookie", "authoriz", "authentic", "csrf", "xsrf", "signature", "jwt", "bearer", "creditcard", "cardnumber", "otp",
	}
	secretWords = []string{"pass", "pwd", "pin", "sid", "sig", "auth", "cvv", "cvc", "ssn", "iban", "pan", "hmac", "saml", "key", "email", "mail", "phone", "cpf"}
	camel       = regexp.MustCompile(`([a-z0-9])([A-Z])`)
)

// secretName reports whether what bears the name is a secret, whatever it is.
func secretName(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(camel.ReplaceAllString(name, "${1}_$2")), func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9')
	})
	if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(secretWords, w) }) {
		return true
	}
	joined := strings.Join(words, "")
	return slices.ContainsFunc(secretParts, func(p string) bool { return strings.Contains(joined, p) })
}

var (
	secretLooks = regexp.MustCompile(`(?i)eyJ[A-Za-z0-9_-]{8,}|\b(bearer|basic|digest|negotiate)\s+\S{6,}|-----BEGIN|\b(sk|pk|rk)_(live|test)_\w+|` +
		`\bgh[pousr]_\w{16,}|\bgithub_pat_\w+|\bxox[abprs]-\S+|\b(AKIA|ASIA)[0-9A-Z]{12,}|\bAIza[0-9A-Za-z_-]{20,}|\bglpat-\S+|` +
		`[A-Za-z0-9._%+-]+(@|%40)[A-Za-z0-9-]+\.[A-Za-z]{2,}|://[^/\s:@]+:[^/\s@]+@`)
	longToken = regexp.MustCompile(`[A-Za-z0-9+/_=.~-]{20,}`)
	uuid      = regexp.MustCompile(`(?i)^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	number    = regexp.MustCompile(`^[0-9]{1,18}$`)
	objectID  = regexp.MustCompile(`(?i)^[0-9a-f]{24}$`)
	// a name and a value in a text of unknown form
	namedSecret = regexp.MustCompile(`(?i)(passw|passphrase|secret|token|api_?key|session|credential|cookie|authori[sz]ation|signature)\w*["'\\\s]*[:=>]`)
)

// secretValue reports whether a value looks like a secret, by known forms or by
// being a long text as random as one.
func secretValue(v string) bool {
	return secretLooks.MatchString(v) || namedSecret.MatchString(v) || slices.ContainsFunc(longToken.FindAllString(v, -1), random)
}

// random reports whether a text has letters and digits, and at least 3 bits a
// character, which words, dates and version numbers do not reach together; or
// whether it changes between small and capital letters more often than words do.
func random(s string) bool {
	letters, digits, changes := 0, 0, 0
	var counts [256]float64
	for i, c := range []byte(s) {
		counts[c]++
		if i > 0 && isLetter(c) && isLetter(s[i-1]) && (c^s[i-1])&0x20 != 0 {
			changes++
		}
		switch {
		case c >= '0' && c <= '9':
			digits++
		case isLetter(c):
			letters++
		}
	}
	var bits float64
	for _, n := range counts {
		if n > 0 {
			p := n / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return letters > 1 && digits > 1 && bits >= 3 || 3*changes > len(s)
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// identifies reports whether a segment of a path is an identifier.
func identifies(segment string) bool {
	return number.MatchString(segment) || uuid.MatchString(segment) || objectID.MatchString(segment)
}

// delicate are words before an identifier that opens something.
var delicate = []string{"reset", "verify", "invite", "invitation", "confirm", "activate", "magic", "share", "unsubscribe", "login", "password"}
