package policies

import (
	"slices"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/otelcol"
)

// connectorPutsOutNothing: https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/41769, 38304
var connectorPutsOutNothing = &Policy{
	Code:     "connector_puts_out_nothing",
	Title:    "A connector makes no metrics of what it gets",
	Severity: Warning,
	Why: "sum, and count without settings before 0.143.0, make the metrics that their settings name, and no others. A " +
		"pipeline of another signal goes in, and nothing comes out.",
	WayOut: "Name a metric of the pipeline's signal: logs, spans, spanevents, metrics or datapoints.",
	examples: fixed(receivingOTLP+`connectors:
  sum:
    spans:
      cost:
        source_attribute: cost
`+exportingOTLP+`service:
  pipelines:
    logs:
      receivers: [otlp]
      exporters: [sum]
    metrics:
      receivers: [sum]
      exporters: [otlp]
`,
		"spans:", "logs:",
	),
	has: func(factories otelcol.Factories) bool {
		_, known := factories.Connectors[component.MustNewType("sum")]
		return known
	},
	check: func(c *configuration, found *findings) {
		for _, pipeline := range c.pipelines {
			fields := countedFields[pipeline.signal]
			for _, one := range pipeline.exporters {
				if len(fields) == 0 || one.section != "connectors" || !one.is("count", "sum") || one.read() == nil || one.unknown() {
					continue
				}
				makesMetrics := slices.ContainsFunc(fields, func(field string) bool {
					metrics, _ := one.allSettings()[field].(map[string]any)
					return len(metrics) > 0 || one.unknown(field)
				})
				if !makesMetrics {
					found.at(one.path(), "%s makes no metrics of %s", one.id, pipeline.signal)
				}
			}
		}
	},
}

// countedFields are the settings of count and sum about each signal.
var countedFields = map[string][]string{
	"traces": {"spans", "spanevents"}, "metrics": {"metrics", "datapoints"}, "logs": {"logs"},
}
