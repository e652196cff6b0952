package lint

import (
	"fmt"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/pricing"
)

var keyLiteral = &note{
	code:   "key_with_star",
	wayOut: "Use delete_matching_keys or keep_matching_keys, which take a regular expression: \"^http\\\\.request\\\\.header\\\\.\".",
	noted: []noteExample{
		{"trace_statements", []string{`delete_key(span.attributes, "http.request.header.*")`}},
		{"log_statements", []string{`keep_keys(log.attributes, ["service.name", "k8s.*"])`}},
	},
	silent: []noteExample{
		{"trace_statements", []string{`delete_key(span.attributes, "http.request.header")`}},
		{"trace_statements", []string{`delete_matching_keys(span.attributes, "http.request.header.*")`}},
		{"log_statements", []string{`keep_keys(log.attributes, ["service.name"]) where log.body == "*"`}},
	},
	check: func(e *parsedExpression) string {
		for _, one := range calls(e.tokens) {
			if one.name != "delete_key" && one.name != "keep_keys" || len(one.arguments) < 2 {
				continue
			}
			for _, t := range one.arguments[1] {
				if t.Kind == pricing.StringToken && strings.Contains(t.Text, "*") {
					return fmt.Sprintf("%s takes keys as they stand, and no key is called %s", one.name, t.Text)
				}
			}
		}
		return ""
	},
}
