package policies

var metricsAfterSampling = &Policy{
	Code:     "metrics_after_sampling",
	Title:    "Metrics are made of what a sampler has left",
	Severity: Warning,
	Why: "spanmetrics and servicegraph count the spans that reach them. Behind a sampler they count the sampled ones, so " +
		"that rates are too low by the sampling, and errors that a tail sampler prefers are too many.",
	WayOut: "Make the metrics in a pipeline before sampling: receive, then export to the connector and to forward; sample in " +
		"the pipeline that receives from forward.",
	Seen: []string{"https://github.com/grafana/k8s-monitoring-helm/issues/1957"},
	examples: fixed(receivingOTLP+`processors:
  memory_limiter:
    check_interval: 1s
    limit_percentage: 75
  probabilistic_sampler:
    sampling_percentage: 10
connectors:
  spanmetrics:
    aggregation_cardinality_limit: 10000
`+exportingOTLP+`service:
  pipelines:
    traces:
      receivers: [otlp]
      processors: [memory_limiter, probabilistic_sampler]
      exporters: [otlp, spanmetrics]
    metrics:
      receivers: [spanmetrics]
      exporters: [otlp]
`,
		"aggregation_cardinality_limit: 10000", `aggregation_cardinality_limit: 10000
  forward:`,
		`processors: [memory_limiter, probabilistic_sampler]
      exporters: [otlp, spanmetrics]`, `processors: [memory_limiter]
      exporters: [spanmetrics, forward]
    traces/sampled:
      receivers: [forward]
      processors: [probabilistic_sampler]
      exporters: [otlp]`,
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.pipelines {
			at := first(one.exporters, func(e *entry) bool { return e.is("spanmetrics", "servicegraph") })
			if at < 0 {
				continue
			}
			for _, before := range c.feeding(one) {
				if sampler := first(before.processors, isSampler); sampler >= 0 {
					found.at(append(one.path, "exporters"), "%s counts only the spans that %s leaves",
						one.exporters[at].id, before.processors[sampler].id)
					break
				}
			}
		}
	},
}
