package mutants

import (
	"fmt"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/pricing"
	"go.yaml.in/yaml/v3"
)

// noticingStatement tells what would notice that a statement is missing.
func noticingStatement(text string) string {
	tokens := pricing.Tokenize(text)
	if where := whereIn(tokens); where > 0 {
		tokens = tokens[:where]
	}
	names := pricing.Names(tokens)
	if len(names) == 0 || !names[0].Called {
		return "a rule on what the statement changes"
	}
	arguments := argumentsOf(text, tokens, names[0].After)
	switch function := names[0].Text; {
	case function == "set" && len(arguments) == 2 && isLiteral(arguments[1]):
		return fmt.Sprintf("a rule such as %s == %s", shortened(arguments[0]), shortened(arguments[1]))
	case function == "set" && len(arguments) == 2:
		return fmt.Sprintf("a rule on the value of %s", shortened(arguments[0]))
	case function == "delete_key" && len(arguments) == 2:
		return fmt.Sprintf("a rule such as %s[%s] != nil with expect: none", shortened(arguments[0]), shortened(arguments[1]))
	case function == "replace_pattern" && len(arguments) >= 2:
		return fmt.Sprintf("a rule such as IsMatch(%s, %s) with expect: none", shortened(arguments[0]), shortened(arguments[1]))
	case len(arguments) > 0:
		return fmt.Sprintf("a rule on what %s changes in %s", function, shortened(arguments[0]))
	}
	return fmt.Sprintf("a rule on what %s changes", shortened(names[0].Text))
}

// argumentsOf are the texts between the commas of a call whose bracket opens at that token.
func argumentsOf(text string, tokens []pricing.Token, open int) []string {
	closing := pricing.Closing(tokens, open)
	if closing >= len(tokens) {
		return nil
	}
	var arguments []string
	depth, start := 0, tokens[open].End
	for i := open + 1; i <= closing; i++ {
		if i == closing || depth == 0 && tokens[i].Text == "," {
			if argument := strings.TrimSpace(text[start:tokens[i].Start]); argument != "" {
				arguments = append(arguments, argument)
			}
			start = tokens[i].End
		}
		depth += pricing.Nesting(tokens[i])
	}
	return arguments
}

// isLiteral tells whether an argument is one text, number, enum or boolean, rather than a path or a call.
func isLiteral(argument string) bool {
	tokens := pricing.Tokenize(argument)
	if len(tokens) != 1 {
		return false
	}
	switch tokens[0].Kind {
	case pricing.StringToken, pricing.IntToken, pricing.FloatToken, pricing.BooleanToken, pricing.UpperToken:
		return true
	}
	return false
}

// noticingCondition tells what would notice that a condition is missing.
func (p *part) noticingCondition(condition string) string {
	switch {
	case p.kind == "filter":
		return fmt.Sprintf("a record for which it holds, and a rule such as %s with expect: none", shortened(condition))
	default:
		return fmt.Sprintf("a record for which %s does not hold, and a rule on what becomes of it", shortened(condition))
	}
}

// noticingAction tells what would notice that an action of an attributes or resource processor is missing.
func (p *part) noticingAction(action *yaml.Node) string {
	path := "attributes"
	if p.kind == "resource" {
		path = "resource.attributes"
	}
	key, value := textAt(action, "key"), textAt(action, "value")
	switch {
	case key == "":
		return "a rule on what the action changes"
	case strings.HasPrefix(textAt(action, "action"), "delete"):
		return fmt.Sprintf("a rule such as %s[%q] != nil with expect: none", path, shortened(key))
	case value != "" && !strings.Contains(value, "${"):
		return fmt.Sprintf("a rule such as %s[%q] == %q", path, shortened(key), shortened(value))
	}
	return fmt.Sprintf("a rule on the value of %s[%q]", path, shortened(key))
}

// noticingProcessor tells what would notice that a processor is missing.
func (f *finder) noticingProcessor(id string) string {
	switch typeOf(id) {
	case "filter", "tail_sampling", "probabilistic_sampler", "logdedup":
		return "a record that it drops, and a rule that counts what is left"
	case "k8sattributes", "resourcedetection", "geoip":
		return "a stand-in for it in the test, and a rule on what that adds"
	}
	return "a rule on what it changes"
}
