package lint

import (
	"context"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottllog"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/ottlfuncs"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.uber.org/zap"
)

// deprecatedFunctions are those that the documentation of pkg/ottl marks so, with what it names instead.
var deprecatedFunctions = map[string]string{"Base64Decode": "Decode"}

// remarks are the notes on an expression, whether it is good or not.
func remarks(e *expression) []string {
	tokens := tokenize(e.resolved)
	notes := deprecations(tokens)
	if e.err == nil {
		switch e.kind() {
		case Condition:
			notes = append(notes, constancy(e.resolved, tokens, "the condition")...)
		case Statement:
			for i, t := range tokens {
				if t.text == "where" && t.kind == lowerToken {
					notes = append(notes, constancy(e.resolved, tokens[i+1:], "the where clause")...)
					break
				}
			}
		}
	}
	return notes
}

func deprecations(tokens []token) []string {
	var notes []string
	noted := map[string]bool{}
	note := func(what, remark string) {
		if !noted[what] {
			noted[what] = true
			notes = append(notes, what+" "+remark)
		}
	}
	for _, name := range names(tokens) {
		instead, deprecated := deprecatedFunctions[name.text]
		switch {
		case deprecated && name.called:
			note(name.text, "is deprecated, use "+instead)
		case name.text == "instrumentation_scope" && !name.called && !name.segment:
			note("instrumentation_scope", "is the older name of scope")
		case name.text == "deprecated_string" && name.segment:
			note("kind.deprecated_string", "is deprecated, use kind.string")
		}
	}
	return notes
}

// constancy notes that a condition has the same outcome for all telemetry.
func constancy(text string, tokens []token, what string) []string {
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

// always finds what a condition comes to whatever it is asked about: one of literals alone, which OTTL itself
// evaluates, one that compares a thing with itself, and those that `or`, `and` and `not` make of them.
func always(text string, tokens []token) truth {
	if parts := split(tokens, orToken); len(parts) > 1 {
		return combined(text, parts, isTrue, isFalse)
	}
	if parts := split(tokens, andToken); len(parts) > 1 {
		return combined(text, parts, isFalse, isTrue)
	}
	if len(tokens) > 1 && tokens[0].kind == notToken {
		switch always(text, tokens[1:]) {
		case isTrue:
			return isFalse
		case isFalse:
			return isTrue
		}
		return depends
	}
	if len(tokens) > 2 && tokens[0].text == "(" && closing(tokens, 0) == len(tokens)-1 {
		return always(text, tokens[1:len(tokens)-1])
	}
	if sides := split(tokens, comparisonToken); len(sides) == 2 && !hasLiteralsOnly(tokens) {
		return comparedWithItself(sides, tokens[len(sides[0])].text)
	}
	if len(tokens) == 0 || !hasLiteralsOnly(tokens) {
		return depends
	}
	return evaluated(text[tokens[0].start:tokens[len(tokens)-1].end])
}

// combined is what parts make together when one of them being decisive settles it.
func combined(text string, parts [][]token, decisive, otherwise truth) truth {
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

// split cuts tokens at those of a kind that lie in no bracket.
func split(tokens []token, kind tokenKind) [][]token {
	var parts [][]token
	depth, from := 0, 0
	for i, t := range tokens {
		depth += nesting(t)
		if depth == 0 && t.kind == kind {
			parts = append(parts, tokens[from:i])
			from = i + 1
		}
	}
	return append(parts, tokens[from:])
}

func hasLiteralsOnly(tokens []token) bool {
	for _, t := range tokens {
		if isName(t) && t.text != "nil" || t.kind == unknownToken {
			return false
		}
	}
	return true
}

func comparedWithItself(sides [][]token, operator string) truth {
	if len(sides[0]) != len(sides[1]) {
		return depends
	}
	for i, t := range sides[0] {
		if t.text != sides[1][i].text {
			return depends
		}
	}
	for _, name := range names(sides[0]) {
		if name.called {
			return depends // Now() and UUID() differ from call to call
		}
	}
	switch operator {
	case "==":
		return isTrue
	case "!=":
		return isFalse
	}
	return depends // of a value that has no order, none of the others holds
}

// evaluated is what OTTL makes of a condition of literals.
func evaluated(condition string) truth {
	parser, err := ottllog.NewParser(
		ottlfuncs.StandardConverters[ottllog.TransformContext](), component.TelemetrySettings{Logger: zap.NewNop()})
	if err != nil {
		return depends
	}
	parsed, err := parser.ParseCondition(condition)
	if err != nil {
		return depends
	}
	resource := plog.NewLogs().ResourceLogs().AppendEmpty()
	scope := resource.ScopeLogs().AppendEmpty()
	record := scope.LogRecords().AppendEmpty()
	outcome, err := parsed.Eval(
		context.Background(), ottllog.NewTransformContext(record, scope.Scope(), resource.Resource(), scope, resource))
	switch {
	case err != nil:
		return depends
	case outcome:
		return isTrue
	}
	return isFalse
}
