package policies

import (
	"strings"
	"time"
)

var spanMetricsUnbounded = &Policy{
	Code:     "span_metrics_unbounded",
	Title:    "Span metrics have no limit and never expire",
	Severity: Information,
	Why: "spanmetrics keeps a time series for each combination of service, span name and dimensions. By default none of " +
		"them expires, and their number has no limit: one service with an id in its span names fills the memory.",
	WayOut: "Set aggregation_cardinality_limit, for example to 10000, or metrics_expiration, for example to 10m.",
	Seen:   []string{"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/38990"},
	examples: fixed(receivingOTLP+`connectors:
  spanmetrics:
`+exportingOTLP+`service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [otlp, spanmetrics]
    metrics:
      receivers: [spanmetrics]
      exporters: [otlp]
`,
		"spanmetrics:", `spanmetrics:
    aggregation_cardinality_limit: 10000
    metrics_expiration: 10m`,
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("connectors").of("spanmetrics") {
			if one.read() == nil || one.number("aggregation_cardinality_limit") > 0 ||
				strings.HasSuffix(one.text("aggregation_temporality"), "DELTA") || expires(one, "metrics_expiration") ||
				expires(one, "series_expiration") || one.unknown("aggregation_cardinality_limit") {
				continue
			}
			found.at(one.path(), "%s keeps every time series for ever", one.id)
		}
	},
}

func expires(one *entry, setting string) bool {
	after, err := time.ParseDuration(one.text(setting))
	return err == nil && after > 0 || one.unknown(setting)
}
