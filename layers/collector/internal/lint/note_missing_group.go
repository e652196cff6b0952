package lint

import (
	"slices"
	"strconv"

	"github.com/headgate/headgate/layers/collector/internal/group"
	"github.com/headgate/headgate/layers/collector/internal/pricing"
)

// missingGroup: https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/34123
var missingGroup = &note{
	code:   "missing_group",
	wayOut: "Put the group's number in braces, $${1}text in the configuration, and use a number or name that the pattern has.",
	noted: []noteExample{
		{"log_statements", []string{`replace_pattern(log.body, "(fullName=)([^ ]+)( |$$)", "$$1xxx$$3")`}},
		{"log_statements", []string{`replace_pattern(log.body, "a", "$$1")`}},
		{"log_statements", []string{`replace_pattern(log.body, "(?P<user>\\w+)@", "$${name}@")`}},
		{"log_statements", []string{`replace_all_patterns(log.attributes, "value", "(a)b", "$$1_c")`}},
	},
	silent: []noteExample{
		{"log_statements", []string{`replace_pattern(log.body, "(a)b", "$${1}xxx")`}},
		{"log_statements", []string{`replace_pattern(log.body, "(?P<user>\\w+)@", "$${user}@")`}},
		{"log_statements", []string{`replace_all_patterns(log.attributes, "key", "(a)b", "$$1")`}},
		{"log_statements", []string{`replace_pattern(log.body, "a", "costs $$$$5")`}},
	},
	check: func(e *parsedExpression) string {
		for _, one := range calls(e.tokens) {
			at := slices.Index([]string{"replace_pattern", "replace_all_patterns"}, one.name) + 1
			if at == 0 || len(one.arguments) < at+2 {
				continue
			}
			pattern, isText := literalText(one.arguments[at])
			replacement, isTextToo := literalText(one.arguments[at+1])
			if !isText || !isTextToo {
				continue
			}
			if message := group.Missing(pattern, replacement); message != "" {
				return message
			}
		}
		return ""
	},
}

// literalText returns the value of an argument that is one text.
func literalText(tokens []pricing.Token) (string, bool) {
	if len(tokens) != 1 || tokens[0].Kind != pricing.StringToken {
		return "", false
	}
	text, err := strconv.Unquote(tokens[0].Text)
	return text, err == nil
}
