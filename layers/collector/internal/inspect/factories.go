package inspect

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/connector/xconnector"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/xexporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/xprocessor"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/xreceiver"
)

// recorded returns factories that do what these do, and give each pipeline component a logger that is recorded.
//
// The collector's dry run builds with a logger that drops everything, and offers no other. So the components are built
// by the collector itself, in its own order and with the consumers that they get there.
func (r *recorder) recorded(factories otelcol.Factories) otelcol.Factories {
	factories.Receivers = wrapped(factories.Receivers, r.receiver)
	factories.Processors = wrapped(factories.Processors, r.processor)
	factories.Exporters = wrapped(factories.Exporters, r.exporter)
	factories.Connectors = wrapped(factories.Connectors, r.connector)
	return factories
}

// wrapped wraps each factory under the name at which it stands, which may be a deprecated one: a factory creates only
// what has its own type or alias, and the one inside has the alias.
func wrapped[F any](factories map[component.Type]F, wrap func(component.Type, F) F) map[component.Type]F {
	all := make(map[component.Type]F, len(factories))
	for kind, factory := range factories {
		all[kind] = wrap(kind, factory)
	}
	return all
}

// recording creates what `create` does, with settings that `observe` has given a logger.
func recording[S, N any, C component.Component](
	r *recorder, observe func(*S), create func(context.Context, S, component.Config, N) (C, error),
) func(context.Context, S, component.Config, N) (C, error) {
	return func(ctx context.Context, set S, config component.Config, next N) (C, error) {
		observe(&set)
		created, err := create(ctx, set, config, next)
		return built(r, created, err)
	}
}

func (r *recorder) receiver(kind component.Type, factory receiver.Factory) receiver.Factory {
	observe := func(set *receiver.Settings) { r.observe("receivers", set.ID, &set.TelemetrySettings) }
	options := []xreceiver.FactoryOption{
		xreceiver.WithTraces(recording(r, observe, factory.CreateTraces), factory.TracesStability()),
		xreceiver.WithMetrics(recording(r, observe, factory.CreateMetrics), factory.MetricsStability()),
		xreceiver.WithLogs(recording(r, observe, factory.CreateLogs), factory.LogsStability()),
	}
	if profiling, able := factory.(xreceiver.Factory); able {
		options = append(options,
			xreceiver.WithProfiles(recording(r, observe, profiling.CreateProfiles), profiling.ProfilesStability()))
	}
	return xreceiver.NewFactory(kind, factory.CreateDefaultConfig, options...)
}

func (r *recorder) processor(kind component.Type, factory processor.Factory) processor.Factory {
	observe := func(set *processor.Settings) { r.observe("processors", set.ID, &set.TelemetrySettings) }
	options := []xprocessor.FactoryOption{
		xprocessor.WithTraces(recording(r, observe, factory.CreateTraces), factory.TracesStability()),
		xprocessor.WithMetrics(recording(r, observe, factory.CreateMetrics), factory.MetricsStability()),
		xprocessor.WithLogs(recording(r, observe, factory.CreateLogs), factory.LogsStability()),
	}
	if profiling, able := factory.(xprocessor.Factory); able {
		options = append(options,
			xprocessor.WithProfiles(recording(r, observe, profiling.CreateProfiles), profiling.ProfilesStability()))
	}
	return xprocessor.NewFactory(kind, factory.CreateDefaultConfig, options...)
}

// recordingLast is recording for what has no next consumer.
func recordingLast[S any, C component.Component](
	r *recorder, observe func(*S), create func(context.Context, S, component.Config) (C, error),
) func(context.Context, S, component.Config) (C, error) {
	return func(ctx context.Context, set S, config component.Config) (C, error) {
		observe(&set)
		created, err := create(ctx, set, config)
		return built(r, created, err)
	}
}

func (r *recorder) exporter(kind component.Type, factory exporter.Factory) exporter.Factory {
	observe := func(set *exporter.Settings) { r.observe("exporters", set.ID, &set.TelemetrySettings) }
	options := []xexporter.FactoryOption{
		xexporter.WithTraces(recordingLast(r, observe, factory.CreateTraces), factory.TracesStability()),
		xexporter.WithMetrics(recordingLast(r, observe, factory.CreateMetrics), factory.MetricsStability()),
		xexporter.WithLogs(recordingLast(r, observe, factory.CreateLogs), factory.LogsStability()),
	}
	if profiling, able := factory.(xexporter.Factory); able {
		options = append(options,
			xexporter.WithProfiles(recordingLast(r, observe, profiling.CreateProfiles), profiling.ProfilesStability()))
	}
	return xexporter.NewFactory(kind, factory.CreateDefaultConfig, options...)
}

func (r *recorder) connector(kind component.Type, factory connector.Factory) connector.Factory {
	observe := func(set *connector.Settings) { r.observe("connectors", set.ID, &set.TelemetrySettings) }
	options := []xconnector.FactoryOption{
		xconnector.WithTracesToTraces(recording(r, observe, factory.CreateTracesToTraces), factory.TracesToTracesStability()),
		xconnector.WithTracesToMetrics(recording(r, observe, factory.CreateTracesToMetrics), factory.TracesToMetricsStability()),
		xconnector.WithTracesToLogs(recording(r, observe, factory.CreateTracesToLogs), factory.TracesToLogsStability()),
		xconnector.WithMetricsToTraces(recording(r, observe, factory.CreateMetricsToTraces), factory.MetricsToTracesStability()),
		xconnector.WithMetricsToMetrics(recording(r, observe, factory.CreateMetricsToMetrics), factory.MetricsToMetricsStability()),
		xconnector.WithMetricsToLogs(recording(r, observe, factory.CreateMetricsToLogs), factory.MetricsToLogsStability()),
		xconnector.WithLogsToTraces(recording(r, observe, factory.CreateLogsToTraces), factory.LogsToTracesStability()),
		xconnector.WithLogsToMetrics(recording(r, observe, factory.CreateLogsToMetrics), factory.LogsToMetricsStability()),
		xconnector.WithLogsToLogs(recording(r, observe, factory.CreateLogsToLogs), factory.LogsToLogsStability()),
	}
	if profiling, able := factory.(xconnector.Factory); able {
		options = append(options,
			xconnector.WithTracesToProfiles(
				recording(r, observe, profiling.CreateTracesToProfiles), profiling.TracesToProfilesStability()),
			xconnector.WithMetricsToProfiles(
				recording(r, observe, profiling.CreateMetricsToProfiles), profiling.MetricsToProfilesStability()),
			xconnector.WithLogsToProfiles(
				recording(r, observe, profiling.CreateLogsToProfiles), profiling.LogsToProfilesStability()),
			xconnector.WithProfilesToTraces(
				recording(r, observe, profiling.CreateProfilesToTraces), profiling.ProfilesToTracesStability()),
			xconnector.WithProfilesToMetrics(
				recording(r, observe, profiling.CreateProfilesToMetrics), profiling.ProfilesToMetricsStability()),
			xconnector.WithProfilesToLogs(
				recording(r, observe, profiling.CreateProfilesToLogs), profiling.ProfilesToLogsStability()),
			xconnector.WithProfilesToProfiles(
				recording(r, observe, profiling.CreateProfilesToProfiles), profiling.ProfilesToProfilesStability()),
		)
	}
	return xconnector.NewFactory(kind, factory.CreateDefaultConfig, options...)
}
