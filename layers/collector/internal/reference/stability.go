package reference

import (
	"strings"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/connector/xconnector"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/xexporter"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/xprocessor"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/xreceiver"
)

// signals are those of pipelines.
var signals = []string{"logs", "metrics", "traces", "profiles"}

// stability tells how mature a component is for each signal that it supports: for a connector by the pair of them
// (`traces_to_metrics`), for an extension by `extension`.
func stability(factory component.Factory) map[string]string {
	found := map[string]string{}
	set := func(name string, level component.StabilityLevel) {
		if level != component.StabilityLevelUndefined {
			found[name] = strings.ToLower(level.String())
		}
	}
	switch known := factory.(type) {
	case receiver.Factory:
		set("logs", known.LogsStability())
		set("metrics", known.MetricsStability())
		set("traces", known.TracesStability())
		if profiling, is := known.(xreceiver.Factory); is {
			set("profiles", profiling.ProfilesStability())
		}
	case processor.Factory:
		set("logs", known.LogsStability())
		set("metrics", known.MetricsStability())
		set("traces", known.TracesStability())
		if profiling, is := known.(xprocessor.Factory); is {
			set("profiles", profiling.ProfilesStability())
		}
	case exporter.Factory:
		set("logs", known.LogsStability())
		set("metrics", known.MetricsStability())
		set("traces", known.TracesStability())
		if profiling, is := known.(xexporter.Factory); is {
			set("profiles", profiling.ProfilesStability())
		}
	case connector.Factory:
		connects(known, set)
	case extension.Factory:
		set("extension", known.Stability())
	}
	return found
}

func connects(factory connector.Factory, set func(string, component.StabilityLevel)) {
	set("logs_to_logs", factory.LogsToLogsStability())
	set("logs_to_metrics", factory.LogsToMetricsStability())
	set("logs_to_traces", factory.LogsToTracesStability())
	set("metrics_to_logs", factory.MetricsToLogsStability())
	set("metrics_to_metrics", factory.MetricsToMetricsStability())
	set("metrics_to_traces", factory.MetricsToTracesStability())
	set("traces_to_logs", factory.TracesToLogsStability())
	set("traces_to_metrics", factory.TracesToMetricsStability())
	set("traces_to_traces", factory.TracesToTracesStability())
	profiling, is := factory.(xconnector.Factory)
	if !is {
		return
	}
	set("logs_to_profiles", profiling.LogsToProfilesStability())
	set("metrics_to_profiles", profiling.MetricsToProfilesStability())
	set("traces_to_profiles", profiling.TracesToProfilesStability())
	set("profiles_to_logs", profiling.ProfilesToLogsStability())
	set("profiles_to_metrics", profiling.ProfilesToMetricsStability())
	set("profiles_to_traces", profiling.ProfilesToTracesStability())
	set("profiles_to_profiles", profiling.ProfilesToProfilesStability())
}
