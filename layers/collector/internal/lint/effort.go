package lint

import (
	"errors"
	"fmt"
)

// The OTTL parser descends into every bracket and tries one alternative of the grammar after the other. Where an
// alternative fails late it reads the same text again, so that the work can double with each bracket: 25 nested calls
// with an operator behind each would take days. No parse can be stopped from outside. So the work is worked out before:
// the outcome of a rule at a place is always the same, hence each is followed once here and only its price added up
// whenever the parser would follow it again. What is judged, the real parser judges; here only the price is found.
const (
	// maxLength is that of an expression in bytes. The longest in the collector's own documentation has 300.
	maxLength = 16 << 10
	// maxNesting is how many brackets may be open at once.
	maxNesting = 100
	// maxEffort is the number of rules that the parser may try: about a tenth of a second.
	maxEffort = 200_000
	// freeEffort is what no request is refused for: expressions as people write them take some hundreds.
	freeEffort = 5_000
	// requestEffort bounds what the costlier expressions of one request may take together.
	requestEffort = 4_000_000
)

// tooMuch says why an expression is not given to the parser, nil if it may be; and what parsing it takes.
func tooMuch(expression string, kind Kind) (effort float64, reason error) {
	if len(expression) > maxLength {
		return 0, fmt.Errorf("the expression is %d bytes long, at most %d are judged", len(expression), maxLength)
	}
	tokens := tokenize(expression)
	depth, deepest := 0, 0
	for _, t := range tokens {
		depth += nesting(t)
		deepest = max(deepest, depth)
	}
	if deepest > maxNesting {
		return 0, fmt.Errorf("the expression nests %d brackets, at most %d are judged", deepest, maxNesting)
	}
	effort = compiling(tokens)
	if effort > maxEffort {
		return effort, errors.New("the patterns of the expression come to more than is compiled here")
	}
	if deepest < 4 && len(tokens) < 500 {
		return effort, nil
	}
	effort += parsing(tokens, kind)
	if effort > maxEffort {
		return effort, fmt.Errorf(
			"the expression is nested so that the parser would have to try %.2g alternatives, at most %d are allowed",
			effort, maxEffort)
	}
	return effort, nil
}

// outcome is what comes of a rule at a place: where it ends, -1 if it does not match, and its price.
type outcome struct {
	end   int
	price float64
}

// rule is a part of the grammar.
type rule func(p *pricing, at int) outcome

// pricing follows the grammar over one expression.
type pricing struct {
	tokens []token
	known  map[place]outcome
}

type place struct {
	rule string
	at   int
}

// parsing is the price of parsing the tokens as an expression of this kind.
func parsing(tokens []token, kind Kind) float64 {
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

// remembered is a rule followed at most once a place.
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

func one(holds func(token) bool) rule {
	return func(p *pricing, at int) outcome {
		if at < len(p.tokens) && holds(p.tokens[at]) {
			return outcome{at + 1, 1}
		}
		return outcome{-1, 1}
	}
}

func ofKind(kind tokenKind) rule { return one(func(t token) bool { return t.kind == kind }) }

func text(text string) rule {
	return one(func(t token) bool { return t.text == text && t.kind != stringToken })
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
