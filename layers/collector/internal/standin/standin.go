// Package standin makes components that take any settings and every signal, and do nothing. They stand in for those that
// cannot be built, so that the rest of a configuration can be checked.
package standin

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/connector/xconnector"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/xexporter"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/xprocessor"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/xreceiver"
)

// anything is a configuration that may hold anything.
type anything struct{}

// Unmarshal reads nothing.
func (*anything) Unmarshal(*confmap.Conf) error { return nil }

func newAnything() component.Config { return &anything{} }

// Nothing is a component that does nothing, for every signal.
type Nothing struct {
	component.StartFunc
	component.ShutdownFunc
}

func (Nothing) Capabilities() consumer.Capabilities                      { return consumer.Capabilities{} }
func (Nothing) ConsumeTraces(context.Context, ptrace.Traces) error       { return nil }
func (Nothing) ConsumeMetrics(context.Context, pmetric.Metrics) error    { return nil }
func (Nothing) ConsumeLogs(context.Context, plog.Logs) error             { return nil }
func (Nothing) ConsumeProfiles(context.Context, pprofile.Profiles) error { return nil }

const stability = component.StabilityLevelStable

// Receiver makes a stand-in of that type.
func Receiver(kind component.Type) receiver.Factory {
	return xreceiver.NewFactory(kind, newAnything,
		xreceiver.WithTraces(func(context.Context, receiver.Settings, component.Config, consumer.Traces) (receiver.Traces, error) {
			return Nothing{}, nil
		}, stability),
		xreceiver.WithMetrics(func(context.Context, receiver.Settings, component.Config, consumer.Metrics) (receiver.Metrics, error) {
			return Nothing{}, nil
		}, stability),
		xreceiver.WithLogs(func(context.Context, receiver.Settings, component.Config, consumer.Logs) (receiver.Logs, error) {
			return Nothing{}, nil
		}, stability),
		xreceiver.WithProfiles(func(context.Context, receiver.Settings, component.Config, xconsumer.Profiles) (xreceiver.Profiles, error) {
			return Nothing{}, nil
		}, stability),
	)
}

// Processor makes a stand-in of that type.
func Processor(kind component.Type) processor.Factory {
	return xprocessor.NewFactory(kind, newAnything,
		xprocessor.WithTraces(func(context.Context, processor.Settings, component.Config, consumer.Traces) (processor.Traces, error) {
			return Nothing{}, nil
		}, stability),
		xprocessor.WithMetrics(func(context.Context, processor.Settings, component.Config, consumer.Metrics) (processor.Metrics, error) {
			return Nothing{}, nil
		}, stability),
		xprocessor.WithLogs(func(context.Context, processor.Settings, component.Config, consumer.Logs) (processor.Logs, error) {
			return Nothing{}, nil
		}, stability),
		xprocessor.WithProfiles(func(context.Context, processor.Settings, component.Config, xconsumer.Profiles) (xprocessor.Profiles, error) {
			return Nothing{}, nil
		}, stability),
	)
}

// Exporter makes a stand-in of that type.
func Exporter(kind component.Type) exporter.Factory {
	return xexporter.NewFactory(kind, newAnything,
		xexporter.WithTraces(func(context.Context, exporter.Settings, component.Config) (exporter.Traces, error) {
			return Nothing{}, nil
		}, stability),
		xexporter.WithMetrics(func(context.Context, exporter.Settings, component.Config) (exporter.Metrics, error) {
			return Nothing{}, nil
		}, stability),
		xexporter.WithLogs(func(context.Context, exporter.Settings, component.Config) (exporter.Logs, error) {
			return Nothing{}, nil
		}, stability),
		xexporter.WithProfiles(func(context.Context, exporter.Settings, component.Config) (xexporter.Profiles, error) {
			return Nothing{}, nil
		}, stability),
	)
}

// Connector makes a stand-in of that type.
func Connector(kind component.Type) connector.Factory {
	return xconnector.NewFactory(kind, newAnything,
		xconnector.WithTracesToTraces(func(context.Context, connector.Settings, component.Config, consumer.Traces) (connector.Traces, error) {
			return Nothing{}, nil
		}, stability),
		xconnector.WithTracesToMetrics(func(context.Context, connector.Settings, component.Config, consumer.Metrics) (connector.Traces, error) {
			return Nothing{}, nil
		}, stability),
		xconnector.WithTracesToLogs(func(context.Context, connector.Settings, component.Config, consumer.Logs) (connector.Traces, error) {
			return Nothing{}, nil
		}, stability),
		xconnector.WithTracesToProfiles(func(context.Context, connector.Settings, component.Config, xconsumer.Profiles) (connector.Traces, error) {
			return Nothing{}, nil
		}, stability),
		xconnector.WithMetricsToTraces(func(context.Context, connector.Settings, component.Config, consumer.Traces) (connector.Metrics, error) {
			return Nothing{}, nil
		}, stability),
		xconnector.WithMetricsToMetrics(func(context.Context, connector.Settings, component.Config, consumer.Metrics) (connector.Metrics, error) {
			return Nothing{}, nil
		}, stability),
		xconnector.WithMetricsToLogs(func(context.Context, connector.Settings, component.Config, consumer.Logs) (connector.Metrics, error) {
			return Nothing{}, nil
		}, stability),
		xconnector.WithMetricsToProfiles(func(context.Context, connector.Settings, component.Config, xconsumer.Profiles) (connector.Metrics, error) {
			return Nothing{}, nil
		}, stability),
		xconnector.WithLogsToTraces(func(context.Context, connector.Settings, component.Config, consumer.Traces) (connector.Logs, error) {
			return Nothing{}, nil
		}, stability),
		xconnector.WithLogsToMetrics(func(context.Context, connector.Settings, component.Config, consumer.Metrics) (connector.Logs, error) {
			return Nothing{}, nil
		}, stability),
		xconnector.WithLogsToLogs(func(context.Context, connector.Settings, component.Config, consumer.Logs) (connector.Logs, error) {
			return Nothing{}, nil
		}, stability),
		xconnector.WithLogsToProfiles(func(context.Context, connector.Settings, component.Config, xconsumer.Profiles) (connector.Logs, error) {
			return Nothing{}, nil
		}, stability),
		xconnector.WithProfilesToTraces(func(context.Context, connector.Settings, component.Config, consumer.Traces) (xconnector.Profiles, error) {
			return Nothing{}, nil
		}, stability),
		xconnector.WithProfilesToMetrics(func(context.Context, connector.Settings, component.Config, consumer.Metrics) (xconnector.Profiles, error) {
			return Nothing{}, nil
		}, stability),
		xconnector.WithProfilesToLogs(func(context.Context, connector.Settings, component.Config, consumer.Logs) (xconnector.Profiles, error) {
			return Nothing{}, nil
		}, stability),
		xconnector.WithProfilesToProfiles(func(context.Context, connector.Settings, component.Config, xconsumer.Profiles) (xconnector.Profiles, error) {
			return Nothing{}, nil
		}, stability),
	)
}

// Extension makes a stand-in of that type.
func Extension(kind component.Type) extension.Factory {
	return extension.NewFactory(kind, newAnything, func(context.Context, extension.Settings, component.Config) (extension.Extension, error) {
		return Nothing{}, nil
	}, stability)
}
