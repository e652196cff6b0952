package lint

import (
	"fmt"
	"slices"

	"github.com/headgate/headgate/layers/collector/internal/pricing"
)

// noData: https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/34499
var noData = &note{
	code:   "condition_without_data",
	wayOut: "Name the field without quotes: IsMatch(span.name, …) instead of IsMatch(\"name\", …).",
	noted: []noteExample{
		{"traces.span", []string{`IsMatch("name", "^GET /health")`}},
		{"logs.log_record", []string{`IsMatch("body", "debug") and severity_number < 9`}},
		{"log_statements", []string{`set(log.attributes["a"], 1) where IsMatch("log.body", "^x")`}},
		{"logs.log_record", []string{`HasPrefix("attributes", "x") or body == "a"`}},
		{"logs.log_record", []string{`not IsString("body")`}},
		{"logs.log_record", []string{`"severity_text" == "ERROR"`}},
		{"traces.span", []string{`"attributes.http.status_code" > 400 or name == "a"`}},
		{"log_statements", []string{`set(log.attributes["a"], 1) where "log.severity_text" == "INFO"`}},
		{"traces.span", []string{`"name" != nil`}},
	},
	silent: []noteExample{
		{"traces.span", []string{`IsMatch(name, "^GET /health")`}},
		{"logs.log_record", []string{`UnixSeconds(Now()) > 0`}},
		{"logs.log_record", []string{`true`}},
		{"logs.log_record", []string{`1 == 1`}},
		{"logs.log_record", []string{`Concat(["a", body], "-") == "a-b"`}},
	},
	check: func(e *parsedExpression) string {
		_, condition := e.where()
		for _, part := range atoms(condition) {
			functions := calls(part)
			if len(paths(part)) > 0 || !hasLiteralsOnly(part) && len(functions) == 0 || slices.ContainsFunc(functions, changes) {
				continue
			}
			if !slices.ContainsFunc(part, func(t pricing.Token) bool { return t.Kind == pricing.StringToken }) {
				continue
			}
			return fmt.Sprintf("%s has the same outcome for all telemetry: a name in quotes is a text, not a field", e.textOf(part))
		}
		return ""
	},
}

// changes tells whether a function has another result with each call.
func changes(c call) bool { return slices.Contains([]string{"Now", "UUID", "UUIDv7"}, c.name) }

// atoms returns the parts of a condition that `and`, `or` and `not` combine.
func atoms(tokens []pricing.Token) [][]pricing.Token {
	for _, kind := range []pricing.TokenKind{pricing.OrToken, pricing.AndToken} {
		if parts := split(tokens, kind); len(parts) > 1 {
			var all [][]pricing.Token
			for _, part := range parts {
				all = append(all, atoms(part)...)
			}
			return all
		}
	}
	if len(tokens) > 1 && tokens[0].Kind == pricing.NotToken {
		return atoms(tokens[1:])
	}
	if len(tokens) > 2 && tokens[0].Text == "(" && pricing.Closing(tokens, 0) == len(tokens)-1 {
		return atoms(tokens[1 : len(tokens)-1])
	}
	if len(tokens) == 0 {
		return nil
	}
	return [][]pricing.Token{tokens}
}
