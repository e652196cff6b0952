// Package pricing estimates the work of parsing an OTTL expression or compiling a pattern, before it is done.
//
// The OTTL parser descends into every bracket and tries one alternative of the grammar after the other. Where an
// alternative fails late, it reads the same text again, so the work can double with each bracket: 25 nested calls with
// an operator after each would take days. A parse cannot be stopped from outside, so its work is estimated first. A
// rule's outcome at a position is always the same: each is followed once here, and only its price is added whenever the
// parser would follow it again. The verdict on an expression is the real parser's.
package pricing

import (
	"errors"
	"fmt"

	"github.com/headgate/headgate/layers/collector/generation"
)

// Kind is the kind of an expression.
type Kind string

// The kinds of expression, one for each of the parser's functions.
const (
	Condition       Kind = "condition"
	Statement       Kind = "statement"
	ValueExpression Kind = "value_expression"
)

const (
	// maxLength is the maximum length of an expression in bytes. The longest in the collector's own documentation has 300.
	maxLength = 16 << 10
	// maxNesting is how many brackets may be open at once.
	maxNesting = 100
	// maxForeignArrows is how many arrows of lambdas there may be where the grammar has none.
	maxForeignArrows = 8
	// MaxEffort is the number of rules that the parser may try for one expression: about a tenth of a second.
	MaxEffort = 200_000
	// FreeEffort is the price below which expressions do not count towards a request's limit. Usual ones cost some
	// hundreds.
	FreeEffort = 5_000
	// tokenPrice is the price of a token in expressions with few brackets: 20,000 short expressions take a second.
	tokenPrice = 20
	// RequestEffort is the highest price of one request's costlier expressions and patterns together.
	RequestEffort = 4_000_000
)

// Expression returns the price of parsing an expression, and why it must not be parsed, nil if it may be.
func Expression(expression string, kind Kind) (effort float64, reason error) {
	if len(expression) > maxLength {
		return MaxEffort, fmt.Errorf("the expression is %d bytes long; the limit is %d", len(expression), maxLength)
	}
	tokens := Tokenize(expression)
	depth, deepest, arrows := 0, 0, 0
	for i, t := range tokens {
		depth += Nesting(t)
		if t.Kind == ArrowToken || t.Text == "=" && i+1 < len(tokens) && tokens[i+1].Text == ">" {
			arrows++ // what a lambda encloses has no bracket
		}
		deepest = max(deepest, depth+arrows)
	}
	if !generation.Lambdas && arrows > maxForeignArrows {
		// Not OTTL of this version, which may price a text for another one.
		return MaxEffort, fmt.Errorf("the expression nests %d lambdas; the limit is %d", arrows, maxForeignArrows)
	}
	if deepest > maxNesting {
		return MaxEffort, fmt.Errorf("the expression nests %d brackets and lambdas; the limit is %d", deepest, maxNesting)
	}
	effort = compiling(tokens)
	if effort > MaxEffort {
		return effort, errors.New("the patterns of the expression are too large to compile")
	}
	if deepest < 4 && len(tokens) < 500 {
		return effort + tokenPrice*float64(len(tokens)), nil
	}
	effort += parsing(tokens, kind)
	if effort > MaxEffort {
		return effort, fmt.Errorf(
			"the expression is nested so that the parser would have to try %.2g alternatives, at most %d are allowed",
			effort, MaxEffort)
	}
	return effort, nil
}

// outcome is the result of a rule at a position: where it ends, -1 if it does not match, and its price.
type outcome struct {
	end   int
	price float64
}

// rule is a part of the grammar.
type rule func(p *pricing, at int) outcome

// pricing follows the grammar over one expression.
type pricing struct {
	tokens []Token
	known  map[place]outcome
}

type place struct {
	rule string
	at   int
}

// parsing returns the price of parsing the tokens as an expression of this kind.
func parsing(tokens []Token, kind Kind) float64 {
	p := &pricing{tokens, map[place]outcome{}}
	switch kind {
	case Statement:
		return statementRule(p, 0).price
	case ValueExpression:
		return valueRule(p, 0).price
	default:
		return conditionRule(p, 0).price
	}
}

// remembered returns a rule that is followed at most once at each position.
func remembered(name string, follow func() rule) rule {
	return func(p *pricing, at int) outcome {
		key := place{name, at}
		result, known := p.known[key]
		if !known {
			result = follow()(p, at)
			result.price++
			p.known[key] = result
		}
		return result
	}
}

func one(holds func(Token) bool) rule {
	return func(p *pricing, at int) outcome {
		if at < len(p.tokens) && holds(p.tokens[at]) {
			return outcome{at + 1, 1}
		}
		return outcome{-1, 1}
	}
}

// never matches nothing, at no price: a rule that the grammar of this generation does not have.
func never(*pricing, int) outcome { return outcome{end: -1} }

func ofKind(kind TokenKind) rule { return one(func(t Token) bool { return t.Kind == kind }) }

func text(text string) rule {
	return one(func(t Token) bool { return t.Text == text && t.Kind != StringToken })
}

func inTurn(parts ...rule) rule {
	return func(p *pricing, at int) outcome {
		result := outcome{end: at}
		for _, part := range parts {
			next := part(p, result.end)
			result = outcome{next.end, result.price + next.price}
			if next.end < 0 {
				break
			}
		}
		return result
	}
}

func firstOf(alternatives ...rule) rule {
	return func(p *pricing, at int) outcome {
		result := outcome{end: -1}
		for _, alternative := range alternatives {
			tried := alternative(p, at)
			result = outcome{tried.end, result.price + tried.price}
			if tried.end >= 0 {
				break
			}
		}
		return result
	}
}

func repeated(part rule) rule {
	return func(p *pricing, at int) outcome {
		result := outcome{end: at}
		for {
			next := part(p, result.end)
			result.price += next.price
			if next.end <= result.end {
				return result
			}
			result.end = next.end
		}
	}
}

func optional(part rule) rule {
	return func(p *pricing, at int) outcome {
		if tried := part(p, at); tried.end >= 0 {
			return tried
		} else {
			return outcome{at, tried.price}
		}
	}
}

func notBefore(part rule) rule {
	return func(p *pricing, at int) outcome {
		if ahead := part(p, at); ahead.end >= 0 {
			return outcome{-1, ahead.price}
		} else {
			return outcome{at, ahead.price}
		}
	}
}
