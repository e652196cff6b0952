package lint

import (
	"context"

	"github.com/headgate/headgate/layers/collector/generation"
	"github.com/headgate/headgate/layers/collector/internal/pricing"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottllog"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/ottlfuncs"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.uber.org/zap"
)

// deprecatedFunctions are the functions that the documentation of pkg/ottl marks as deprecated, with their
// replacements.
var deprecatedFunctions = map[string]string{"Base64Decode": "Decode"}

// remarks returns the notes on an expression, valid or not.
func remarks(e *expression) []string {
	tokens := pricing.Tokenize(e.resolved)
	notes := deprecations(tokens)
	if e.err == nil {
		switch e.kind() {
		case Condition:
			notes = append(notes, constancy(e.resolved, tokens, "the condition")...)
		case Statement:
			for i, t := range tokens {
				if t.Text == "where" && t.Kind == pricing.LowerToken {
					notes = append(notes, constancy(e.resolved, tokens[i+1:], "the where clause")...)
					break
				}
			}
		}
	}
	return notes
}

func deprecations(tokens []pricing.Token) []string {
	var notes []string
	noted := map[string]bool{}
	note := func(what, remark string) {
		if !noted[what] {
			noted[what] = true
			notes = append(notes, what+" "+remark)
		}
	}
	for _, name := range pricing.Names(tokens) {
		instead, deprecated := deprecatedFunctions[name.Text]
		switch {
		case deprecated && name.Called:
			note(name.Text, "is deprecated, use "+instead)
		case name.Text == "instrumentation_scope" && !name.Called && !name.Segment:
			note("instrumentation_scope", "is the older name of scope")
		case name.Text == "deprecated_string" && name.Segment:
			note("kind.deprecated_string", "is deprecated, use kind.string")
		}
	}
	return notes
}

// constancy returns a note if a condition has the same outcome for all telemetry.
func constancy(text string, tokens []pricing.Token, what string) []string {
	switch always(text, tokens) {
	case isTrue:
		return []string{what + " is always true"}
	case isFalse:
		return []string{what + " is never true"}
	}
	return nil
}

type truth int

const (
	depends truth = iota
	isTrue
	isFalse
)

// always returns the outcome of a condition that does not depend on the telemetry: a condition of literals, which OTTL
// evaluates; a comparison of a path with itself; and combinations of these with `or`, `and` and `not`.
func always(text string, tokens []pricing.Token) truth {
	if parts := split(tokens, pricing.OrToken); len(parts) > 1 {
		return combined(text, parts, isTrue, isFalse)
	}
	if parts := split(tokens, pricing.AndToken); len(parts) > 1 {
		return combined(text, parts, isFalse, isTrue)
	}
	if len(tokens) > 1 && tokens[0].Kind == pricing.NotToken {
		switch always(text, tokens[1:]) {
		case isTrue:
			return isFalse
		case isFalse:
			return isTrue
		}
		return depends
	}
	if len(tokens) > 2 && tokens[0].Text == "(" && pricing.Closing(tokens, 0) == len(tokens)-1 {
		return always(text, tokens[1:len(tokens)-1])
	}
	if sides := split(tokens, pricing.ComparisonToken); len(sides) == 2 && !hasLiteralsOnly(tokens) {
		return comparedWithItself(sides, tokens[len(sides[0])].Text)
	}
	if len(tokens) == 0 || !hasLiteralsOnly(tokens) {
		return depends
	}
	return evaluated(text[tokens[0].Start:tokens[len(tokens)-1].End])
}

// combined returns the outcome of parts of which a single decisive one decides all.
func combined(text string, parts [][]pricing.Token, decisive, otherwise truth) truth {
	outcome := otherwise
	for _, part := range parts {
		switch always(text, part) {
		case decisive:
			return decisive
		case depends:
			outcome = depends
		}
	}
	return outcome
}

// split cuts tokens at those of a kind that stand outside of brackets.
func split(tokens []pricing.Token, kind pricing.TokenKind) [][]pricing.Token {
	var parts [][]pricing.Token
	depth, from := 0, 0
	for i, t := range tokens {
		depth += pricing.Nesting(t)
		if depth == 0 && t.Kind == kind {
			parts = append(parts, tokens[from:i])
			from = i + 1
		}
	}
	return append(parts, tokens[from:])
}

func hasLiteralsOnly(tokens []pricing.Token) bool {
	for _, t := range tokens {
		if pricing.IsName(t) && t.Text != "nil" || t.Kind == pricing.UnknownToken {
			return false
		}
	}
	return true
}

func comparedWithItself(sides [][]pricing.Token, operator string) truth {
	if len(sides[0]) != len(sides[1]) {
		return depends
	}
	for i, t := range sides[0] {
		if t.Text != sides[1][i].Text {
			return depends
		}
	}
	for _, name := range pricing.Names(sides[0]) {
		if name.Called {
			return depends // Now() and UUID() differ from call to call
		}
	}
	switch operator {
	case "==":
		return isTrue
	case "!=":
		return isFalse
	}
	return depends // a value without an order is neither smaller, larger nor equal
}

// evaluated returns OTTL's outcome for a condition of literals.
func evaluated(condition string) truth {
	parser, err := ottllog.NewParser(
		ottlfuncs.StandardConverters[generation.Log](), component.TelemetrySettings{Logger: zap.NewNop()})
	if err != nil {
		return depends
	}
	parsed, err := parser.ParseCondition(condition)
	if err != nil {
		return depends
	}
	resource := plog.NewLogs().ResourceLogs().AppendEmpty()
	scope := resource.ScopeLogs().AppendEmpty()
	thing := generation.NewLog(resource, scope, scope.LogRecords().AppendEmpty())
	defer generation.Release(thing)
	outcome, err := parsed.Eval(context.Background(), thing)
	switch {
	case err != nil:
		return depends
	case outcome:
		return isTrue
	}
	return isFalse
}
