package policies

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/headgate/headgate/layers/collector/internal/decoded"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/validate"
)

// Example is a configuration, and whether it breaks the rule.
type Example struct {
	YAML     string `json:"yaml"`
	Violated bool   `json:"violated"`
}

// RulesResult is the answer to `policy_rules`.
type RulesResult struct {
	Rules []RuleResult `json:"rules"`
}

// RuleResult says why a rule cannot be used, nil if it can, and what its examples came to.
type RuleResult struct {
	Name     string          `json:"name"`
	Error    *string         `json:"error"`
	Examples []ExampleResult `json:"examples"`
}

// ExampleResult says whether an example breaks the rule. Error is nil, or why that is not known.
type ExampleResult struct {
	Violated   bool    `json:"violated"`
	AsExpected bool    `json:"as_expected"`
	Error      *string `json:"error"`
}

// Limits on the examples of a request: each is read as a configuration of its own.
const (
	maxExamples    = 10
	maxExampleYAML = 64 << 10
)

// HandleRules answers `policy_rules {rules: [{..., examples: [{yaml, violated}]}]}` with a RulesResult.
func HandleRules(ctx context.Context, env *operation.Environment, raw json.RawMessage) (any, error) {
	var request struct {
		Rules []struct {
			Rule
			Examples []Example `json:"examples"`
		} `json:"rules"`
	}
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, operation.BadRequest("policy_rules takes rules: %v", err)
	}
	if len(request.Rules) > maxRules {
		return nil, operation.BadRequest("at most %d rules are checked per request", maxRules)
	}
	ctx, cancel := context.WithTimeout(ctx, rulesTime)
	defer cancel()
	result := RulesResult{Rules: []RuleResult{}}
	names := map[string]bool{}
	for _, rule := range request.Rules {
		one := RuleResult{Name: rule.Name, Examples: []ExampleResult{}}
		err := rule.check()
		if err == nil && names[rule.Name] {
			err = fmt.Errorf("name: another rule has the name %s", rule.Name)
		}
		if err == nil {
			_, err = compile(rule.Expression)
		}
		if err == nil && len(rule.Examples) > maxExamples {
			err = fmt.Errorf("examples: a rule has at most %d", maxExamples)
		}
		names[rule.Name] = true
		if err != nil {
			one.Error = told(err)
		} else {
			for _, example := range rule.Examples {
				one.Examples = append(one.Examples, example.run(ctx, env, rule.Rule))
			}
		}
		result.Rules = append(result.Rules, one)
	}
	return result, nil
}

func (e Example) run(ctx context.Context, env *operation.Environment, rule Rule) ExampleResult {
	violated, err := e.violates(ctx, env, rule)
	if err != nil {
		return ExampleResult{Error: told(err)}
	}
	return ExampleResult{Violated: violated, AsExpected: violated == e.Violated}
}

func (e Example) violates(ctx context.Context, env *operation.Environment, rule Rule) (bool, error) {
	if len(e.YAML) > maxExampleYAML {
		return false, fmt.Errorf("yaml: it has %d bytes; the limit for an example is %d", len(e.YAML), maxExampleYAML)
	}
	if ctx.Err() != nil {
		return false, fmt.Errorf("it was not evaluated: the examples before it took more than %v", rulesTime)
	}
	c, err := read(ctx, env, validate.NewReading(validate.Request{YAML: e.YAML}))
	if refused := (*operation.Error)(nil); errors.As(err, &refused) {
		return false, fmt.Errorf("yaml: %s", refused.Message)
	}
	if err != nil {
		return false, err
	}
	violations, err := evaluateOne(ctx, c, rule)
	return len(violations) > 0, err
}

func told(err error) *string {
	text := decoded.Shortened(err.Error(), maxMessage)
	return &text
}
