package policies

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/headgate/headgate/layers/collector/internal/decoded"
)

// Rule is an organization's own policy: a CEL expression over a configuration that is true, or a list of component paths
// that is not empty, where the configuration breaks the rule. Name is the code of its findings.
type Rule struct {
	Name         string   `json:"name"`
	Expression   string   `json:"expression"`
	Message      string   `json:"message"`
	Severity     Severity `json:"severity"`
	Suppressible bool     `json:"suppressible"`
}

// FailedRule is a rule that could not be evaluated, and why. Nothing is known of what it would have found.
type FailedRule struct {
	Name  string `json:"name"`
	Error string `json:"error"`
}

// Limits on the rules of a request. Their time is a bound on what the cost limit does not see; it is far above what an
// expression within the cost limit takes.
const (
	maxRules      = 100
	maxExpression = 4_000
	maxPaths      = 20
	ruleTime      = time.Second
	rulesTime     = 3 * time.Second
)

// evaluate adds what the rules find, and returns those that could not be evaluated.
func evaluate(ctx context.Context, c *configuration, rules []Rule, list *[]Finding) []FailedRule {
	failed := []FailedRule{}
	if len(rules) == 0 {
		return failed
	}
	ctx, cancel := context.WithTimeout(ctx, rulesTime)
	defer cancel()
	hide := decoded.Hiding(c.plain)
	for _, rule := range rules {
		violations, err := evaluateOne(ctx, c, rule)
		if err != nil {
			// CEL's errors repeat values, which may be secrets.
			failed = append(failed, FailedRule{rule.Name, decoded.Shortened(hide.Replace(err.Error()), maxMessage)})
			continue
		}
		found := &findings{document: c.document, code: rule.Name, severity: rule.Severity, most: maxPaths, list: list}
		for _, path := range violations {
			if path == nil {
				found.atPosition(nil, c.document.Start(), rule.Message)
				continue
			}
			found.at(path, "%s", rule.Message)
		}
	}
	return failed
}

// evaluateOne returns the paths at which a configuration breaks a rule, nil for a rule that is broken as a whole.
func evaluateOne(ctx context.Context, c *configuration, rule Rule) ([][]string, error) {
	if err := rule.check(); err != nil {
		return nil, err
	}
	compiled, err := compile(rule.Expression)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("it was not evaluated: the rules before it took more than %v", rulesTime)
	}
	ctx, cancel := context.WithTimeout(ctx, ruleTime)
	defer cancel()
	value, err := compiled.evaluate(ctx, c)
	if err != nil {
		return nil, err
	}
	switch result := value.(type) {
	case bool:
		if result {
			return [][]string{nil}, nil
		}
		return nil, nil
	case []string:
		return c.existing(result)
	default:
		return nil, fmt.Errorf("the expression must give true, false or a list of component paths")
	}
}

// existing splits paths. A text that is not a path of the configuration is an error: it may be any value of it.
func (c *configuration) existing(paths []string) ([][]string, error) {
	var found [][]string
	slices.Sort(paths)
	paths = slices.Compact(paths)
	for _, path := range paths[:min(len(paths), maxKept+1)] {
		names := strings.Split(path, separator)
		if below(c.plain, names) == nil && c.document.Node(names...) == nil {
			return nil, fmt.Errorf("the expression gives a text that is not a component path of the configuration; " +
				"give paths such as c.path of components, or p.path of pipelines")
		}
		found = append(found, names)
	}
	return found, nil
}

var ruleName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)

// check returns what is wrong with a rule apart from its expression.
func (r Rule) check() error {
	switch {
	case !ruleName.MatchString(r.Name):
		return fmt.Errorf("name: it must be 1 to 64 lowercase letters, digits, _ or -, and begin with a letter")
	case slices.ContainsFunc(all, func(policy *Policy) bool { return policy.Code == r.Name }):
		return fmt.Errorf("name: %s is the code of a built-in policy; choose another name", r.Name)
	case strings.TrimSpace(r.Message) == "":
		return fmt.Errorf("message: it is empty; say what is wrong and what to do")
	case !slices.Contains([]Severity{Error, Warning, Information}, r.Severity):
		return fmt.Errorf("severity: it must be error, warning or info")
	}
	return nil
}
