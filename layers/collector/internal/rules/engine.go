package rules

import (
	"fmt"

	"github.com/headgate/headgate/layers/collector/generation"
	"github.com/headgate/headgate/layers/collector/internal/pricing"
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
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/filterprocessor"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/metric/noop"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/zap"
)

// engine is a parser for every context. A path may carry its context's name (`log.body`) or not (`body`).
type engine struct {
	parsers *ottl.ParserCollection[Condition]
}

func newEngine() (*engine, error) {
	settings := component.TelemetrySettings{
		Logger:         zap.NewNop(),
		TracerProvider: tracenoop.NewTracerProvider(),
		MeterProvider:  noop.NewMeterProvider(),
	}
	// The functions are those of the filter processor, so that a condition means the same in both. It has none for scopes and samples of profiles.
	parsers, err := ottl.NewParserCollection(settings,
		with(settings, ottlresource.ContextName, filterprocessor.DefaultResourceFunctions(),
			ottlresource.NewParser, ottlresource.EnablePathContextNames(),
			func(c *ottl.Condition[generation.Resource]) Condition { return resourceCondition{c} }),
		with(settings, ottlscope.ContextName, standardFunctions[generation.Scope](),
			ottlscope.NewParser, ottlscope.EnablePathContextNames(),
			func(c *ottl.Condition[generation.Scope]) Condition { return scopeCondition{c} }),
		with(settings, ottllog.ContextName, filterprocessor.DefaultLogFunctions(),
			ottllog.NewParser, ottllog.EnablePathContextNames(),
			func(c *ottl.Condition[generation.Log]) Condition { return logCondition{condition: c} }),
		with(settings, ottlspan.ContextName, filterprocessor.DefaultSpanFunctions(),
			ottlspan.NewParser, ottlspan.EnablePathContextNames(),
			func(c *ottl.Condition[generation.Span]) Condition { return spanCondition{condition: c} }),
		with(settings, ottlspanevent.ContextName, filterprocessor.DefaultSpanEventFunctions(),
			ottlspanevent.NewParser, ottlspanevent.EnablePathContextNames(),
			func(c *ottl.Condition[generation.SpanEvent]) Condition {
				return spanEventCondition{condition: c}
			}),
		with(settings, ottlmetric.ContextName, filterprocessor.DefaultMetricFunctions(),
			ottlmetric.NewParser, ottlmetric.EnablePathContextNames(),
			func(c *ottl.Condition[generation.Metric]) Condition { return metricCondition{condition: c} }),
		with(settings, ottldatapoint.ContextName, filterprocessor.DefaultDataPointFunctions(),
			ottldatapoint.NewParser, ottldatapoint.EnablePathContextNames(),
			func(c *ottl.Condition[generation.DataPoint]) Condition {
				return dataPointCondition{condition: c}
			}),
		with(settings, ottlprofile.ContextName, filterprocessor.DefaultProfileFunctions(),
			ottlprofile.NewParser, ottlprofile.EnablePathContextNames(),
			func(c *ottl.Condition[generation.Profile]) Condition { return profileCondition{condition: c} }),
		with(settings, ottlprofilesample.ContextName, standardFunctions[generation.ProfileSample](),
			ottlprofilesample.NewParser, ottlprofilesample.EnablePathContextNames(),
			func(c *ottl.Condition[generation.ProfileSample]) Condition {
				return profileSampleCondition{condition: c}
			}),
	)
	if err != nil {
		return nil, fmt.Errorf("setting up the OTTL parsers: %w", err)
	}
	return &engine{parsers}, nil
}

type newParser[K any] func(map[string]ottl.Factory[K], component.TelemetrySettings, ...ottl.Option[K]) (ottl.Parser[K], error)

// with adds the parser of one context and the conversion of its compiled conditions to Condition.
func with[K any](
	settings component.TelemetrySettings, context string, functions []ottl.Factory[K], parser newParser[K],
	pathNames ottl.Option[K], wrap func(*ottl.Condition[K]) Condition,
) ottl.ParserCollectionOption[Condition] {
	return func(collection *ottl.ParserCollection[Condition]) error {
		made, err := parser(ottl.CreateFactoryMap(functions...), settings, pathNames)
		if err != nil {
			return err
		}
		converter := func(
			_ *ottl.ParserCollection[Condition], _ ottl.ConditionsGetter, parsed []*ottl.Condition[K],
		) (Condition, error) {
			return wrap(parsed[0]), nil
		}
		return ottl.WithParserCollectionContext(context, &made, ottl.WithConditionConverter(converter))(collection)
	}
}

func standardFunctions[K any]() []ottl.Factory[K] {
	var functions []ottl.Factory[K]
	for _, factory := range ottlfuncs.StandardConverters[K]() {
		functions = append(functions, factory)
	}
	return functions
}

func (e *engine) compile(context, condition string) (Condition, error) {
	if _, reason := pricing.Expression(condition, pricing.Condition); reason != nil {
		return nil, reason
	}
	if context == ComponentError {
		of, err := e.compile(ottllog.ContextName, condition)
		if err != nil {
			return nil, err
		}
		return complaintCondition{of: of}, nil
	}
	return e.parsers.ParseConditionsWithContext(context, ottl.NewConditionsGetter([]string{condition}), true)
}
