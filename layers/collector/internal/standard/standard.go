// Package standard parses an OTTL expression with the standard functions of pkg/ottl, without a component.
package standard

import (
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/ottlfuncs"
	"go.opentelemetry.io/collector/component"
	"go.uber.org/zap"
)

// NewParser makes the parser of a context.
type NewParser[K any] func(
	map[string]ottl.Factory[K], component.TelemetrySettings, ...ottl.Option[K],
) (ottl.Parser[K], error)

// Parse returns the parser's error for an expression. Its kind is `condition`, `statement` or `value_expression`.
func Parse[K any](kind, text string, parserOf NewParser[K]) error {
	functions := ottlfuncs.StandardConverters[K]()
	if kind != "condition" {
		functions = ottlfuncs.StandardFuncs[K]()
	}
	parser, err := parserOf(functions, component.TelemetrySettings{Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	switch kind {
	case "statement":
		_, err = parser.ParseStatement(text)
	case "value_expression":
		_, err = parser.ParseValueExpression(text)
	default:
		_, err = parser.ParseCondition(text)
	}
	return err
}
