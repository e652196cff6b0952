package rules

import (
	"fmt"
	"regexp"
	"strings"
)

// Values of different types are just not equal in OTTL, so a rule that compares them passes or fails without a word about
// it.

const (
	pathPattern    = `[a-z_][a-z0-9_.]*(?:\[(?:"(?:[^"\\]|\\.)*"|\d+)\])*`
	literalPattern = `"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?`
	signPattern    = `==|!=|<=|>=|<|>`
	// mostComparisons bounds the comparisons of one rule that are looked at.
	mostComparisons = 4
)

// comparing matches a path and a literal in either order; the last alternative skips other texts in quotes.
var comparing = regexp.MustCompile(fmt.Sprintf(
	`(%[1]s)\s*(?:%[3]s)\s*(%[2]s)|(%[2]s)\s*(?:%[3]s)\s*(%[1]s)|"(?:[^"\\]|\\.)*"`, pathPattern, literalPattern, signPattern))

// Comparison is a comparison of a path with a text or a number in a rule.
type Comparison struct {
	Path, Literal string
	// Mixed is the rule that matches items on which the path has a value of the other type.
	Mixed Rule
}

// ComparisonsIn returns the comparisons of a rule.
func ComparisonsIn(rule Rule) []Comparison {
	var found []Comparison
	for _, match := range comparing.FindAllStringSubmatch(rule.Condition, -1) {
		path, literal := match[1]+match[4], match[2]+match[3]
		if path == "" || len(found) == mostComparisons {
			continue
		}
		mixed := fmt.Sprintf("IsString(%s)", path)
		if strings.HasPrefix(literal, `"`) {
			mixed = fmt.Sprintf("IsInt(%s) or IsDouble(%s)", path, path)
		}
		found = append(found, Comparison{path, literal, Rule{Context: rule.Context, Condition: mixed}})
	}
	return found
}

// Note tells of a comparison that was between different types on some items.
func (c Comparison) Note(items string) string {
	if strings.HasPrefix(c.Literal, `"`) {
		return fmt.Sprintf("it compares %s with the text %s, but the value is a number on %s; a number never equals a text: "+
			"leave out the quotes", c.Path, shortened(c.Literal), items)
	}
	return fmt.Sprintf("it compares %s with the number %s, but the value is a text on %s; a text never equals a number: "+
		"put the number into quotes, or use Int(%s)", c.Path, c.Literal, items, c.Path)
}

func shortened(literal string) string {
	const longest = 60
	if runes := []rune(literal); len(runes) > longest {
		return string(runes[:longest]) + `…"`
	}
	return literal
}
