package inspect

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/connector/xconnector"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/xconsumer"
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

func wrapped[F any](factories map[component.Type]F, wrap func(F) F) map[component.Type]F {
	all := make(map[component.Type]F, len(factories))
	for kind, factory := range factories {
		all[kind] = wrap(factory)
	}
	return all
}

func (r *recorder) receiver(factory receiver.Factory) receiver.Factory {
	recorded := recordedReceiver{factory, r}
	if profiling, able := factory.(xreceiver.Factory); able {
		return recordedXReceiver{recorded, profiling}
	}
	return recorded
}

type recordedReceiver struct {
	receiver.Factory
	*recorder
}

// recordedXReceiver is for factories that know profiles. The collector asks each factory whether it does.
type recordedXReceiver struct {
	recordedReceiver
	profiling xreceiver.Factory
}

func (f recordedReceiver) CreateTraces(
	ctx context.Context, set receiver.Settings, config component.Config, next consumer.Traces,
) (receiver.Traces, error) {
	f.observe("receivers", set.ID, &set.TelemetrySettings)
	created, err := f.Factory.CreateTraces(ctx, set, config, next)
	return built(f.recorder, created, err)
}

func (f recordedReceiver) CreateMetrics(
	ctx context.Context, set receiver.Settings, config component.Config, next consumer.Metrics,
) (receiver.Metrics, error) {
	f.observe("receivers", set.ID, &set.TelemetrySettings)
	created, err := f.Factory.CreateMetrics(ctx, set, config, next)
	return built(f.recorder, created, err)
}

func (f recordedReceiver) CreateLogs(
	ctx context.Context, set receiver.Settings, config component.Config, next consumer.Logs,
) (receiver.Logs, error) {
	f.observe("receivers", set.ID, &set.TelemetrySettings)
	created, err := f.Factory.CreateLogs(ctx, set, config, next)
	return built(f.recorder, created, err)
}

func (f recordedXReceiver) CreateProfiles(
	ctx context.Context, set receiver.Settings, config component.Config, next xconsumer.Profiles,
) (xreceiver.Profiles, error) {
	f.observe("receivers", set.ID, &set.TelemetrySettings)
	created, err := f.profiling.CreateProfiles(ctx, set, config, next)
	return built(f.recorder, created, err)
}

func (f recordedXReceiver) ProfilesStability() component.StabilityLevel {
	return f.profiling.ProfilesStability()
}

func (r *recorder) processor(factory processor.Factory) processor.Factory {
	recorded := recordedProcessor{factory, r}
	if profiling, able := factory.(xprocessor.Factory); able {
		return recordedXProcessor{recorded, profiling}
	}
	return recorded
}

type recordedProcessor struct {
	processor.Factory
	*recorder
}

// recordedXProcessor is for factories that know profiles. The collector asks each factory whether it does.
type recordedXProcessor struct {
	recordedProcessor
	profiling xprocessor.Factory
}

func (f recordedProcessor) CreateTraces(
	ctx context.Context, set processor.Settings, config component.Config, next consumer.Traces,
) (processor.Traces, error) {
	f.observe("processors", set.ID, &set.TelemetrySettings)
	created, err := f.Factory.CreateTraces(ctx, set, config, next)
	return built(f.recorder, created, err)
}

func (f recordedProcessor) CreateMetrics(
	ctx context.Context, set processor.Settings, config component.Config, next consumer.Metrics,
) (processor.Metrics, error) {
	f.observe("processors", set.ID, &set.TelemetrySettings)
	created, err := f.Factory.CreateMetrics(ctx, set, config, next)
	return built(f.recorder, created, err)
}

func (f recordedProcessor) CreateLogs(
	ctx context.Context, set processor.Settings, config component.Config, next consumer.Logs,
) (processor.Logs, error) {
	f.observe("processors", set.ID, &set.TelemetrySettings)
	created, err := f.Factory.CreateLogs(ctx, set, config, next)
	return built(f.recorder, created, err)
}

func (f recordedXProcessor) CreateProfiles(
	ctx context.Context, set processor.Settings, config component.Config, next xconsumer.Profiles,
) (xprocessor.Profiles, error) {
	f.observe("processors", set.ID, &set.TelemetrySettings)
	created, err := f.profiling.CreateProfiles(ctx, set, config, next)
	return built(f.recorder, created, err)
}

func (f recordedXProcessor) ProfilesStability() component.StabilityLevel {
	return f.profiling.ProfilesStability()
}

func (r *recorder) exporter(factory exporter.Factory) exporter.Factory {
	recorded := recordedExporter{factory, r}
	if profiling, able := factory.(xexporter.Factory); able {
		return recordedXExporter{recorded, profiling}
	}
	return recorded
}

type recordedExporter struct {
	exporter.Factory
	*recorder
}

// recordedXExporter is for factories that know profiles. The collector asks each factory whether it does.
type recordedXExporter struct {
	recordedExporter
	profiling xexporter.Factory
}

func (f recordedExporter) CreateTraces(
	ctx context.Context, set exporter.Settings, config component.Config,
) (exporter.Traces, error) {
	f.observe("exporters", set.ID, &set.TelemetrySettings)
	created, err := f.Factory.CreateTraces(ctx, set, config)
	return built(f.recorder, created, err)
}

func (f recordedExporter) CreateMetrics(
	ctx context.Context, set exporter.Settings, config component.Config,
) (exporter.Metrics, error) {
	f.observe("exporters", set.ID, &set.TelemetrySettings)
	created, err := f.Factory.CreateMetrics(ctx, set, config)
	return built(f.recorder, created, err)
}

func (f recordedExporter) CreateLogs(
	ctx context.Context, set exporter.Settings, config component.Config,
) (exporter.Logs, error) {
	f.observe("exporters", set.ID, &set.TelemetrySettings)
	created, err := f.Factory.CreateLogs(ctx, set, config)
	return built(f.recorder, created, err)
}

func (f recordedXExporter) CreateProfiles(
	ctx context.Context, set exporter.Settings, config component.Config,
) (xexporter.Profiles, error) {
	f.observe("exporters", set.ID, &set.TelemetrySettings)
	created, err := f.profiling.CreateProfiles(ctx, set, config)
	return built(f.recorder, created, err)
}

func (f recordedXExporter) ProfilesStability() component.StabilityLevel {
	return f.profiling.ProfilesStability()
}

func (r *recorder) connector(factory connector.Factory) connector.Factory {
	recorded := recordedConnector{factory, r}
	if profiling, able := factory.(xconnector.Factory); able {
		return recordedXConnector{recorded, profiling}
	}
	return recorded
}

type recordedConnector struct {
	connector.Factory
	*recorder
}

// recordedXConnector is for factories that know profiles. The collector asks each factory whether it does.
type recordedXConnector struct {
	recordedConnector
	profiling xconnector.Factory
}

func (f recordedConnector) CreateTracesToTraces(
	ctx context.Context, set connector.Settings, config component.Config, next consumer.Traces,
) (connector.Traces, error) {
	f.observe("connectors", set.ID, &set.TelemetrySettings)
	created, err := f.Factory.CreateTracesToTraces(ctx, set, config, next)
	return built(f.recorder, created, err)
}

func (f recordedConnector) CreateTracesToMetrics(
	ctx context.Context, set connector.Settings, config component.Config, next consumer.Metrics,
) (connector.Traces, error) {
	f.observe("connectors", set.ID, &set.TelemetrySettings)
	created, err := f.Factory.CreateTracesToMetrics(ctx, set, config, next)
	return built(f.recorder, created, err)
}

func (f recordedConnector) CreateTracesToLogs(
	ctx context.Context, set connector.Settings, config component.Config, next consumer.Logs,
) (connector.Traces, error) {
	f.observe("connectors", set.ID, &set.TelemetrySettings)
	created, err := f.Factory.CreateTracesToLogs(ctx, set, config, next)
	return built(f.recorder, created, err)
}

func (f recordedXConnector) CreateTracesToProfiles(
	ctx context.Context, set connector.Settings, config component.Config, next xconsumer.Profiles,
) (connector.Traces, error) {
	f.observe("connectors", set.ID, &set.TelemetrySettings)
	created, err := f.profiling.CreateTracesToProfiles(ctx, set, config, next)
	return built(f.recorder, created, err)
}

func (f recordedXConnector) TracesToProfilesStability() component.StabilityLevel {
	return f.profiling.TracesToProfilesStability()
}

func (f recordedConnector) CreateMetricsToTraces(
	ctx context.Context, set connector.Settings, config component.Config, next consumer.Traces,
) (connector.Metrics, error) {
	f.observe("connectors", set.ID, &set.TelemetrySettings)
	created, err := f.Factory.CreateMetricsToTraces(ctx, set, config, next)
	return built(f.recorder, created, err)
}

func (f recordedConnector) CreateMetricsToMetrics(
	ctx context.Context, set connector.Settings, config component.Config, next consumer.Metrics,
) (connector.Metrics, error) {
	f.observe("connectors", set.ID, &set.TelemetrySettings)
	created, err := f.Factory.CreateMetricsToMetrics(ctx, set, config, next)
	return built(f.recorder, created, err)
}

func (f recordedConnector) CreateMetricsToLogs(
	ctx context.Context, set connector.Settings, config component.Config, next consumer.Logs,
) (connector.Metrics, error) {
	f.observe("connectors", set.ID, &set.TelemetrySettings)
	created, err := f.Factory.CreateMetricsToLogs(ctx, set, config, next)
	return built(f.recorder, created, err)
}

func (f recordedXConnector) CreateMetricsToProfiles(
	ctx context.Context, set connector.Settings, config component.Config, next xconsumer.Profiles,
) (connector.Metrics, error) {
	f.observe("connectors", set.ID, &set.TelemetrySettings)
	created, err := f.profiling.CreateMetricsToProfiles(ctx, set, config, next)
	return built(f.recorder, created, err)
}

func (f recordedXConnector) MetricsToProfilesStability() component.StabilityLevel {
	return f.profiling.MetricsToProfilesStability()
}

func (f recordedConnector) CreateLogsToTraces(
	ctx context.Context, set connector.Settings, config component.Config, next consumer.Traces,
) (connector.Logs, error) {
	f.observe("connectors", set.ID, &set.TelemetrySettings)
	created, err := f.Factory.CreateLogsToTraces(ctx, set, config, next)
	return built(f.recorder, created, err)
}

func (f recordedConnector) CreateLogsToMetrics(
	ctx context.Context, set connector.Settings, config component.Config, next consumer.Metrics,
) (connector.Logs, error) {
	f.observe("connectors", set.ID, &set.TelemetrySettings)
	created, err := f.Factory.CreateLogsToMetrics(ctx, set, config, next)
	return built(f.recorder, created, err)
}

func (f recordedConnector) CreateLogsToLogs(
	ctx context.Context, set connector.Settings, config component.Config, next consumer.Logs,
) (connector.Logs, error) {
	f.observe("connectors", set.ID, &set.TelemetrySettings)
	created, err := f.Factory.CreateLogsToLogs(ctx, set, config, next)
	return built(f.recorder, created, err)
}

func (f recordedXConnector) CreateLogsToProfiles(
	ctx context.Context, set connector.Settings, config component.Config, next xconsumer.Profiles,
) (connector.Logs, error) {
	f.observe("connectors", set.ID, &set.TelemetrySettings)
	created, err := f.profiling.CreateLogsToProfiles(ctx, set, config, next)
	return built(f.recorder, created, err)
}

func (f recordedXConnector) LogsToProfilesStability() component.StabilityLevel {
	return f.profiling.LogsToProfilesStability()
}

func (f recordedXConnector) CreateProfilesToTraces(
	ctx context.Context, set connector.Settings, config component.Config, next consumer.Traces,
) (xconnector.Profiles, error) {
	f.observe("connectors", set.ID, &set.TelemetrySettings)
	created, err := f.profiling.CreateProfilesToTraces(ctx, set, config, next)
	return built(f.recorder, created, err)
}

func (f recordedXConnector) ProfilesToTracesStability() component.StabilityLevel {
	return f.profiling.ProfilesToTracesStability()
}

func (f recordedXConnector) CreateProfilesToMetrics(
	ctx context.Context, set connector.Settings, config component.Config, next consumer.Metrics,
) (xconnector.Profiles, error) {
	f.observe("connectors", set.ID, &set.TelemetrySettings)
	created, err := f.profiling.CreateProfilesToMetrics(ctx, set, config, next)
	return built(f.recorder, created, err)
}

func (f recordedXConnector) ProfilesToMetricsStability() component.StabilityLevel {
	return f.profiling.ProfilesToMetricsStability()
}

func (f recordedXConnector) CreateProfilesToLogs(
	ctx context.Context, set connector.Settings, config component.Config, next consumer.Logs,
) (xconnector.Profiles, error) {
	f.observe("connectors", set.ID, &set.TelemetrySettings)
	created, err := f.profiling.CreateProfilesToLogs(ctx, set, config, next)
	return built(f.recorder, created, err)
}

func (f recordedXConnector) ProfilesToLogsStability() component.StabilityLevel {
	return f.profiling.ProfilesToLogsStability()
}

func (f recordedXConnector) CreateProfilesToProfiles(
	ctx context.Context, set connector.Settings, config component.Config, next xconsumer.Profiles,
) (xconnector.Profiles, error) {
	f.observe("connectors", set.ID, &set.TelemetrySettings)
	created, err := f.profiling.CreateProfilesToProfiles(ctx, set, config, next)
	return built(f.recorder, created, err)
}

func (f recordedXConnector) ProfilesToProfilesStability() component.StabilityLevel {
	return f.profiling.ProfilesToProfilesStability()
}
