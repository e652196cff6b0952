package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

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
			expression, err := regexp.Compile(pattern)
			if err != nil {
				continue
			}
			for _, group := range groupsIn(replacement) {
				if !hasGroup(expression, group.name) {
					return fmt.Sprintf("%s names the group %q, which the pattern does not have: nothing is put in its place",
						group.written, group.name)
				}
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

type group struct{ written, name string }

var groupReference = regexp.MustCompile(`\$\$|\$(?:([A-Za-z0-9_]+)|\{([^{}]*)\})`)

// groupsIn returns the groups that a replacement names, read as Go's regexp does: a name is as long as possible.
func groupsIn(replacement string) []group {
	var found []group
	for _, match := range groupReference.FindAllStringSubmatch(replacement, 100) {
		if name := match[1] + match[2]; name != "" {
			found = append(found, group{match[0], name})
		}
	}
	return found
}

func hasGroup(expression *regexp.Regexp, name string) bool {
	if number, err := strconv.Atoi(name); err == nil {
		return number <= expression.NumSubexp()
	}
	return slices.Contains(expression.SubexpNames(), strings.TrimSpace(name))
}
