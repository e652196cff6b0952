package trace

import (
	"context"

	"github.com/headgate/headgate/layers/collector/internal/around"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pipeline"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Around returns settings whose collector is recorded.
func (r *Recorder) Around(settings otelcol.CollectorSettings) otelcol.CollectorSettings {
	factories := settings.Factories
	settings.Factories = func() (otelcol.Factories, error) {
		made, err := factories()
		if err == nil {
			made = around.Watcher(r.watch).Watched(made)
		}
		return made, err
	}
	naming := zap.WrapCore(func(core zapcore.Core) zapcore.Core { return pipelineNaming{core, r} })
	settings.LoggingOptions = append(settings.LoggingOptions[:len(settings.LoggingOptions):len(settings.LoggingOptions)], naming)
	resolver := &settings.ConfigProviderSettings.ResolverSettings
	reading := confmap.NewConverterFactory(func(confmap.ConverterSettings) confmap.Converter { return reading{r} })
	resolver.ConverterFactories = append(resolver.ConverterFactories[:len(resolver.ConverterFactories):len(resolver.ConverterFactories)], reading)
	return settings
}

// reading reads the pipelines of the resolved configuration, and changes nothing.
type reading struct{ recorder *Recorder }

func (r reading) Convert(_ context.Context, conf *confmap.Conf) error {
	r.recorder.configured(conf.Get("service::pipelines"))
	return nil
}

// pipelineNamed is what the collector last gave a logger: before it creates a component, it makes a logger with the
// component's pipeline. The settings of a processor do not tell it otherwise.
type pipelineNamed struct{ component, pipeline string }

// pipelineNaming passes everything on, and notes which pipeline a logger is made for.
type pipelineNaming struct {
	zapcore.Core
	recorder *Recorder
}

func (n pipelineNaming) With(fields []zapcore.Field) zapcore.Core {
	read := zapcore.NewMapObjectEncoder()
	for _, field := range fields {
		field.AddTo(read)
	}
	if id, is := read.Fields["otelcol.component.id"].(string); is {
		pipeline, _ := read.Fields["otelcol.pipeline.id"].(string)
		n.recorder.mutex.Lock()
		n.recorder.pipeline = pipelineNamed{id, pipeline}
		n.recorder.mutex.Unlock()
	}
	return pipelineNaming{n.Core.With(fields), n.recorder}
}

// watch puts a recorder before and behind a component.
func (r *Recorder) watch(
	place around.Place, telemetry *component.TelemetrySettings, next any,
) (any, func(component.Component) component.Component) {
	if !recorded(place.From) || !recorded(place.To) {
		return next, func(created component.Component) component.Component { return created }
	}
	s := r.newStep(place)
	if place.Section == "processors" || place.Section == "connectors" {
		telemetry.Logger = s.listen(telemetry.Logger)
	}
	return s.behind(next, place.To), func(created component.Component) component.Component {
		if place.Section == "receivers" {
			return created
		}
		return s.before(created, place.From)
	}
}

func recorded(signal pipeline.Signal) bool {
	return signal == pipeline.SignalLogs || signal == pipeline.SignalTraces || signal == pipeline.SignalMetrics
}

// before returns a component that records what it is given. Some components could take every signal.
func (s *step) before(created component.Component, signal pipeline.Signal) component.Component {
	switch signal {
	case pipeline.SignalLogs:
		if own, is := created.(consumer.Logs); is {
			return logsBefore{created, own, s}
		}
	case pipeline.SignalTraces:
		if own, is := created.(consumer.Traces); is {
			return tracesBefore{created, own, s}
		}
	case pipeline.SignalMetrics:
		if own, is := created.(consumer.Metrics); is {
			return metricsBefore{created, own, s}
		}
	}
	return created
}

// behind returns a consumer that records what it is given and passes it on.
func (s *step) behind(next any, signal pipeline.Signal) any {
	switch signal {
	case pipeline.SignalLogs:
		if router, is := next.(connector.LogsRouterAndConsumer); is {
			return logsRouter{router, s, new(chosen[consumer.Logs])}
		}
		if own, is := next.(consumer.Logs); is {
			return &logsBehind{own, s, nil}
		}
	case pipeline.SignalTraces:
		if router, is := next.(connector.TracesRouterAndConsumer); is {
			return tracesRouter{router, s, new(chosen[consumer.Traces])}
		}
		if own, is := next.(consumer.Traces); is {
			return &tracesBehind{own, s, nil}
		}
	case pipeline.SignalMetrics:
		if router, is := next.(connector.MetricsRouterAndConsumer); is {
			return metricsRouter{router, s, new(chosen[consumer.Metrics])}
		}
		if own, is := next.(consumer.Metrics); is {
			return &metricsBehind{own, s, nil}
		}
	}
	return next
}

func names(pipelines []pipeline.ID) []string {
	all := make([]string, len(pipelines))
	for i, id := range pipelines {
		all[i] = id.String()
	}
	return all
}
