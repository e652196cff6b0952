package inspect

import (
	"context"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/connector/xconnector"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/xexporter"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/xprocessor"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/xreceiver"
)

// absences are the types that a text uses and this build lacks, by section.
type absences map[string]map[component.Type]operation.Absent

// standIns adds a stand-in for each absent type: it takes any settings and every signal, so that the rest of the text is
// checked as if the component were there.
func (a absences) standIns(factories otelcol.Factories) {
	standIn(factories.Receivers, a["receivers"], anyReceiver)
	standIn(factories.Processors, a["processors"], anyProcessor)
	standIn(factories.Exporters, a["exporters"], anyExporter)
	standIn(factories.Connectors, a["connectors"], anyConnector)
	standIn(factories.Extensions, a["extensions"], anyExtension)
}

func standIn[F any](
	factories map[component.Type]F, absent map[component.Type]operation.Absent, build func(component.Type) F,
) {
	for kind := range absent {
		factories[kind] = build(kind)
	}
}

// anything is a configuration that may hold anything.
type anything struct{}

// Unmarshal reads nothing.
func (*anything) Unmarshal(*confmap.Conf) error { return nil }

func newAnything() component.Config { return &anything{} }

// nothing is a component that does nothing, for every signal.
type nothing struct {
	component.StartFunc
	component.ShutdownFunc
}

func (nothing) Capabilities() consumer.Capabilities                      { return consumer.Capabilities{} }
func (nothing) ConsumeTraces(context.Context, ptrace.Traces) error       { return nil }
func (nothing) ConsumeMetrics(context.Context, pmetric.Metrics) error    { return nil }
func (nothing) ConsumeLogs(context.Context, plog.Logs) error             { return nil }
func (nothing) ConsumeProfiles(context.Context, pprofile.Profiles) error { return nil }

const stability = component.StabilityLevelStable

func anyReceiver(kind component.Type) receiver.Factory {
	return xreceiver.NewFactory(kind, newAnything,
		xreceiver.WithTraces(func(context.Context, receiver.Settings, component.Config, consumer.Traces) (receiver.Traces, error) {
			return nothing{}, nil
		}, stability),
		xreceiver.WithMetrics(func(context.Context, receiver.Settings, component.Config, consumer.Metrics) (receiver.Metrics, error) {
			return nothing{}, nil
		}, stability),
		xreceiver.WithLogs(func(context.Context, receiver.Settings, component.Config, consumer.Logs) (receiver.Logs, error) {
			return nothing{}, nil
		}, stability),
		xreceiver.WithProfiles(func(context.Context, receiver.Settings, component.Config, xconsumer.Profiles) (xreceiver.Profiles, error) {
			return nothing{}, nil
		}, stability),
	)
}

func anyProcessor(kind component.Type) processor.Factory {
	return xprocessor.NewFactory(kind, newAnything,
		xprocessor.WithTraces(func(context.Context, processor.Settings, component.Config, consumer.Traces) (processor.Traces, error) {
			return nothing{}, nil
		}, stability),
		xprocessor.WithMetrics(func(context.Context, processor.Settings, component.Config, consumer.Metrics) (processor.Metrics, error) {
			return nothing{}, nil
		}, stability),
		xprocessor.WithLogs(func(context.Context, processor.Settings, component.Config, consumer.Logs) (processor.Logs, error) {
			return nothing{}, nil
		}, stability),
		xprocessor.WithProfiles(func(context.Context, processor.Settings, component.Config, xconsumer.Profiles) (xprocessor.Profiles, error) {
			return nothing{}, nil
		}, stability),
	)
}

func anyExporter(kind component.Type) exporter.Factory {
	return xexporter.NewFactory(kind, newAnything,
		xexporter.WithTraces(func(context.Context, exporter.Settings, component.Config) (exporter.Traces, error) {
			return nothing{}, nil
		}, stability),
		xexporter.WithMetrics(func(context.Context, exporter.Settings, component.Config) (exporter.Metrics, error) {
			return nothing{}, nil
		}, stability),
		xexporter.WithLogs(func(context.Context, exporter.Settings, component.Config) (exporter.Logs, error) {
			return nothing{}, nil
		}, stability),
		xexporter.WithProfiles(func(context.Context, exporter.Settings, component.Config) (xexporter.Profiles, error) {
			return nothing{}, nil
		}, stability),
	)
}

func anyConnector(kind component.Type) connector.Factory {
	return xconnector.NewFactory(kind, newAnything,
		xconnector.WithTracesToTraces(func(context.Context, connector.Settings, component.Config, consumer.Traces) (connector.Traces, error) {
			return nothing{}, nil
		}, stability),
		xconnector.WithTracesToMetrics(func(context.Context, connector.Settings, component.Config, consumer.Metrics) (connector.Traces, error) {
			return nothing{}, nil
		}, stability),
		xconnector.WithTracesToLogs(func(context.Context, connector.Settings, component.Config, consumer.Logs) (connector.Traces, error) {
			return nothing{}, nil
		}, stability),
		xconnector.WithTracesToProfiles(func(context.Context, connector.Settings, component.Config, xconsumer.Profiles) (connector.Traces, error) {
			return nothing{}, nil
		}, stability),
		xconnector.WithMetricsToTraces(func(context.Context, connector.Settings, component.Config, consumer.Traces) (connector.Metrics, error) {
			return nothing{}, nil
		}, stability),
		xconnector.WithMetricsToMetrics(func(context.Context, connector.Settings, component.Config, consumer.Metrics) (connector.Metrics, error) {
			return nothing{}, nil
		}, stability),
		xconnector.WithMetricsToLogs(func(context.Context, connector.Settings, component.Config, consumer.Logs) (connector.Metrics, error) {
			return nothing{}, nil
		}, stability),
		xconnector.WithMetricsToProfiles(func(context.Context, connector.Settings, component.Config, xconsumer.Profiles) (connector.Metrics, error) {
			return nothing{}, nil
		}, stability),
		xconnector.WithLogsToTraces(func(context.Context, connector.Settings, component.Config, consumer.Traces) (connector.Logs, error) {
			return nothing{}, nil
		}, stability),
		xconnector.WithLogsToMetrics(func(context.Context, connector.Settings, component.Config, consumer.Metrics) (connector.Logs, error) {
			return nothing{}, nil
		}, stability),
		xconnector.WithLogsToLogs(func(context.Context, connector.Settings, component.Config, consumer.Logs) (connector.Logs, error) {
			return nothing{}, nil
		}, stability),
		xconnector.WithLogsToProfiles(func(context.Context, connector.Settings, component.Config, xconsumer.Profiles) (connector.Logs, error) {
			return nothing{}, nil
		}, stability),
		xconnector.WithProfilesToTraces(func(context.Context, connector.Settings, component.Config, consumer.Traces) (xconnector.Profiles, error) {
			return nothing{}, nil
		}, stability),
		xconnector.WithProfilesToMetrics(func(context.Context, connector.Settings, component.Config, consumer.Metrics) (xconnector.Profiles, error) {
			return nothing{}, nil
		}, stability),
		xconnector.WithProfilesToLogs(func(context.Context, connector.Settings, component.Config, consumer.Logs) (xconnector.Profiles, error) {
			return nothing{}, nil
		}, stability),
		xconnector.WithProfilesToProfiles(func(context.Context, connector.Settings, component.Config, xconsumer.Profiles) (xconnector.Profiles, error) {
			return nothing{}, nil
		}, stability),
	)
}

func anyExtension(kind component.Type) extension.Factory {
	return extension.NewFactory(kind, newAnything, func(context.Context, extension.Settings, component.Config) (extension.Extension, error) {
		return nothing{}, nil
	}, stability)
}
