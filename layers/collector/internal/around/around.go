// Package around lets a watcher stand around each pipeline component of a collector: the collector itself builds them, in
// its own order and with the consumers that they get there, and nothing of the configuration changes.
package around

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/connector/xconnector"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/xexporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pipeline"
	"go.opentelemetry.io/collector/pipeline/xpipeline"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/xprocessor"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/xreceiver"
)

// Place is what a component is built as. From and To are the same signal, but for a connector.
type Place struct {
	Section  string // receivers, processors, exporters or connectors
	ID       component.ID
	From, To pipeline.Signal
	// Config is its configuration, decoded and validated.
	Config component.Config
}

// Watcher is told of each component before it is created. It may change the component's telemetry. It returns the
// consumer that the component gets for its next one (a consumer.Logs for one, nil for an exporter), and a function whose
// result the collector gets for the component once it is created. Both must have the interfaces of what they stand for.
type Watcher func(place Place, telemetry *component.TelemetrySettings, next any) (any, func(component.Component) component.Component)

// Watched returns factories that do what these do, with a watcher around what those of these types create; of all types
// without any.
func (w Watcher) Watched(factories otelcol.Factories, types ...component.Type) otelcol.Factories {
	factories.Receivers = each(factories.Receivers, types, w.receiver)
	factories.Processors = each(factories.Processors, types, w.processor)
	factories.Exporters = each(factories.Exporters, types, w.exporter)
	factories.Connectors = each(factories.Connectors, types, w.connector)
	return factories
}

// each wraps each factory under the name at which it stands, which may be a deprecated one: a factory creates only what
// has its own type or alias, and the one inside has the alias.
func each[F any](
	factories map[component.Type]F, types []component.Type, wrap func(component.Type, F) F,
) map[component.Type]F {
	all := maps.Clone(factories)
	for kind, factory := range factories {
		if len(types) == 0 || slices.Contains(types, kind) {
			all[kind] = wrap(kind, factory)
		}
	}
	return all
}

// kind is what the settings of a kind of component have in common.
type kind[S any] struct {
	watcher Watcher
	section string
	parts   func(*S) (component.ID, *component.TelemetrySettings)
}

func (k kind[S]) begin(
	set *S, config component.Config, from, to pipeline.Signal, next any,
) (any, func(component.Component) component.Component) {
	id, telemetry := k.parts(set)
	return k.watcher(Place{k.section, id, from, to, config}, telemetry, next)
}

// watched creates what create does.
func watched[S, N any, C component.Component](
	k kind[S], from, to pipeline.Signal, create func(context.Context, S, component.Config, N) (C, error),
) func(context.Context, S, component.Config, N) (C, error) {
	return func(ctx context.Context, set S, config component.Config, next N) (C, error) {
		given, ended := k.begin(&set, config, from, to, next)
		consumer, is := given.(N)
		if !is {
			var none C
			return none, fmt.Errorf("a watcher gave a %T for a %T", given, next)
		}
		created, err := create(ctx, set, config, consumer)
		return finished(created, err, ended)
	}
}

// watchedLast is watched for what has no next consumer.
func watchedLast[S any, C component.Component](
	k kind[S], signal pipeline.Signal, create func(context.Context, S, component.Config) (C, error),
) func(context.Context, S, component.Config) (C, error) {
	return func(ctx context.Context, set S, config component.Config) (C, error) {
		_, ended := k.begin(&set, config, signal, signal, nil)
		created, err := create(ctx, set, config)
		return finished(created, err, ended)
	}
}

func finished[C component.Component](
	created C, err error, ended func(component.Component) component.Component,
) (C, error) {
	if err != nil {
		return created, err
	}
	result, is := ended(created).(C)
	if !is {
		return created, fmt.Errorf("a watcher gave another kind of component for a %T", created)
	}
	return result, nil
}

const (
	receivers  = "receivers"
	processors = "processors"
	exporters  = "exporters"
	connectors = "connectors"
)

var (
	logs     = pipeline.SignalLogs
	traces   = pipeline.SignalTraces
	metrics  = pipeline.SignalMetrics
	profiles = xpipeline.SignalProfiles
)

func (w Watcher) receiver(name component.Type, factory receiver.Factory) receiver.Factory {
	k := kind[receiver.Settings]{w, receivers, func(set *receiver.Settings) (component.ID, *component.TelemetrySettings) {
		return set.ID, &set.TelemetrySettings
	}}
	options := []xreceiver.FactoryOption{
		xreceiver.WithTraces(watched(k, traces, traces, factory.CreateTraces), factory.TracesStability()),
		xreceiver.WithMetrics(watched(k, metrics, metrics, factory.CreateMetrics), factory.MetricsStability()),
		xreceiver.WithLogs(watched(k, logs, logs, factory.CreateLogs), factory.LogsStability()),
	}
	if profiling, able := factory.(xreceiver.Factory); able {
		options = append(options,
			xreceiver.WithProfiles(watched(k, profiles, profiles, profiling.CreateProfiles), profiling.ProfilesStability()))
	}
	return xreceiver.NewFactory(name, factory.CreateDefaultConfig, options...)
}

func (w Watcher) processor(name component.Type, factory processor.Factory) processor.Factory {
	k := kind[processor.Settings]{w, processors, func(set *processor.Settings) (component.ID, *component.TelemetrySettings) {
		return set.ID, &set.TelemetrySettings
	}}
	options := []xprocessor.FactoryOption{
		xprocessor.WithTraces(watched(k, traces, traces, factory.CreateTraces), factory.TracesStability()),
		xprocessor.WithMetrics(watched(k, metrics, metrics, factory.CreateMetrics), factory.MetricsStability()),
		xprocessor.WithLogs(watched(k, logs, logs, factory.CreateLogs), factory.LogsStability()),
	}
	if profiling, able := factory.(xprocessor.Factory); able {
		options = append(options,
			xprocessor.WithProfiles(watched(k, profiles, profiles, profiling.CreateProfiles), profiling.ProfilesStability()))
	}
	return xprocessor.NewFactory(name, factory.CreateDefaultConfig, options...)
}

func (w Watcher) exporter(name component.Type, factory exporter.Factory) exporter.Factory {
	k := kind[exporter.Settings]{w, exporters, func(set *exporter.Settings) (component.ID, *component.TelemetrySettings) {
		return set.ID, &set.TelemetrySettings
	}}
	options := []xexporter.FactoryOption{
		xexporter.WithTraces(watchedLast(k, traces, factory.CreateTraces), factory.TracesStability()),
		xexporter.WithMetrics(watchedLast(k, metrics, factory.CreateMetrics), factory.MetricsStability()),
		xexporter.WithLogs(watchedLast(k, logs, factory.CreateLogs), factory.LogsStability()),
	}
	if profiling, able := factory.(xexporter.Factory); able {
		options = append(options,
			xexporter.WithProfiles(watchedLast(k, profiles, profiling.CreateProfiles), profiling.ProfilesStability()))
	}
	return xexporter.NewFactory(name, factory.CreateDefaultConfig, options...)
}

func (w Watcher) connector(name component.Type, factory connector.Factory) connector.Factory {
	k := kind[connector.Settings]{w, connectors, func(set *connector.Settings) (component.ID, *component.TelemetrySettings) {
		return set.ID, &set.TelemetrySettings
	}}
	options := []xconnector.FactoryOption{
		xconnector.WithTracesToTraces(watched(k, traces, traces, factory.CreateTracesToTraces), factory.TracesToTracesStability()),
		xconnector.WithTracesToMetrics(watched(k, traces, metrics, factory.CreateTracesToMetrics), factory.TracesToMetricsStability()),
		xconnector.WithTracesToLogs(watched(k, traces, logs, factory.CreateTracesToLogs), factory.TracesToLogsStability()),
		xconnector.WithMetricsToTraces(watched(k, metrics, traces, factory.CreateMetricsToTraces), factory.MetricsToTracesStability()),
		xconnector.WithMetricsToMetrics(watched(k, metrics, metrics, factory.CreateMetricsToMetrics), factory.MetricsToMetricsStability()),
		xconnector.WithMetricsToLogs(watched(k, metrics, logs, factory.CreateMetricsToLogs), factory.MetricsToLogsStability()),
		xconnector.WithLogsToTraces(watched(k, logs, traces, factory.CreateLogsToTraces), factory.LogsToTracesStability()),
		xconnector.WithLogsToMetrics(watched(k, logs, metrics, factory.CreateLogsToMetrics), factory.LogsToMetricsStability()),
		xconnector.WithLogsToLogs(watched(k, logs, logs, factory.CreateLogsToLogs), factory.LogsToLogsStability()),
	}
	if profiling, able := factory.(xconnector.Factory); able {
		options = append(options, profilingConnector(k, profiling)...)
	}
	return xconnector.NewFactory(name, factory.CreateDefaultConfig, options...)
}

func profilingConnector(k kind[connector.Settings], factory xconnector.Factory) []xconnector.FactoryOption {
	return []xconnector.FactoryOption{
		xconnector.WithTracesToProfiles(watched(k, traces, profiles, factory.CreateTracesToProfiles), factory.TracesToProfilesStability()),
		xconnector.WithMetricsToProfiles(watched(k, metrics, profiles, factory.CreateMetricsToProfiles), factory.MetricsToProfilesStability()),
		xconnector.WithLogsToProfiles(watched(k, logs, profiles, factory.CreateLogsToProfiles), factory.LogsToProfilesStability()),
		xconnector.WithProfilesToTraces(watched(k, profiles, traces, factory.CreateProfilesToTraces), factory.ProfilesToTracesStability()),
		xconnector.WithProfilesToMetrics(watched(k, profiles, metrics, factory.CreateProfilesToMetrics), factory.ProfilesToMetricsStability()),
		xconnector.WithProfilesToLogs(watched(k, profiles, logs, factory.CreateProfilesToLogs), factory.ProfilesToLogsStability()),
		xconnector.WithProfilesToProfiles(watched(k, profiles, profiles, factory.CreateProfilesToProfiles), factory.ProfilesToProfilesStability()),
	}
}
