package capture

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode"
)

const (
	// redacted stands for everything that is taken out.
	redacted = "[REDACTED]"
	// longestName bounds a text that may be the name of a secret whose value follows in a list.
	longestName = 64
)

// Redaction is what the organization takes out: kinds of secrets that are known here, patterns of its own in RE2's
// notation, and keys of attributes, whatever their case.
type Redaction struct {
	Kinds    []string `json:"kinds"`
	Patterns []string `json:"patterns"`
	Keys     []string `json:"keys"`
}

// The kinds of secrets.
const (
	credentials   = "credentials"
	cardNumbers   = "card_numbers"
	mailAddresses = "mail_addresses"
	randomTexts   = "random_strings"
)

// secretWords are those in the names of credentials.
const secretWords = `(?:password|passwd|pwd|secret|token|jwt|api[-_. ]?key|access[-_. ]?key|private[-_. ]?key|credentials?)`

var (
	secretOption       = regexp.MustCompile(`(?i)^--?[\w-]*` + secretWords + `$`)
	credentialPatterns = compiled(
		`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)`,
		`\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}(\.[A-Za-z0-9_-]*)?`,
		`\b(AKIA|ASIA|AIza|gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|xapp-|sk-|[spr]k_(live|test)_|ya29\.|npm_|pypi-|dop_v1_|SG\.|hvs\.|s[sv]_|ft_)[A-Za-z0-9_.+/=-]{10,}`,
		`(?i)\bbearer\s+[A-Za-z0-9._~+/=-]{6,}`,
		// A header as it is sent: all that follows, as a value may have several parts.
		`(?i)(authorization|cookie2?)\s*:\s*[^\r\n]+`,
		// A user's password in an address, also one with a slash that should have been encoded.
		`://[^\s/]*:[^\s/]*@`,
		`://[^\s/:]+:[^\s/@]*[^\s/@0-9][^\s/@]*/[^\s@"'<>]*@`,
		// An option with its value, and an element of XML.
		`(?i)\B--?[\w-]*`+secretWords+`\s+("[^"]*"?|'[^']*'?|\S+)`,
		`(?i)<[\w:.-]*`+secretWords+`[\w:.-]*(\s[^<>]*)?>(\s*<!\[CDATA\[[\s\S]*?(\]\]>|$)|[^<]+)`,
		`(?i)\b(key|name)\s*=\s*["'][\w:.-]*`+secretWords+`[\w:.-]*["']\s+value\s*=\s*("[^"]*"?|'[^']*'?)`,
	)
	// Options of programs whose names do not tell of a secret; what is before the value stays.
	commandOptions = compiled(
		`((?:^|[^\w.-])(?:curl|wget)\s(?:[^\r\n]*?\s)?(?:-u\s*|--(?:proxy-)?user[\s=]+))(?:"[^":]+:[^"]*"?|'[^':]+:[^']*'?|[^\s:"']+:\S+)`,
		`((?:^|[^\w.-])(?:mysql(?:dump|admin)?|mariadb(?:-dump|-admin)?)\s(?:[^\r\n]*?\s)?-p)(?:"[^"]*"?|'[^']*'?|[^\s"']\S*)`,
	)
	credentialKey = regexp.MustCompile(`(?i)pass(word|wd|phrase|code)|pword|pswd?|pwd|pw($|[-_. 0-9])|secret|token|jwt|(api|access|account|encryption|master|private|shared|signing|ssh)[-_. ]?key|authorization|(^|[-_. ])(auth|pass|pin|sig)($|[-_. ])|cookie|credential|session[-_. ]?(id|key)|signature`)
	mailPatterns  = compiled(`[\pL\pN._%+'-]+(@|%40)[\pL\pN-]+(\.[\pL\pN-]+)+`)
	longText      = regexp.MustCompile(`[A-Za-z0-9+/=_-]{20,}`)

	identifier = regexp.MustCompile(`^([0-9a-f]{16}|[0-9a-f]{32})?$`)
	number     = regexp.MustCompile(`^-?[0-9]{1,20}$`)
)

func compiled(patterns ...string) []*regexp.Regexp {
	var all []*regexp.Regexp
	for _, pattern := range patterns {
		all = append(all, regexp.MustCompile(pattern))
	}
	return all
}

// redactor takes secrets out of telemetry in OTLP's JSON, and counts the texts from which it took some.
type redactor struct {
	// own are the organization's patterns.
	own, patterns []*regexp.Regexp
	keys          map[string]bool
	named         bool
	cards, random bool
	count         int
}

func newRedactor(rules Redaction) (*redactor, error) {
	r := &redactor{keys: map[string]bool{}}
	for _, pattern := range rules.Patterns {
		one, err := regexp.Compile(pattern)
		if err != nil {
			return nil, fmt.Errorf("a pattern for redaction is not one: %w", err)
		}
		r.own = append(r.own, one)
	}
	for _, key := range rules.Keys {
		r.keys[strings.ToLower(plain(key))] = true
	}
	for _, kind := range rules.Kinds {
		switch kind {
		case credentials:
			r.patterns, r.named = append(r.patterns, credentialPatterns...), true
		case cardNumbers:
			r.cards = true
		case mailAddresses:
			r.patterns = append(r.patterns, mailPatterns...)
		case randomTexts:
			r.random = true
		default:
			return nil, fmt.Errorf("this supervisor does not know %.40q, which is to be redacted: upgrade it", kind)
		}
	}
	return r, nil
}

// value returns a value of OTLP's JSON without secrets: every text in it but ids and numbers.
func (r *redactor) value(field string, value any) any {
	switch value := value.(type) {
	case map[string]any:
		return r.object(value)
	case []any:
		for i, one := range value {
			value[i] = r.value(field, one)
		}
		return value
	case string:
		switch {
		case strings.HasSuffix(field, "Id") && identifier.MatchString(value):
			return value
		case isCount(field) && number.MatchString(value):
			return value
		case field == "bytesValue" && value != "":
			// Nothing is known of what they hold.
			r.count++
			return base64.StdEncoding.EncodeToString([]byte(redacted))
		}
		return r.text(value)
	}
	return value
}

// isCount reports whether the field is a number that JSON has as a text: all others are the user's.
func isCount(field string) bool {
	switch field {
	case "intValue", "asInt", "count", "zeroCount", "bucketCounts":
		return true
	}
	return strings.HasSuffix(field, "UnixNano")
}

func (r *redactor) object(object map[string]any) map[string]any {
	key, keyed := object["key"].(string)
	if value, is := object["value"].(map[string]any); is && keyed && r.isSecret(key) && value["stringValue"] != redacted {
		object["value"] = map[string]any{"stringValue": redacted}
		r.count++
	}
	for _, kind := range []string{"intValue", "doubleValue", "asInt", "asDouble"} {
		if number, there := object[kind]; there && r.cards && isCard(digitsOf(number)) {
			r.count++
			if strings.HasPrefix(kind, "as") {
				// A data point has no text in its place.
				delete(object, kind)
				break
			}
			return map[string]any{"stringValue": redacted}
		}
	}
	if values, is := object["values"].([]any); is {
		r.follows(values)
	}
	for field, value := range object {
		object[field] = r.value(field, value)
	}
	return object
}

// follows takes out what follows the name of a secret in a list: an option in a program's arguments, a pair, or
// `{"name": "password", "value": "..."}`.
func (r *redactor) follows(values []any) {
	named := false
	for _, one := range values {
		item, _ := one.(map[string]any)
		if item == nil {
			continue
		}
		key, keyed := item["key"].(string)
		if named && (!keyed || valueName.MatchString(key)) {
			clear(item)
			if keyed {
				item["key"], item["value"] = key, map[string]any{"stringValue": redacted}
			} else {
				item["stringValue"] = redacted
			}
			r.count++
			named = false
			continue
		}
		holds := item
		if keyed {
			holds, _ = item["value"].(map[string]any)
		}
		text, is := holds["stringValue"].(string)
		names := is && (r.named && secretOption.MatchString(text) || r.isName(text))
		named = names || named && keyed
	}
}

// isName reports whether a text is nothing but the name of a secret.
func (r *redactor) isName(text string) bool {
	return len(text) <= longestName && !strings.ContainsAny(text, " :=") && r.isSecret(text)
}

func digitsOf(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case json.Number:
		if whole, err := value.Float64(); err == nil && whole == math.Trunc(whole) && math.Abs(whole) < 1e19 {
			return fmt.Sprintf("%.0f", whole)
		}
	}
	return ""
}

func (r *redactor) isSecret(key string) bool {
	key = plain(key)
	return r.keys[strings.ToLower(key)] || r.named && credentialKey.MatchString(key)
}

// text returns a text without what the patterns find in it. What they find nothing in stays as it is, also with
// characters that are not seen.
func (r *redactor) text(text string) string {
	kept := replaced(text, r.own)
	searched := plain(kept)
	clean := r.searched(searched)
	if clean == searched {
		clean = kept
	}
	if clean != text {
		r.count++
	}
	return clean
}

func (r *redactor) searched(text string) string {
	text = replaced(replaced(text, r.own), r.patterns)
	if r.named {
		for _, option := range commandOptions {
			text = option.ReplaceAllString(text, "${1}"+redacted)
		}
		text = withoutNamed(text)
	}
	if r.cards {
		text = digits.ReplaceAllStringFunc(text, withoutCards)
	}
	if r.random {
		text = longText.ReplaceAllStringFunc(text, func(found string) string {
			if isRandom(found) {
				return redacted
			}
			return found
		})
	}
	return text
}

func replaced(text string, patterns []*regexp.Regexp) string {
	for _, pattern := range patterns {
		text = pattern.ReplaceAllLiteralString(text, redacted)
	}
	return text
}

// isRandom reports whether a text looks like made by chance, and not of words: a part between hyphens and the like mixes
// letters with digits, or changes between cases again and again.
func isRandom(text string) bool {
	if mixed(text, 32, 5) && entropy(text) >= 3.2 {
		return true
	}
	for _, part := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune("+/=_-", c) }) {
		if mixed(part, 16, 2) && entropy(part) >= 2.8 || len(part) >= 20 && caseChanges(part) >= 6 && entropy(part) >= 3.2 {
			return true
		}
	}
	return false
}

func mixed(text string, least, each int) bool {
	letters, digits := 0, 0
	for _, c := range text {
		switch {
		case unicode.IsDigit(c):
			digits++
		case unicode.IsLetter(c):
			letters++
		}
	}
	return len(text) >= least && letters >= each && digits >= each
}

func caseChanges(text string) int {
	changes := 0
	for i := 1; i < len(text); i++ {
		if unicode.IsUpper(rune(text[i-1])) != unicode.IsUpper(rune(text[i])) {
			changes++
		}
	}
	return changes
}

// entropy is Shannon's, in bits for each character.
func entropy(text string) float64 {
	counts := map[rune]float64{}
	for _, c := range text {
		counts[c]++
	}
	bits := 0.0
	for _, n := range counts {
		share := n / float64(len(text))
		bits -= share * math.Log2(share)
	}
	return bits
}
