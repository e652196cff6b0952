// Package secrets finds secrets in texts: the one list of their forms, for samples of hosts and for configurations.
//
// It has the forms of vendors' keys (gitleaks.json and rules.go), ways in which others are written (written.go), names with
// values (named.go) and card numbers (cards.go). RE2 takes linear time, whatever the text.
package secrets

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Redacted stands for everything that is taken out.
const Redacted = "[REDACTED]"

// Kinds are what is taken out of a text. Own are patterns of the organization.
type Kinds struct {
	Credentials, Cards, Mail, Random bool
	Own                              []*regexp.Regexp
}

// secretWords are those in the names of credentials.
const secretWords = `(?:password|passwd|passphrase|pwd|secret|token|jwt|api[-_. ]?key|access[-_. ]?key|private[-_. ]?key|credentials?)`

var (
	option = regexp.MustCompile(`(?i)^--?[\w-]*` + secretWords + `$`)
	// name finds names of secrets, whatever else is in them.
	name = regexp.MustCompile(`(?i)pass(word|wd|phrase|code)|pword|pswd?|pwd|pw($|[-_. 0-9])|secret|token|jwt|(api|app|access|account|encryption|license|ingest|ingestion|instrumentation|` +
		`master|private|shared|signing|ssh|deploy)[-_. ]?key|authorization|(^|[-_. ])(auth|pass|pin|sig|dsn|creds?)($|[-_. ])|cookie|credential|session[-_. ]?(id|key)|` +
		`signature|connection[-_. ]?string|honeycomb-team`)
	mailAddress = regexp.MustCompile(`[\pL\pN._%+'-]+(@|%40)[\pL\pN-]+(\.[\pL\pN-]+)*\.[\pL][\pL\pN-]*`)
	longText    = regexp.MustCompile(`[A-Za-z0-9+/=_-]{20,}`)
)

// IsName reports whether a key is the name of a secret.
func IsName(key string) bool { return name.MatchString(Plain(key)) }

// IsOption reports whether an argument of a program is an option for a secret, which follows.
func IsOption(argument string) bool { return option.MatchString(argument) }

// IsValueName reports whether a key is that of a value whose name is a value itself: `{"name": "password", "value": ...}`.
func IsValueName(key string) bool { return valueName.MatchString(key) }

// Redact returns a text without what is to be taken out. What nothing is found in stays as it is, also with characters
// that are not seen.
func Redact(text string, kinds Kinds) string {
	kept := replaced(text, kinds.Own)
	searched := Plain(kept)
	clean := kinds.searched(searched)
	if clean == searched {
		return kept
	}
	return clean
}

func (k *Kinds) searched(text string) string {
	text = replaced(text, k.Own)
	if k.Credentials {
		text = without(text, Known(text))
		may := formWords().in(strings.ToLower(text))
		for i := range everyWay {
			if may[len(rules())+i] {
				text = everyWay[i].without(text)
			}
		}
	}
	if k.Mail {
		text = mailAddress.ReplaceAllLiteralString(text, Redacted)
	}
	if k.Credentials {
		text = withoutNamed(text)
	}
	if k.Cards {
		text = digits.ReplaceAllStringFunc(text, withoutCards)
	}
	if k.Random {
		text = longText.ReplaceAllStringFunc(text, func(found string) string {
			if IsRandom(found) {
				return Redacted
			}
			return found
		})
	}
	return text
}

// Written returns the secrets that a text gives away by how they are written: the vendors' ones, and of the others only what
// is one of these, if any are named.
func Written(text string, what ...string) []Match {
	may := formWords().in(strings.ToLower(text))
	all := known(text, may)
	for i := range everyWay {
		way := &everyWay[i]
		if may[len(rules())+i] && (len(what) == 0 || slices.Contains(what, way.what)) {
			way.find(text, func(start, end int) { all = append(all, Match{start, end, way.what}) })
		}
	}
	return all
}

// RedactError returns an error or a line of a log without the secrets in it. A name alone does not make what follows it a
// secret: `token: is required` stays.
func RedactError(text string) string {
	return without(text, append(Written(text), InAddresses(text)...))
}

func replaced(text string, patterns []*regexp.Regexp) string {
	for _, pattern := range patterns {
		text = pattern.ReplaceAllLiteralString(text, Redacted)
	}
	return text
}

// IsRandom reports whether a text looks like made by chance, and not of words: a part between hyphens and the like mixes
// letters with digits, or changes between cases again and again.
func IsRandom(text string) bool {
	if mixed(text, 32, 5) && Entropy(text) >= 3.2 {
		return true
	}
	for _, part := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune("+/=_-", c) }) {
		if mixed(part, 16, 2) && Entropy(part) >= 2.8 || len(part) >= 20 && caseChanges(part) >= 6 && Entropy(part) >= 3.2 {
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

// Entropy is Shannon's, in bits for each character of the first 512 bytes.
func Entropy(text string) float64 {
	const enough = 512
	text = text[:min(len(text), enough)]
	counts := map[rune]float64{}
	total := 0.0
	for _, c := range text {
		counts[c]++
		total++
	}
	bits := 0.0
	for _, count := range counts {
		bits -= count / total * math.Log2(count/total)
	}
	return bits
}
