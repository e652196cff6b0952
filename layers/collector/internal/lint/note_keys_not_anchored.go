package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var keysNotAnchored = &note{
	code:   "keys_not_anchored",
	wayOut: "Write ^(a|b)$ for keys that are equal to one of these, or .*(a|b).* for keys that contain one.",
	noted: []noteExample{
		{"log_statements", []string{`keep_matching_keys(log.attributes, "http.method|http.url")`}},
		{"log_statements", []string{`delete_matching_keys(resource.attributes, "process.pid|process.owner|host.id")`}},
		{"log_statements", []string{`keep_matching_keys(log.attributes, "^user.id|user.name$")`}},
		{"log_statements", []string{`delete_matching_keys(log.attributes, "(password|token)")`}},
		{"log_statements", []string{`keep_matching_keys(log.attributes, "(?:service.name|host.name)")`}},
	},
	silent: []noteExample{
		{"log_statements", []string{`keep_matching_keys(log.attributes, "^(http.method|http.url)$")`}},
		{"log_statements", []string{`delete_matching_keys(log.attributes, "^k8s\\.")`}},
		{"log_statements", []string{`delete_matching_keys(log.attributes, "(?i).*password.*")`}},
		{"log_statements", []string{`keep_matching_keys(log.attributes, "^a$|^b$")`}},
	},
	check: func(e *parsedExpression) string {
		for _, one := range calls(e.tokens) {
			if one.name != "keep_matching_keys" && one.name != "delete_matching_keys" || len(one.arguments) < 2 {
				continue
			}
			pattern, isText := literalText(one.arguments[1])
			if !isText || !keyList.MatchString(pattern) {
				continue
			}
			alternatives := strings.Split(strings.Trim(strings.Replace(pattern, "(?:", "", 1), "()"), "|")
			open := slices.DeleteFunc(alternatives, func(key string) bool {
				return strings.HasPrefix(key, "^") && strings.HasSuffix(key, "$")
			})
			if len(open) > 0 {
				return fmt.Sprintf("the pattern matches every key that contains %s, not only the key itself", strings.Trim(open[0], "^$"))
			}
		}
		return ""
	},
}

// keyList matches a pattern that is a list of keys: names joined by `|`.
var keyList = regexp.MustCompile(`^(?:\((?:\?:)?)?\^?\w[\w.\\/-]*\$?(?:\|\^?\w[\w.\\/-]*\$?)+\)?$`)
