package policies

import (
	"slices"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/receiver"
)

var deprecatedComponent = &Policy{
	Code:     "deprecated_component",
	Title:    "A component is deprecated",
	Severity: Warning,
	Why:      "A later release of the collector lacks the component, and does not start with a configuration that has it.",
	WayOut:   "Move to the component that the deprecated one's documentation names.",
	examples: fixed(receivingOTLP+`exporters:
  sapm:
    endpoint: https://ingest.example.com/v2/trace
    access_token: ${env:ACCESS_TOKEN:-unset}
service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [sapm]
`,
		`sapm:
    endpoint: https://ingest.example.com/v2/trace
    access_token: ${env:ACCESS_TOKEN:-unset}`, `otlp:
    endpoint: backend.example.com:4317`,
		"exporters: [sapm]", "exporters: [otlp]",
	),
	has: func(factories otelcol.Factories) bool {
		_, known := factories.Exporters[component.MustNewType("sapm")]
		return known
	},
	check: func(c *configuration, found *findings) {
		for _, one := range c.running() {
			if one.factory != nil && c.isDeprecated(one) {
				found.at(one.path(), "the component %s is deprecated", one.kind)
			}
		}
	},
}

// isDeprecated tells whether a component is deprecated for a signal that it is used with.
func (c *configuration) isDeprecated(one *entry) bool {
	if factory, is := one.factory.(extension.Factory); is {
		return factory.Stability() == component.StabilityLevelDeprecated
	}
	for _, pipeline := range c.pipelines {
		if stability(one.factory, pipeline.signal) != component.StabilityLevelDeprecated {
			continue
		}
		if slices.Contains(slices.Concat(pipeline.receivers, pipeline.processors, pipeline.exporters), one) {
			return true
		}
	}
	return false
}

// signals are what the factories of receivers, processors and exporters have in common.
type signals interface {
	TracesStability() component.StabilityLevel
	MetricsStability() component.StabilityLevel
	LogsStability() component.StabilityLevel
}

var (
	_ signals = receiver.Factory(nil)
	_ signals = processor.Factory(nil)
	_ signals = exporter.Factory(nil)
)

func stability(factory component.Factory, signal string) component.StabilityLevel {
	known, is := factory.(signals)
	switch {
	case !is:
		return component.StabilityLevelUndefined
	case signal == "traces":
		return known.TracesStability()
	case signal == "metrics":
		return known.MetricsStability()
	case signal == "logs":
		return known.LogsStability()
	default:
		return component.StabilityLevelUndefined
	}
}
