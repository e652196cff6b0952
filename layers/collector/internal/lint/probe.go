package lint

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/headgate/headgate/layers/collector/generation"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pipeline"
	"go.opentelemetry.io/collector/pipeline/xpipeline"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/xprocessor"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/zap"
)

// probe returns the component's error for these expressions. It decodes and validates a configuration that holds only
// them and what the component requires, and creates or starts the component if it reads them only then.
func (l *linter) probe(c ottlComponent, expressions []*expression) error {
	if c.parse != nil {
		for _, e := range expressions {
			if err := c.parse(e); err != nil {
				return err
			}
		}
		return nil
	}
	factory := factoryOf(l.factories, c)
	if factory == nil {
		return fmt.Errorf("%s is not in this build", c.id())
	}
	config, err := decode(factory, configuration(c, expressions))
	if err != nil {
		return err
	}
	if err := generation.Validate(config); err != nil {
		return err
	}
	for _, signal := range creations(expressions) {
		created, err := create(l.ctx, factory, config, signal, zap.NewNop())
		if err != nil {
			return err
		}
		if !c.start {
			continue
		}
		err = created.Start(l.ctx, noExtensions{})
		if err = errors.Join(err, created.Shutdown(l.ctx)); err != nil {
			return err
		}
	}
	return nil
}

// creations returns the signals for which the component must be created to read the expressions.
func creations(expressions []*expression) []pipeline.Signal {
	var signals []pipeline.Signal
	for _, e := range expressions {
		if e.field.create != (pipeline.Signal{}) && !slices.Contains(signals, e.field.create) {
			signals = append(signals, e.field.create)
		}
	}
	return signals
}

func decode(factory component.Factory, plain map[string]any) (component.Config, error) {
	config := factory.CreateDefaultConfig()
	if err := confmap.NewFromStringMap(plain).Unmarshal(&config); err != nil {
		return nil, err
	}
	return config, nil
}

// factoryOf returns the component's factory, nil if it is not in this build.
func factoryOf(factories otelcol.Factories, c ottlComponent) component.Factory {
	kind, err := component.NewType(c.kind)
	if err != nil {
		return nil
	}
	return operation.FactoriesOf(c.section, factories)[kind]
}

// configuration returns a component's configuration that holds these expressions.
func configuration(c ottlComponent, expressions []*expression) map[string]any {
	root := &branch{}
	for _, e := range expressions {
		root.put(e, e.steps, e.resolved)
		for _, setting := range e.beside {
			root.put(e, setting.steps, setting.value)
		}
	}
	config, _ := root.plain().(map[string]any)
	if config == nil {
		config = map[string]any{}
	}
	if c.complete != nil {
		c.complete(config)
	}
	return config
}

// branch is a node of a configuration that is built from paths.
type branch struct {
	keys    map[string]*branch
	entries map[int]*branch
	value   any
}

func (b *branch) put(e *expression, steps []step, value any) {
	for i, next := range steps {
		var child *branch
		if next.key == "" && e.field.pattern[i] == "[]" {
			if b.entries == nil {
				b.entries = map[int]*branch{}
			}
			child = b.entries[next.index]
			if child == nil {
				child = &branch{}
				b.entries[next.index] = child
			}
		} else {
			key := next.key
			if i < len(e.field.pattern) && e.field.pattern[i] == "*" {
				key = fmt.Sprintf("key %x", key) // a name that the user chose must not change the outcome
			}
			if b.keys == nil {
				b.keys = map[string]*branch{}
			}
			child = b.keys[key]
			if child == nil {
				child = &branch{}
				b.keys[key] = child
			}
		}
		b = child
	}
	b.value = value
}

// plain returns the branch as maps and lists. Entries left out of a list leave no gap.
func (b *branch) plain() any {
	switch {
	case b.keys != nil:
		plain := map[string]any{}
		for key, child := range b.keys {
			plain[key] = child.plain()
		}
		return plain
	case b.entries != nil:
		plain := []any{}
		for _, index := range slices.Sorted(maps.Keys(b.entries)) {
			plain = append(plain, b.entries[index].plain())
		}
		return plain
	}
	return b.value
}

// create makes a processor or connector for one signal. Nothing is sent through it; a connector leads to the sink.
func create(
	ctx context.Context, factory component.Factory, config component.Config, signal pipeline.Signal, logger *zap.Logger,
) (component.Component, error) {
	id := component.NewID(factory.Type())
	telemetry := component.TelemetrySettings{
		Logger:         logger,
		TracerProvider: tracenoop.NewTracerProvider(),
		MeterProvider:  metricnoop.NewMeterProvider(),
		Resource:       pcommon.NewResource(),
	}
	switch factory := factory.(type) {
	case processor.Factory:
		return createProcessor(ctx, factory, processor.Settings{ID: id, TelemetrySettings: telemetry}, config, signal)
	case connector.Factory:
		router := connector.NewLogsRouter(map[pipeline.ID]consumer.Logs{
			sink: noLogs{}, pipeline.NewIDWithName(pipeline.SignalLogs, "other"): noLogs{},
		})
		return factory.CreateLogsToLogs(ctx, connector.Settings{ID: id, TelemetrySettings: telemetry}, config, router)
	}
	return nil, fmt.Errorf("%s cannot be created: it is neither a processor nor a connector", factory.Type())
}

func createProcessor(
	ctx context.Context, factory processor.Factory, settings processor.Settings, config component.Config,
	signal pipeline.Signal,
) (component.Component, error) {
	switch signal {
	case pipeline.SignalTraces:
		return factory.CreateTraces(ctx, settings, config, noTraces{})
	case pipeline.SignalMetrics:
		return factory.CreateMetrics(ctx, settings, config, noMetrics{})
	case pipeline.SignalLogs:
		return factory.CreateLogs(ctx, settings, config, noLogs{})
	case xpipeline.SignalProfiles:
		if profiling, able := factory.(xprocessor.Factory); able {
			return profiling.CreateProfiles(ctx, settings, config, noProfiles{})
		}
	}
	return nil, pipeline.ErrSignalNotSupported
}

// noExtensions is a host without extensions.
type noExtensions struct{}

func (noExtensions) GetExtensions() map[component.ID]component.Component { return nil }

type unchanging struct{}

func (unchanging) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

// noTraces and the like are consumers that are never sent anything.
type (
	noTraces   struct{ unchanging }
	noMetrics  struct{ unchanging }
	noLogs     struct{ unchanging }
	noProfiles struct{ unchanging }
)

func (noTraces) ConsumeTraces(context.Context, ptrace.Traces) error         { return nil }
func (noMetrics) ConsumeMetrics(context.Context, pmetric.Metrics) error     { return nil }
func (noLogs) ConsumeLogs(context.Context, plog.Logs) error                 { return nil }
func (noProfiles) ConsumeProfiles(context.Context, pprofile.Profiles) error { return nil }

var (
	_ consumer.Traces    = noTraces{}
	_ consumer.Metrics   = noMetrics{}
	_ consumer.Logs      = noLogs{}
	_ xconsumer.Profiles = noProfiles{}
	_ component.Host     = noExtensions{}
)
