// Package rules compiles the conditions of validation rules with the collector's OTTL engine.
package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Rule is a condition on a pipeline's output, and how many items must meet it.
type Rule struct {
	Name      string `json:"name"`
	Context   string `json:"context"`
	Condition string `json:"condition"`
	Expect    string `json:"expect"`
	Min       *int   `json:"min"`
	Max       *int   `json:"max"`
}

// The values of Rule.Expect.
const (
	ExpectAny   = "any"
	ExpectAll   = "all"
	ExpectNone  = "none"
	ExpectCount = "count"
)

// Refusal is a rule that the engine does not accept: its index in the list and the parser's message.
type Refusal struct {
	Index   int    `json:"index"`
	Field   string `json:"field"`
	Message string `json:"message"`
}

var contextsOf = map[string][]string{
	"logs":     {"log"},
	"traces":   {"span", "spanevent"},
	"metrics":  {"metric", "datapoint"},
	"profiles": {"profile", "profilesample"},
}

// ComponentError is the context of conditions on what components complained of in the collector's log. To a condition each
// is a log record: its body is the message, its attributes are component and count.
const ComponentError = "component_error"

// ErrUnknownSignal is for a signal other than logs, traces, metrics and profiles.
var ErrUnknownSignal = errors.New("unknown signal")

// Contexts returns the contexts that conditions on telemetry of these signals may have.
func Contexts(signals []string) ([]string, error) {
	contexts := []string{"resource", "scope", ComponentError}
	for _, signal := range signals {
		own, known := contextsOf[signal]
		if !known {
			return nil, fmt.Errorf("%w: %q", ErrUnknownSignal, signal)
		}
		contexts = append(contexts, own...)
	}
	return contexts, nil
}

// Compile compiles every rule and returns a refusal for each one that is not accepted. The conditions are in the order
// of the rules, nil where a rule was refused.
func Compile(signals []string, list []Rule) ([]Condition, []Refusal, error) {
	allowed, err := Contexts(signals)
	if err != nil {
		return nil, nil, err
	}
	engine, err := newEngine()
	if err != nil {
		return nil, nil, err
	}
	conditions := make([]Condition, len(list))
	var refusals []Refusal
	for i, rule := range list {
		if !slices.Contains(allowed, rule.Context) {
			refusals = append(refusals, Refusal{i, "context", fmt.Sprintf(
				"the context %q does not apply to the run's signals; use one of %s", rule.Context, strings.Join(allowed, ", "))})
			continue
		}
		condition, err := engine.compile(rule.Context, rule.Condition)
		if err != nil {
			refusals = append(refusals, Refusal{i, "condition", err.Error()})
			continue
		}
		conditions[i] = condition
	}
	return conditions, refusals, nil
}
