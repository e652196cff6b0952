package policies

import (
	"slices"
	"strings"
)

var deltasToRemoteWrite = &Policy{
	Code:     "deltas_to_remote_write",
	Title:    "prometheusremotewrite gets deltas, and drops them",
	Severity: Error,
	Why: "Prometheus takes cumulative sums and histograms. The exporter drops each one that is a delta, as count, sum and " +
		"signaltometrics, statsd and cumulativetodelta make them: invalid temporality and type combination.",
	WayOut: "Add deltatocumulative to the pipeline, or take cumulativetodelta out of it.",
	Seen:   []string{"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/37164"},
	examples: fixed(receivingOTLP+`connectors:
  count:
    logs:
      app.errors:
        conditions: [severity_number >= 17]
exporters:
  prometheusremotewrite:
    endpoint: https://prometheus.example.com/api/v1/write
service:
  pipelines:
    logs:
      receivers: [otlp]
      exporters: [count]
    metrics:
      receivers: [count]
      exporters: [prometheusremotewrite]
`,
		"conditions: [severity_number >= 17]", `conditions: [severity_number >= 17]
processors:
  deltatocumulative:`,
		"receivers: [count]", `receivers: [count]
      processors: [deltatocumulative]`,
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.pipelines {
			to := first(one.exporters, func(exporter *entry) bool { return exporter.is("prometheusremotewrite") })
			if to < 0 {
				continue
			}
			for _, from := range slices.Concat(one.receivers, one.processors) {
				after := one.processors[first(one.processors, func(processor *entry) bool { return processor == from })+1:]
				if from.makesDeltas() && first(after, func(processor *entry) bool { return processor.is("deltatocumulative") }) < 0 {
					found.atPosition(append(one.path, "exporters"), c.listedAt(one, "exporters", one.exporters[to]),
						one.exporters[to].id+" drops the deltas of "+from.id+" in the pipeline "+one.id)
				}
			}
		}
	},
}

// makesDeltas tells whether a component puts out sums or histograms that are deltas.
func (e *entry) makesDeltas() bool {
	switch e.section {
	case "connectors":
		return e.is("count", "sum", "signaltometrics") || e.is("spanmetrics") && strings.HasSuffix(e.text("aggregation_temporality"), "DELTA")
	case "receivers":
		return e.is("statsd")
	}
	return e.is("cumulativetodelta") && e.read() != nil && !e.sets("include") && !e.sets("exclude")
}
