package lint

import (
	"fmt"

	"github.com/headgate/headgate/layers/collector/internal/pricing"
)

// exclusive: https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/34605
var exclusive = &note{
	code:   "same_for_all",
	wayOut: "Join what is to be left out with and, in a single condition: a != \"x\" and a != \"y\". The conditions of a list are joined with or.",
	noted: []noteExample{
		{"traces.span", []string{`resource.attributes["service.name"] != "a" or resource.attributes["service.name"] != "b"`}},
		{"traces.span", []string{`attributes["x"] != "a"`, `name == "y"`, `span.attributes["x"] != "b" or name == "z"`}},
		{"traces.span", []string{`name == "a" and name == "b"`}},
		{"logs.log_record", []string{`severity_number != 9 or (severity_number != 17)`}},
		{"log_statements", []string{`set(log.body, "x") where log.attributes["a"] == 1 and log.attributes["a"] == 2`}},
	},
	silent: []noteExample{
		{"traces.span", []string{`attributes["x"] != "a" and attributes["x"] != "b"`}},
		{"traces.span", []string{`attributes["x"] != "a"`, `attributes["y"] != "b"`}},
		{"traces.span", []string{`attributes["x"] != "a"`, `attributes["x"] != "a"`}},
		{"traces.span", []string{`name == "a"`, `name == "b"`}},
		{"traces.span", []string{`attributes["x"] != "a" and name == "y"`, `attributes["x"] != "b"`}},
		{"log_statements", []string{`set(log.body, "x") where log.attributes["a"] != "b"`, `set(log.body, "y") where log.attributes["a"] != "c"`}},
	},
	check: func(e *parsedExpression) string {
		_, condition := e.where()
		before := map[string]comparison{}
		if e.kind == Condition {
			for _, earlier := range e.before {
				earlier.contradiction(earlier.tokens, pricing.OrToken, "!=", before)
			}
		}
		if first, second, found := e.contradiction(condition, pricing.OrToken, "!=", before); found {
			return fmt.Sprintf("%s or %s is always true", first, second)
		}
		if first, second, found := e.contradiction(condition, pricing.AndToken, "==", map[string]comparison{}); found {
			return fmt.Sprintf("%s and %s is never true", first, second)
		}
		return ""
	},
}

// comparison has the literal that a path is compared with, and the whole comparison as it is written.
type comparison struct{ literal, text string }

// contradiction returns the first comparisons of a path with two different literals, with this operator, among the parts of
// a condition that a token joins and those seen before. It adds the comparisons to those seen.
func (e *parsedExpression) contradiction(
	condition []token, joinedBy pricing.TokenKind, operator string, seen map[string]comparison,
) (first, second string, found bool) {
	for _, part := range split(condition, joinedBy) {
		for len(part) > 2 && part[0].Text == "(" && pricing.Closing(part, 0) == len(part)-1 {
			part = part[1 : len(part)-1]
		}
		sides := split(part, pricing.ComparisonToken)
		if len(sides) != 2 || len(sides[1]) != 1 || part[len(sides[0])].Text != operator || !hasLiteralsOnly(sides[1]) || len(calls(part)) > 0 {
			continue
		}
		of := paths(sides[0])
		if len(of) != 1 || of[0] != e.textOf(sides[0]) {
			continue
		}
		path, literal := e.full(of[0]), sides[1][0].Text
		if earlier, was := seen[path]; was && earlier.literal != literal {
			return earlier.text, e.textOf(part), true
		}
		seen[path] = comparison{literal, e.textOf(part)}
	}
	return "", "", false
}
