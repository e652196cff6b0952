package pricing

import (
	"strings"

	"github.com/headgate/headgate/layers/collector/generation"
)

// Token is a piece of OTTL as the lexer of pkg/ottl cuts it; white space is left out.
type Token struct {
	Kind       TokenKind
	Text       string
	Start, End int
}

// TokenKind is what the lexer takes a token for.
type TokenKind int

// The kinds of tokens.
const (
	UnknownToken TokenKind = iota
	BytesToken
	FloatToken
	IntToken
	StringToken
	NotToken
	OrToken
	AndToken
	ComparisonToken
	AddSubToken
	MultDivToken
	BooleanToken
	PunctuationToken
	UpperToken
	LowerToken
	NilToken
	UnderscoreToken
	ArrowToken
)

var words = map[string]TokenKind{
	"not": NotToken, "or": OrToken, "and": AndToken, "true": BooleanToken, "false": BooleanToken,
}

func init() {
	if generation.Lambdas {
		words["nil"] = NilToken
		words["_"] = UnderscoreToken
	}
}

// Tokenize cuts an expression. What the grammar does not know becomes unknown tokens of one byte each.
func Tokenize(expression string) []Token {
	var tokens []Token
	for at := 0; at < len(expression); {
		if strings.IndexByte(" \t\n\r\v\f", expression[at]) >= 0 {
			at++
			continue
		}
		kind, width := nextToken(expression[at:])
		tokens = append(tokens, Token{kind, expression[at : at+width], at, at + width})
		at += width
	}
	return tokens
}

// nextToken is the first token of a text that does not begin with white space. The order is that of the lexer's rules.
func nextToken(text string) (TokenKind, int) {
	if strings.HasPrefix(text, "0x") {
		if width := 2 + Span(text[2:], isHex); width > 2 {
			return BytesToken, width
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
				return StringToken, at + 1
			}
		}
		return UnknownToken, 1
	}
	for word, kind := range words {
		if strings.HasPrefix(text, word) && (len(text) == len(word) || !IsWord(text[len(word)])) {
			return kind, len(word)
		}
	}
	for _, operator := range [...]string{"==", "!=", ">=", "<=", ">", "<"} {
		if strings.HasPrefix(text, operator) {
			return ComparisonToken, len(operator)
		}
	}
	if generation.Lambdas && strings.HasPrefix(text, "=>") {
		return ArrowToken, 2
	}
	switch first := text[0]; {
	case first == '+' || first == '-':
		return AddSubToken, 1
	case first == '/' || first == '*':
		return MultDivToken, 1
	case strings.IndexByte("=(){}:,.[]", first) >= 0:
		return PunctuationToken, 1
	case first >= 'A' && first <= 'Z':
		return UpperToken, Span(text, func(c byte) bool { return c >= 'A' && c <= 'Z' || isDigit(c) || c == '_' })
	case first >= 'a' && first <= 'z':
		return LowerToken, Span(text, func(c byte) bool { return c >= 'a' && c <= 'z' || isDigit(c) || c == '_' })
	}
	return UnknownToken, 1
}

func number(text string) (TokenKind, int) {
	at := 0
	if !generation.Lambdas && (text[0] == '+' || text[0] == '-') {
		at = 1
	}
	whole := Span(text[at:], isDigit)
	at += whole
	if strings.HasPrefix(text[at:], ".") {
		if fraction := Span(text[at+1:], isDigit); fraction > 0 || (generation.Lambdas && whole > 0) {
			at += 1 + fraction
			return FloatToken, at + exponent(text[at:])
		}
	}
	if whole == 0 {
		return UnknownToken, 0
	}
	return IntToken, at
}

func exponent(text string) int {
	if text == "" || text[0]|0x20 != 'e' {
		return 0
	}
	at := 1
	if at < len(text) && (text[at] == '+' || text[at] == '-') {
		at++
	}
	if digits := Span(text[at:], isDigit); digits > 0 {
		return at + digits
	}
	return 0
}

// Span is how much of the beginning of a text consists of such bytes.
func Span(text string, holds func(byte) bool) int {
	at := 0
	for at < len(text) && holds(text[at]) {
		at++
	}
	return at
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// IsWord tells whether a byte can stand in a name.
func IsWord(c byte) bool { return isDigit(c) || c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

// Name is a name in an expression: adjoining tokens of letters, which is how the grammar builds `IsMatch`.
type Name struct {
	Text       string
	Start, End int
	// First and After are the indices of its first token and of the one behind it.
	First, After int
	// Called tells that a parenthesis follows; Segment that a dot goes before.
	Called, Segment bool
}

// Names finds the names among the tokens, in order.
func Names(tokens []Token) []Name {
	var found []Name
	for i := 0; i < len(tokens); {
		if !IsName(tokens[i]) {
			i++
			continue
		}
		name := Name{Start: tokens[i].Start, First: i, Segment: i > 0 && tokens[i-1].Text == "."}
		end := tokens[i].Start
		for i < len(tokens) && IsName(tokens[i]) && tokens[i].Start == end {
			name.Text += tokens[i].Text
			end = tokens[i].End
			i++
		}
		name.End, name.After = end, i
		name.Called = i < len(tokens) && tokens[i].Text == "("
		found = append(found, name)
	}
	return found
}

// IsName tells whether a token is of letters.
func IsName(t Token) bool { return t.Kind == UpperToken || t.Kind == LowerToken }

// Closing is the index of the token that closes the bracket at open, or the number of tokens if none does.
func Closing(tokens []Token, open int) int {
	depth := 0
	for i := open; i < len(tokens); i++ {
		depth += Nesting(tokens[i])
		if depth == 0 {
			return i
		}
	}
	return len(tokens)
}

// Nesting is 1 for an opening bracket, -1 for a closing one.
func Nesting(t Token) int {
	if t.Kind != PunctuationToken {
		return 0
	}
	switch t.Text {
	case "(", "[", "{":
		return 1
	case ")", "]", "}":
		return -1
	}
	return 0
}
