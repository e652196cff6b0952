package secrets

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// longestSuffix bounds what may follow a word for a secret in a name, as in `password_of_bob`.
	longestSuffix = 40
	// mostBackslashes bounds those before a quote: each level of JSON within JSON doubles them.
	mostBackslashes = 15
	// longestPrefix bounds the letters before a quote, as in `b'...'`.
	longestPrefix = 2
	// leastUnnamed is the length from which a word that only stands beside a name may be a secret.
	leastUnnamed = 4
)

// names finds the words for secrets. Group 1 may have blanks in its values, and groups 1 and 2 may go on in a name.
var names = regexp.MustCompile(`(?i)((?:pass[-_ ]?(?:word|phrase)|passwd|pwd|secret)(?:[-_. ](?:access[-_. ]?)?(?:key|value|hash))?)` +
	`|((?:token|jwt|credentials?|(?:access|account|api|encryption|master|private|shared|signing|ssh)[-_. ]?key)(?:[-_. ](?:id|value))?)` +
	`|(?:pass(?:code)?|pword|pswd?|pw|authorization|cookie|session[-_. ]?(?:id|key)|signature|(?:\b|_)(?:sig|pin|psk))(?:[-_]?[0-9]{1,3})?`)

// schemes finds those of HTTP's authorization with what follows.
var schemes = regexp.MustCompile(`(?i)\b(basic|digest|negotiate)\s+[A-Za-z0-9._~+/=-]{6,}`)

// header is what YAML has in a name's line if its value is in the lines after it.
var header = regexp.MustCompile(`^[ \t]*(?:[|>][-+0-9]*)?[ \t]*(?:\r?\n)+`)

// valueName is the name that a value has where the name of a secret is a value itself.
var valueName = regexp.MustCompile(`(?i)^(value|val|v|data|content|default|text)$`)

// withoutNamed takes out names of secrets together with their values. It reads a text once, from left to right.
func withoutNamed(text string) string {
	text = schemes.ReplaceAllStringFunc(text, func(found string) string {
		if words := strings.Fields(found); isUnlikeAWord(words[len(words)-1]) {
			return Redacted
		}
		return found
	})
	var clean strings.Builder
	from := 0
	for _, found := range names.FindAllStringSubmatchIndex(text, -1) {
		if found[0] < from {
			continue
		}
		// An address has no blanks.
		ofAddress := found[0] > 0 && (text[found[0]-1] == '?' || text[found[0]-1] == '&')
		one := secretName{word: found[1], end: found[1], phrase: found[2] >= 0 && !ofAddress}
		if found[2] >= 0 || found[4] >= 0 {
			one.end = suffixEnd(text, one.word)
		}
		if end := one.valueEnd(text); end > 0 && !isNothing(text[found[0]:end]) {
			clean.WriteString(text[from:found[0]])
			clean.WriteString(Redacted)
			from = end
		}
	}
	clean.WriteString(text[from:])
	return clean.String()
}

// nothing finds names whose values say that there is no secret, and results of tests.
var nothing = regexp.MustCompile(`^\pL+["']?\s*[=:]\s*["']?(?i:none|null|nil|true|false|ok)["']?$|^PASS:?\s+(?:Test|\S+\.[cm]?[jt]sx?$)`)

// isNothing reports whether a name with its value holds no secret.
func isNothing(text string) bool { return nothing.MatchString(text) }

// secretName is where a word for a secret ends, where the name with it does, and whether its values are phrases.
type secretName struct {
	word, end int
	phrase    bool
}

// valueEnd is where the value of the name ends, 0 if none follows.
func (n secretName) valueEnd(text string) int {
	quote := afterQuote(text, n.end)
	if quote > n.end && strings.HasPrefix(text[quote:], "]") {
		// The key of an object: `config["password"] = "..."`.
		quote++
	}
	at := afterBlanks(text, quote)
	if sign := afterSign(text, at); sign > 0 {
		return endOfValue(text, sign, n.phrase)
	}
	if quote > n.end && at < len(text) && (text[at] == ',' || text[at] == ';') {
		return endOfPair(text, at+1)
	}
	isWord := n.end == n.word || !isLetter(text[n.word]) && text[n.end-1] != '.'
	if quote == n.end && at > n.end && isWord && !strings.ContainsAny(text[n.end:at], "\r\n") {
		return n.besides(text, at)
	}
	return 0
}

// besides is the end of a value with blanks only between it and the name, 0 if it looks like a word of a sentence.
func (n secretName) besides(text string, at int) int {
	for _, verb := range []string{"is ", "was "} {
		if strings.HasPrefix(text[at:], verb) {
			at = afterBlanks(text, at+len(verb))
		}
	}
	end := endOfQuoted(text, at)
	if end > 0 && n.phrase && strings.Trim(text[at:end], `\"'`+"`") != "" {
		return end
	}
	if end == 0 {
		end = endOfWord(text, at)
	}
	if isUnlikeAWord(strings.Trim(text[at:end], `\"'.:!?`+"`")) {
		return end
	}
	return 0
}

// isUnlikeAWord reports whether a text has digits, signs of passwords, or capital letters after small ones.
func isUnlikeAWord(text string) bool {
	if len(text) < leastUnnamed {
		return false
	}
	before := ' '
	for _, c := range text {
		if unicode.IsDigit(c) || strings.ContainsRune("!@#$%^&*=+~?", c) || unicode.IsLower(before) && unicode.IsUpper(c) {
			return true
		}
		before = c
	}
	return false
}

// suffixEnd is where a name ends that begins with a word for a secret.
func suffixEnd(text string, at int) int {
	most := min(len(text), at+longestSuffix)
	for at < most && (isLetter(text[at]) || isDigit(text[at]) || strings.IndexByte("_.[]-", text[at]) >= 0) {
		at++
	}
	// The sign `->`.
	if at < len(text) && text[at] == '>' && text[at-1] == '-' {
		at--
	}
	return at
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// afterQuote skips the quote that closes a name, also one within a text of JSON, or encoded for a URL.
func afterQuote(text string, at int) int {
	quote := afterBackslashes(text, at)
	if quote < len(text) && strings.IndexByte("\"'`", text[quote]) >= 0 {
		return quote + 1
	}
	if strings.HasPrefix(text[at:], "%22") || strings.HasPrefix(text[at:], "%27") {
		return at + len("%22")
	}
	return at
}

func afterBackslashes(text string, at int) int {
	most := min(len(text), at+mostBackslashes)
	for at < most && text[at] == '\\' {
		at++
	}
	return at
}

// afterBlanks skips white space of every kind.
func afterBlanks(text string, at int) int {
	return len(text) - len(strings.TrimLeftFunc(text[at:], unicode.IsSpace))
}

// afterSign skips what stands between a name and its value, 0 if it is not there.
func afterSign(text string, at int) int {
	for _, sign := range []string{":=", ":", "->", "%3a", "%3A", "%3d", "%3D"} {
		if strings.HasPrefix(text[at:], sign) {
			return at + len(sign)
		}
	}
	end := at
	for end < len(text) && text[end] == '=' {
		end++
	}
	switch {
	case end == at:
		return 0
	case end < len(text) && text[end] == '>':
		return end + 1
	}
	return end
}

// endOfPair is the end of what follows a name in a list: in quotes, or at once. It is 0 for words of a sentence, and if
// that is the name of something else than a value: `"name": "password", "value": "..."`.
func endOfPair(text string, after int) int {
	at := afterBlanks(text, after)
	if at > after && endOfQuoted(text, at) == 0 {
		return 0
	}
	end := endOfValue(text, at, false)
	sign := afterSign(text, afterBlanks(text, end))
	if sign == 0 {
		return end
	}
	if !valueName.MatchString(strings.Trim(text[at:end], `\"'`+"`")) {
		return 0
	}
	return endOfValue(text, sign, true)
}

// endOfValue is the end of a value: an object or list as a whole, what is in quotes, or a word; 0 if there is none. A
// phrase goes on to what ends it.
func endOfValue(text string, at int, phrase bool) int {
	if end := endOfBlock(text, at); end > 0 {
		return end
	}
	for before := 0; ; {
		at = afterBlanks(text, at)
		if at < len(text) && (text[at] == '{' || text[at] == '[') {
			return endOfGroup(text, at)
		}
		if end := endOfQuoted(text, at); end > 0 {
			return end
		}
		end := endOfWord(text, at)
		word := text[at:end]
		switch {
		case word == "":
			return before
		case len(word) <= longestPrefix && endOfQuoted(text, end) > 0:
			return endOfQuoted(text, end)
		case strings.Trim(word, "|>+-") == "" || word[len(word)-1] == ':':
			// YAML: a text in the next line, or an object there.
			before, at, phrase = end, end, true
		case phrase:
			return endOfPhrase(text, end)
		default:
			return end
		}
	}
}

// endOfBlock is the end of a value of YAML in the lines after its name: all that are indented as the first one is, or more.
// It is 0 if the value is in the name's line, or the next line is not indented.
func endOfBlock(text string, at int) int {
	end := at + len(header.FindString(text[at:]))
	if end == at {
		return 0
	}
	depth := indentation(text[end:])
	if depth == 0 || end+depth == len(text) {
		return 0
	}
	for end < len(text) {
		line, _, _ := strings.Cut(text[end:], "\n")
		if strings.TrimSpace(line) != "" && indentation(line) < depth {
			break
		}
		end = min(len(text), end+len(line)+1)
	}
	return end
}

func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// endOfPhrase is where the words end of which the first one ends there.
func endOfPhrase(text string, end int) int {
	for {
		next := len(text) - len(strings.TrimLeft(text[end:], " \t"))
		last := endOfWord(text, next)
		if next == end || last == next || startsAnew(text[next:last]) {
			return end
		}
		end = last
	}
}

// startsAnew reports whether a word after a value is not a part of it: an option, a name with its sign, or a bracket.
func startsAnew(word string) bool {
	if strings.IndexByte("-([{<|#", word[0]) >= 0 {
		return true
	}
	sign := strings.IndexAny(word, "=:")
	return sign > 0 && !strings.ContainsFunc(word[:sign], func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_.-", c)
	})
}

// endOfWord is where a text without quotes ends.
func endOfWord(text string, at int) int {
	end := strings.IndexFunc(text[at:], func(c rune) bool {
		return unicode.IsSpace(c) || strings.ContainsRune(`,;&"'}])`, c)
	})
	if end < 0 {
		return len(text)
	}
	return at + end
}

// endOfQuoted is the end of a text in quotes that begins there, 0 if none does. Within a text of JSON, a quote has
// backslashes, and those in it have more.
func endOfQuoted(text string, at int) int {
	open := afterBackslashes(text, at)
	if open == len(text) || strings.IndexByte("\"'`", text[open]) < 0 {
		return 0
	}
	level, run := open-at, 0
	for i := open + 1; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			run++
			continue
		case text[i] == text[open] && (level == 0 && run%2 == 0 || level > 0 && run <= level):
			// A quote that is written twice stands for one.
			if level > 0 || i+1 == len(text) || text[i+1] != text[i] {
				return i + 1
			}
			i++
		}
		run = 0
	}
	return len(text)
}

// endOfGroup is the end of an object or a list that begins there, or of the text if it has none.
func endOfGroup(text string, at int) int {
	depth := 0
	for at < len(text) {
		if end := endOfQuoted(text, at); end > 0 {
			at = end
			continue
		}
		switch text[at] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return at + 1
			}
		}
		at++
	}
	return at
}

// Plain is a text as the patterns know it: without characters that are not seen, with one kind of blanks and hyphens, and
// with ASCII instead of its wide forms.
func Plain(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c < utf8.RuneSelf:
			if c < ' ' && !unicode.IsSpace(c) || c == 0x7f {
				return -1
			}
			return c
		case unicode.In(c, unicode.Cf, unicode.Variation_Selector), unicode.IsControl(c), c == '\u034f', c == utf8.RuneError:
			return -1
		case unicode.Is(unicode.Zs, c):
			return ' '
		case '\u2010' <= c && c <= '\u2015', c == '\u2212':
			return '-'
		case '\uff01' <= c && c <= '\uff5e':
			return c - '\uff01' + '!'
		}
		return c
	}, text)
}
