package start

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"

	"github.com/headgate/headgate/layers/collector/generation"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"go.opentelemetry.io/collector/service/telemetry"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
	"go.uber.org/zap"
)

// ownTelemetry is the own telemetry of a collector. Its providers stop at their first mistake and tell no place, so that
// each entry of their lists is built by itself.
type ownTelemetry struct {
	factory  telemetry.Factory
	settings telemetry.Settings
	// bare is the configuration without the entries of its lists.
	bare otelconftelemetry.Config
}

// telemetryPart is what is built at a path below `service::telemetry`.
type telemetryPart struct {
	path  string
	build func(context.Context) error
}

// createTelemetry builds loggers, meters and tracers of the collector's own telemetry. They listen and send nothing: the
// process can open no socket.
func (s *starter) createTelemetry(ctx context.Context, env *operation.Environment) {
	factory, config := s.plan.Telemetry()
	whole, is := config.(*otelconftelemetry.Config)
	if !is || factory == nil {
		return
	}
	own := ownTelemetry{factory: factory, bare: *whole}
	resource := telemetryPart{"resource", func(ctx context.Context) error {
		resource, err := factory.CreateResource(ctx, telemetry.Settings{BuildInfo: env.BuildInfo}, whole)
		own.settings = generation.TelemetrySettings(env.BuildInfo, resource)
		return err
	}}
	if !s.createPart(ctx, resource) {
		return
	}
	own.bare.Logs.OutputPaths, own.bare.Logs.ErrorOutputPaths, own.bare.Logs.Processors = nil, nil, nil
	own.bare.Metrics.Readers, own.bare.Metrics.Views = nil, nil
	own.bare.Traces.Propagators, own.bare.Traces.Processors = nil, nil
	for _, section := range [][]telemetryPart{own.logs(whole.Logs), own.metrics(whole.Metrics), own.traces(whole.Traces)} {
		for i, part := range section {
			if isRight := s.createPart(ctx, part); i == 0 && !isRight {
				break // all entries would fail as well
			}
		}
	}
}

// createPart builds a part, and notes what is wrong with it.
func (s *starter) createPart(ctx context.Context, part telemetryPart) (isRight bool) {
	err, ended := within(ctx, part.build)
	if ended && (err == nil || isRightListener(err)) {
		return true
	}
	path := append([]string{"service", "telemetry"}, strings.Split(part.path, "::")...)
	s.note(path, "the collector's own telemetry does not start", err, ended)
	return false
}

func (o ownTelemetry) logs(whole otelconftelemetry.LogsConfig) []telemetryPart {
	with := func(path string, set func(*otelconftelemetry.LogsConfig)) telemetryPart {
		config := o.bare
		set(&config.Logs)
		return telemetryPart{path, func(ctx context.Context) error {
			_, _, err := o.factory.CreateLogger(ctx, telemetry.LoggerSettings{Settings: o.settings}, &config)
			return err
		}}
	}
	parts := []telemetryPart{with("logs", func(*otelconftelemetry.LogsConfig) {})}
	for i, path := range whole.OutputPaths {
		parts = append(parts, with(entry("logs::output_paths", i), func(logs *otelconftelemetry.LogsConfig) {
			logs.OutputPaths = []string{path}
		}))
	}
	for i, path := range whole.ErrorOutputPaths {
		parts = append(parts, with(entry("logs::error_output_paths", i), func(logs *otelconftelemetry.LogsConfig) {
			logs.ErrorOutputPaths = []string{path}
		}))
	}
	for i := range whole.Processors {
		parts = append(parts, with(entry("logs::processors", i), func(logs *otelconftelemetry.LogsConfig) {
			logs.Processors = whole.Processors[i : i+1]
		}))
	}
	return parts
}

func (o ownTelemetry) metrics(whole otelconftelemetry.MetricsConfig) []telemetryPart {
	with := func(path string, set func(*otelconftelemetry.MetricsConfig)) telemetryPart {
		config := o.bare
		set(&config.Metrics)
		return telemetryPart{path, func(ctx context.Context) error {
			settings := telemetry.MeterSettings{Settings: o.settings, Logger: zap.NewNop()}
			_, err := o.factory.CreateMeterProvider(ctx, settings, &config)
			return err
		}}
	}
	parts := []telemetryPart{with("metrics", func(*otelconftelemetry.MetricsConfig) {})}
	for i := range whole.Readers {
		parts = append(parts, with(entry("metrics::readers", i), func(metrics *otelconftelemetry.MetricsConfig) {
			metrics.Readers = whole.Readers[i : i+1]
		}))
	}
	for i := range whole.Views {
		parts = append(parts, with(entry("metrics::views", i), func(metrics *otelconftelemetry.MetricsConfig) {
			metrics.Views = whole.Views[i : i+1]
		}))
	}
	return parts
}

func (o ownTelemetry) traces(whole otelconftelemetry.TracesConfig) []telemetryPart {
	with := func(path string, set func(*otelconftelemetry.TracesConfig)) telemetryPart {
		config := o.bare
		set(&config.Traces)
		return telemetryPart{path, func(ctx context.Context) error {
			settings := telemetry.TracerSettings{Settings: o.settings, Logger: zap.NewNop()}
			_, err := o.factory.CreateTracerProvider(ctx, settings, &config)
			return err
		}}
	}
	parts := []telemetryPart{with("traces", func(*otelconftelemetry.TracesConfig) {})}
	for i := range whole.Processors {
		parts = append(parts, with(entry("traces::processors", i), func(traces *otelconftelemetry.TracesConfig) {
			traces.Processors = whole.Processors[i : i+1]
		}))
	}
	// Later releases read propagators only beside processors.
	onlyProcessors := with("", func(traces *otelconftelemetry.TracesConfig) { traces.Processors = whole.Processors })
	for i, propagator := range whole.Propagators {
		part := with(entry("traces::propagators", i), func(traces *otelconftelemetry.TracesConfig) {
			traces.Processors, traces.Propagators = whole.Processors, []string{propagator}
		})
		parts = append(parts, telemetryPart{part.path, func(ctx context.Context) error {
			err, without := part.build(ctx), onlyProcessors.build(ctx)
			if err != nil && without != nil && err.Error() == without.Error() {
				return nil
			}
			return err
		}})
	}
	return parts
}

func entry(list string, index int) string { return list + "::" + strconv.Itoa(index) }

// isRightListener tells whether an error is only that this process may not listen where the text says: an address of its
// machine, which needs nothing of the host.
func isRightListener(err error) bool {
	var listening *net.OpError
	if !errors.As(err, &listening) || listening.Op != "listen" || errors.As(err, new(*net.AddrError)) {
		return false
	}
	var lookup *net.DNSError
	return !errors.As(err, &lookup) || lookup.Name == "localhost"
}
