package policies

import (
	"math"
	"regexp"
	"strings"
)

// known are secrets that can be told by their form.
var known = []struct {
	what    string
	pattern *regexp.Regexp
}{
	{"a private key", regexp.MustCompile(`-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----`)},
	{"an access key of AWS", regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`)},
	{"a token of GitHub", regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})`)},
	{"a token of GitLab", regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{20,}`)},
	{"a token of Slack", regexp.MustCompile(`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`)},
	{"a key of Google", regexp.MustCompile(`\bAIza[0-9A-Za-z_-]{35}\b`)},
	{"a token of Grafana", regexp.MustCompile(`\bgl(?:c|sa)_[A-Za-z0-9+/=_]{32,}`)},
	{"a token of Dynatrace", regexp.MustCompile(`\bdt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}\b`)},
	{"a key of New Relic", regexp.MustCompile(`\b(?:[0-9a-f]{36}NRAL|NR(?:AK|II)-[A-Za-z0-9_-]{20,})`)},
	{"a key of Honeycomb", regexp.MustCompile(`\bhc[a-z]{1,2}[ik]k?_[A-Za-z0-9]{40,}`)},
	{"a key of Stripe", regexp.MustCompile(`\b[rs]k_live_[A-Za-z0-9]{20,}`)},
	{"a key of SendGrid", regexp.MustCompile(`\bSG\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{40,}`)},
	{"a token of npm", regexp.MustCompile(`\bnpm_[A-Za-z0-9]{36}\b`)},
	{"a key of Azure", regexp.MustCompile(`(?i)\b(?:AccountKey|SharedAccessKey|InstrumentationKey)=[A-Za-z0-9+/=-]{20,}`)},
	{"a JSON web token", regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`)},
	{"credentials in an address", regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^\s/:@"'${}<>*]{1,200}:[^\s/:@"'${}<>*]{3,200}@[A-Za-z0-9\[]`)},
}

// knownSecret returns what secret a text holds and where, "" for none.
func knownSecret(text string) (string, int) {
	for _, one := range known {
		if at := one.pattern.FindStringIndex(text); at != nil && !isPlaceholder(text[at[0]:at[1]]) {
			return one.what, at[0]
		}
	}
	return "", 0
}

// maxSecret is the length in bytes of the longest text that is looked at by its setting's name.
const maxSecret = 4_096

var (
	passwordName = regexp.MustCompile(`(?i)(^|[_.-])(password|passwd|passphrase)$`)
	secretName   = regexp.MustCompile(`(?i)((^|[_.-])(secret|token|api[_.-]?key|apikey|access[_.-]?key|secret[_.-]?key|license[_.-]?key|` +
		`private[_.-]?key|ingest(ion)?[_.-]?key|signing[_.-]?key|authorization|credentials?|dsn|connection[_.-]?string)|` +
		`x-honeycomb-team|uptrace-dsn|lightstep-access-token|instrumentation_key)$`)
	scheme = regexp.MustCompile(`(?i)^(bearer|basic|token|api-?key|apikey)\s+`)
	// byDefault is the default of a variable, which is part of the text.
	byDefault = regexp.MustCompile(`^(?:[A-Za-z]+\s+)?\$\{(?:env:)?\w+:-([^{}]*)\}$`)
	random    = regexp.MustCompile(`^[A-Za-z0-9+/_=-]{32,512}$`)
	notRandom = regexp.MustCompile(`(?i)(id|hash|digest|sha\d*|fingerprint|file|path|name|pattern|regex|image|url|endpoint|include|exclude|key)$`)
)

// secretAt returns what secret the value at a path seems to be, "" for none. A setting's name decides with the value's
// form: a password may be short, a token is long and looks random.
func secretAt(path []string, value string) string {
	if match := byDefault.FindStringSubmatch(value); match != nil {
		value = match[1]
	}
	if strings.Contains(value, "${") || strings.Contains(value, "$orgvar:") || value == "" {
		return ""
	}
	name := nameOf(path)
	bare := scheme.ReplaceAllString(value, "")
	switch {
	case isPlaceholder(bare):
		return ""
	case passwordName.MatchString(name):
		return "a password"
	case secretName.MatchString(name) && len(bare) >= 12 && entropy(bare) >= 2.8:
		return "what looks like a secret"
	case random.MatchString(bare) && !notRandom.MatchString(name) && isMixed(bare) && entropy(bare) >= 4.3:
		return "what looks like a key, for it is random"
	}
	return ""
}

// nameOf returns the name of a setting: the last key, with the one before it where that one says more (`api::key`).
func nameOf(path []string) string {
	end := len(path)
	for end > 0 && strings.Trim(path[end-1], "0123456789") == "" {
		end-- // an index
	}
	if end == 0 {
		return ""
	}
	if path[end-1] == "key" && end > 1 {
		return path[end-2] + "_key"
	}
	if path[end-1] == "value" && end > 1 {
		return path[end-2] + "_value"
	}
	return path[end-1]
}

var (
	placeholder = regexp.MustCompile(`(?i)(^<.*>$|^\[.*\]$|\.\.\.|change.?me|replace|your[_ -]|example|placeholder|redacted|dummy|` +
		`insert|todo|x{4,}|\*{3,}|^none$|^unset$|^empty$|^null$|^true$|^false$)`)
	words = regexp.MustCompile(`^[a-z]+([ _.-][a-z]+)*$`)
)

// isPlaceholder tells whether a text stands for a secret and is not one.
func isPlaceholder(text string) bool {
	return text == "" || placeholder.MatchString(text) || strings.Trim(text, text[:1]) == "" ||
		len(text) > 20 && words.MatchString(text)
}

// isMixed tells whether a text has capitals, small letters and digits.
func isMixed(text string) bool {
	return strings.ContainsAny(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") && strings.ContainsAny(text, "0123456789") &&
		strings.ContainsAny(text, "abcdefghijklmnopqrstuvwxyz")
}

// entropy returns the bits that a character of a text carries on average, by how often each occurs.
func entropy(text string) float64 {
	const enough = 512
	text = text[:min(len(text), enough)]
	counts := map[rune]float64{}
	total := 0.0
	for _, one := range text {
		counts[one]++
		total++
	}
	bits := 0.0
	for _, count := range counts {
		bits -= count / total * math.Log2(count/total)
	}
	return bits
}
