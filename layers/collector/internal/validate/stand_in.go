package validate

import (
	"context"
	"maps"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/xexporter"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/xreceiver"
)

// standIn replaces a receiver or an exporter that cannot be built, so that the rest can be checked.
var standIn = component.MustNewID("headgate_stand_in")

const stable = component.StabilityLevelStable

type standInConfig struct{}

func newStandInConfig() component.Config { return &standInConfig{} }

// inert is a component that does nothing.
type inert struct {
	component.StartFunc
	component.ShutdownFunc
	consumertest.Consumer
}

var standInReceiver receiver.Factory = xreceiver.NewFactory(standIn.Type(), newStandInConfig,
	xreceiver.WithTraces(func(context.Context, receiver.Settings, component.Config, consumer.Traces) (receiver.Traces, error) {
		return inert{}, nil
	}, stable),
	xreceiver.WithMetrics(func(context.Context, receiver.Settings, component.Config, consumer.Metrics) (receiver.Metrics, error) {
		return inert{}, nil
	}, stable),
	xreceiver.WithLogs(func(context.Context, receiver.Settings, component.Config, consumer.Logs) (receiver.Logs, error) {
		return inert{}, nil
	}, stable),
	xreceiver.WithProfiles(func(context.Context, receiver.Settings, component.Config, xconsumer.Profiles) (xreceiver.Profiles, error) {
		return inert{}, nil
	}, stable),
)

var standInExporter exporter.Factory = xexporter.NewFactory(standIn.Type(), newStandInConfig,
	xexporter.WithTraces(func(context.Context, exporter.Settings, component.Config) (exporter.Traces, error) {
		return inert{Consumer: consumertest.NewNop()}, nil
	}, stable),
	xexporter.WithMetrics(func(context.Context, exporter.Settings, component.Config) (exporter.Metrics, error) {
		return inert{Consumer: consumertest.NewNop()}, nil
	}, stable),
	xexporter.WithLogs(func(context.Context, exporter.Settings, component.Config) (exporter.Logs, error) {
		return inert{Consumer: consumertest.NewNop()}, nil
	}, stable),
	xexporter.WithProfiles(func(context.Context, exporter.Settings, component.Config) (xexporter.Profiles, error) {
		return inert{Consumer: consumertest.NewNop()}, nil
	}, stable),
)

// with is a copy of the factories with one more.
func with[F component.Factory](factories map[component.Type]F, more F) map[component.Type]F {
	all := maps.Clone(factories)
	if all == nil {
		all = map[component.Type]F{}
	}
	all[more.Type()] = more
	return all
}
