package lint

import "strings"

// token is a piece of OTTL as the lexer of pkg/ottl cuts it; white space is left out.
type token struct {
	kind       tokenKind
	text       string
	start, end int
}

type tokenKind int

const (
	unknownToken tokenKind = iota
	bytesToken
	floatToken
	intToken
	stringToken
	notToken
	orToken
	andToken
	comparisonToken
	addSubToken
	multDivToken
	booleanToken
	punctuationToken
	upperToken
	lowerToken
)

var words = map[string]tokenKind{
	"not": notToken, "or": orToken, "and": andToken, "true": booleanToken, "false": booleanToken,
}

// tokenize cuts an expression. What the grammar does not know becomes unknown tokens of one byte each.
func tokenize(expression string) []token {
	var tokens []token
	for at := 0; at < len(expression); {
		if strings.IndexByte(" \t\n\r\v\f", expression[at]) >= 0 {
			at++
			continue
		}
		kind, width := nextToken(expression[at:])
		tokens = append(tokens, token{kind, expression[at : at+width], at, at + width})
		at += width
	}
	return tokens
}

// nextToken is the first token of a text that does not begin with white space. The order is that of the lexer's rules.
func nextToken(text string) (tokenKind, int) {
	if strings.HasPrefix(text, "0x") {
		if width := 2 + span(text[2:], isHex); width > 2 {
			return bytesToken, width
		}
	}
	if kind, width := number(text); width > 0 {
		return kind, width
	}
	if text[0] == '"' {
		for at := 1; at < len(text); at++ {
			if text[at] == '\\' {
				at++
			} else if text[at] == '"' {
				return stringToken, at + 1
			}
		}
		return unknownToken, 1
	}
	for word, kind := range words {
		if strings.HasPrefix(text, word) && (len(text) == len(word) || !isWord(text[len(word)])) {
			return kind, len(word)
		}
	}
	for _, operator := range [...]string{"==", "!=", ">=", "<=", ">", "<"} {
		if strings.HasPrefix(text, operator) {
			return comparisonToken, len(operator)
		}
	}
	switch first := text[0]; {
	case first == '+' || first == '-':
		return addSubToken, 1
	case first == '/' || first == '*':
		return multDivToken, 1
	case strings.IndexByte("=(){}:,.[]", first) >= 0:
		return punctuationToken, 1
	case first >= 'A' && first <= 'Z':
		return upperToken, span(text, func(c byte) bool { return c >= 'A' && c <= 'Z' || isDigit(c) || c == '_' })
	case first >= 'a' && first <= 'z':
		return lowerToken, span(text, func(c byte) bool { return c >= 'a' && c <= 'z' || isDigit(c) || c == '_' })
	}
	return unknownToken, 1
}

func number(text string) (tokenKind, int) {
	at := 0
	if text[0] == '+' || text[0] == '-' {
		at = 1
	}
	whole := span(text[at:], isDigit)
	at += whole
	if strings.HasPrefix(text[at:], ".") {
		if fraction := span(text[at+1:], isDigit); fraction > 0 {
			at += 1 + fraction
			return floatToken, at + exponent(text[at:])
		}
	}
	if whole == 0 {
		return unknownToken, 0
	}
	return intToken, at
}

func exponent(text string) int {
	if text == "" || text[0]|0x20 != 'e' {
		return 0
	}
	at := 1
	if at < len(text) && (text[at] == '+' || text[at] == '-') {
		at++
	}
	if digits := span(text[at:], isDigit); digits > 0 {
		return at + digits
	}
	return 0
}

func span(text string, holds func(byte) bool) int {
	at := 0
	for at < len(text) && holds(text[at]) {
		at++
	}
	return at
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

func isWord(c byte) bool { return isDigit(c) || c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

// named is a name in an expression: adjoining tokens of letters, which is how the grammar builds `IsMatch`.
type named struct {
	text       string
	start, end int
	// first and after are the indices of its first token and of the one behind it.
	first, after int
	// called tells that a parenthesis follows; segment that a dot goes before.
	called, segment bool
}

// names finds the names among the tokens, in order.
func names(tokens []token) []named {
	var found []named
	for i := 0; i < len(tokens); {
		if !isName(tokens[i]) {
			i++
			continue
		}
		name := named{start: tokens[i].start, first: i, segment: i > 0 && tokens[i-1].text == "."}
		end := tokens[i].start
		for i < len(tokens) && isName(tokens[i]) && tokens[i].start == end {
			name.text += tokens[i].text
			end = tokens[i].end
			i++
		}
		name.end, name.after = end, i
		name.called = i < len(tokens) && tokens[i].text == "("
		found = append(found, name)
	}
	return found
}

func isName(t token) bool { return t.kind == upperToken || t.kind == lowerToken }

// closing is the index of the token that closes the bracket at open, or the number of tokens if none does.
func closing(tokens []token, open int) int {
	depth := 0
	for i := open; i < len(tokens); i++ {
		depth += nesting(tokens[i])
		if depth == 0 {
			return i
		}
	}
	return len(tokens)
}

// nesting is 1 for an opening bracket, -1 for a closing one.
func nesting(t token) int {
	if t.kind != punctuationToken {
		return 0
	}
	switch t.text {
	case "(", "[", "{":
		return 1
	case ")", "]", "}":
		return -1
	}
	return 0
}
