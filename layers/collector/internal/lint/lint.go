// Package lint checks the OTTL of a configuration, expression by expression.
//
// The verdict on an expression is that of the component it belongs to: a configuration with little more than the
// expression goes through the component's own factory, with the component's functions, contexts and way to infer them.
// This package adds the position of the expression, the token that the parser failed at, and advice.
package lint

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/pricing"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pipeline"
	"go.yaml.in/yaml/v3"
)

// maxExpressions is how many expressions one request of `lint` may hold, including skipped ones. A text that is checked as a
// whole may hold maxOfText; what they cost has a bound as well.
const (
	maxExpressions = 200
	maxOfText      = 500
)

// Kind is the kind of an expression.
type Kind = pricing.Kind

// The kinds of expression, one for each of the parser's functions.
const (
	Condition       = pricing.Condition
	Statement       = pricing.Statement
	ValueExpression = pricing.ValueExpression
)

// Request is either a configuration or expressions of one kind with their context.
type Request struct {
	YAML             *string  `json:"yaml"`
	Context          *string  `json:"context"`
	Conditions       []string `json:"conditions"`
	Statements       []string `json:"statements"`
	ValueExpressions []string `json:"value_expressions"`
}

// Location is a position in the configuration. Line and column count from 1.
type Location struct {
	Path   string `json:"path"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// Item is the verdict on one expression. Without Error, the expression is valid.
type Item struct {
	Location   Location `json:"location"`
	Context    *string  `json:"context"`
	Kind       Kind     `json:"kind"`
	Expression string   `json:"expression"`
	Error      *string  `json:"error"`
	Note       *string  `json:"note"`
	// Notes are those of note with a code and a way out.
	Notes []Note `json:"notes,omitempty"`
}

// Skipped is an expression that cannot be checked.
type Skipped struct {
	Location   Location `json:"location"`
	Expression string   `json:"expression"`
	Reason     string   `json:"reason"`
}

// Result is the answer to a Request.
type Result struct {
	Valid       bool      `json:"valid"`
	OTTLVersion string    `json:"ottl_version"`
	Checked     int       `json:"checked"`
	Items       []Item    `json:"items"`
	Skipped     []Skipped `json:"skipped"`
}

// Handle answers `lint`. Its errors are bad_request, unknown_context, yaml_syntax, too_costly and
// too_many_expressions.
func Handle(ctx context.Context, env *operation.Environment, raw json.RawMessage) (any, error) {
	var request Request
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, operation.BadRequest("reading the request: %v", err)
	}
	factories, err := env.Factories()
	if err != nil {
		return nil, fmt.Errorf("making the factories: %w", err)
	}
	l := &linter{ctx: ctx, factories: factories, env: env}
	inContext := request.Context != nil || request.Conditions != nil || request.Statements != nil ||
		request.ValueExpressions != nil
	switch {
	case request.YAML != nil && inContext:
		return nil, operation.BadRequest("a request holds either yaml or a context with expressions, not both")
	case request.YAML != nil:
		root, err := rootOf(*request.YAML)
		if err != nil {
			return nil, err
		}
		return l.configuration(*request.YAML, root, maxExpressions)
	case inContext:
		return l.inContext(request)
	}
	return nil, operation.BadRequest("a request holds either yaml or a context with expressions")
}

// expression is an expression while it is checked.
type expression struct {
	field ottlField
	// steps are the keys and indices that lead to it from the component's body.
	steps []step
	// written is the expression in the text, resolved what the component reads.
	written, resolved string
	// beside are settings next to it that decide how the component reads it.
	beside  []setting
	context string
	path    string
	// position returns the line and column of the byte at an offset of written.
	position func(offset int) (line, column int)

	err error
	// advice is what the author may have meant, note what else there is to say.
	advice, note []string
	findings     []Note
}

// step is a key, or an index where key is empty.
type step struct {
	key   string
	index int
}

type setting struct {
	steps []step
	value any
}

// kind is the kind of the expression.
func (e *expression) kind() Kind { return e.field.kind }

// group is the same for the expressions that the component reads together.
func (e *expression) group() string {
	steps := e.steps[:1] // a statement in the list itself belongs to all of them
	if len(e.steps) > 2 {
		steps = e.steps[:2]
	}
	return fmt.Sprint(steps)
}

// infers reports whether the component infers the context.
func (e *expression) infers() bool {
	return e.field.context == "" && e.field.defaultContext == "" && len(e.beside) == 0
}

// tooMany is the error of a request over the limit.
func tooMany(most int) error {
	return &operation.Error{
		Code:    "too_many_expressions",
		Message: fmt.Sprintf("at most %d expressions are linted per request", most),
	}
}

// Reading is a text that was parsed, and of which it is known what the collector has built.
type Reading interface {
	// Parsed returns the text with its root, nil if there is none. Its error says why it is not a configuration.
	Parsed(ctx context.Context) (text string, root *yaml.Node, err error)
	// Built tells whether the collector has built a component, and so has accepted all of its expressions.
	Built(section, name string) bool
	// Logged returns the messages with which the collector has created a component for a signal, nil if it has not.
	Logged(section, name string, signal pipeline.Signal) []string
	// Factories are those of the collector.
	Factories(env *operation.Environment) (otelcol.Factories, error)
}

// Judge is Handle for a configuration that was read before.
func Judge(ctx context.Context, env *operation.Environment, reading Reading) (*Result, error) {
	text, root, err := reading.Parsed(ctx)
	if err != nil {
		return nil, notYAML(err.Error())
	}
	factories, err := reading.Factories(env)
	if err != nil {
		return nil, err
	}
	l := &linter{ctx: ctx, factories: factories, env: env, read: reading}
	if root == nil {
		root = &yaml.Node{Kind: yaml.MappingNode}
	}
	return l.configuration(text, root, maxOfText)
}
