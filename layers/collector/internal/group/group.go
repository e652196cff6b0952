// Package group compares the groups that a replacement names with those of its pattern, as Go's regexp reads them.
package group

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxReferences bounds the references of a replacement that are looked at.
const maxReferences = 100

// A name is as long as possible: `$1xxx` is the group `1xxx`.
var reference = regexp.MustCompile(`\$\$|\$(?:([A-Za-z0-9_]+)|\{([^{}]*)\})`)

// Missing says which group of a replacement its pattern does not have, "" for none, or for what is not a pattern.
func Missing(pattern, replacement string) string {
	if !strings.Contains(replacement, "$") {
		return ""
	}
	expression, err := regexp.Compile(pattern)
	if err != nil {
		return ""
	}
	for _, match := range reference.FindAllStringSubmatch(replacement, maxReferences) {
		if name := match[1] + match[2]; name != "" && !has(expression, name) {
			return fmt.Sprintf("%s names the group %q, which the pattern does not have: nothing is put in its place", match[0], name)
		}
	}
	return ""
}

func has(expression *regexp.Regexp, name string) bool {
	if number, err := strconv.Atoi(name); err == nil {
		return number <= expression.NumSubexp()
	}
	return slices.Contains(expression.SubexpNames(), strings.TrimSpace(name))
}
