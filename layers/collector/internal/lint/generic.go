package lint

import (
	"fmt"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottldatapoint"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottllog"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlmetric"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlprofile"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlprofilesample"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlresource"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlscope"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlspan"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlspanevent"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/ottlfuncs"
	"go.opentelemetry.io/collector/component"
	"go.uber.org/zap"
)

// contexts lists the contexts of the grammar.
var contexts = []string{
	ottlresource.ContextName, ottlscope.ContextName, ottllog.ContextName, ottlspan.ContextName,
	ottlspanevent.ContextName, ottlmetric.ContextName, ottldatapoint.ContextName, ottlprofile.ContextName,
	ottlprofilesample.ContextName,
}

// parse parses an expression with the standard functions, without a component.
func parse(context string, kind Kind, text string) error {
	switch context {
	case ottlresource.ContextName:
		return parseWith(kind, text, ottlresource.NewParser)
	case ottlscope.ContextName:
		return parseWith(kind, text, ottlscope.NewParser)
	case ottllog.ContextName:
		return parseWith(kind, text, ottllog.NewParser)
	case ottlspan.ContextName:
		return parseWith(kind, text, ottlspan.NewParser)
	case ottlspanevent.ContextName:
		return parseWith(kind, text, ottlspanevent.NewParser)
	case ottlmetric.ContextName:
		return parseWith(kind, text, ottlmetric.NewParser)
	case ottldatapoint.ContextName:
		return parseWith(kind, text, ottldatapoint.NewParser)
	case ottlprofile.ContextName:
		return parseWith(kind, text, ottlprofile.NewParser)
	case ottlprofilesample.ContextName:
		return parseWith(kind, text, ottlprofilesample.NewParser)
	}
	return fmt.Errorf("no parser for the context %q", context)
}

type newParser[K any] func(
	map[string]ottl.Factory[K], component.TelemetrySettings, ...ottl.Option[K],
) (ottl.Parser[K], error)

func parseWith[K any](kind Kind, text string, parserOf newParser[K]) error {
	functions := ottlfuncs.StandardConverters[K]()
	if kind != Condition {
		functions = ottlfuncs.StandardFuncs[K]()
	}
	parser, err := parserOf(functions, component.TelemetrySettings{Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	switch kind {
	case Statement:
		_, err = parser.ParseStatement(text)
	case ValueExpression:
		_, err = parser.ParseValueExpression(text)
	default:
		_, err = parser.ParseCondition(text)
	}
	return err
}
