package policies

var tracesNotRoutedByTrace = &Policy{
	Code:     "traces_not_routed_by_trace",
	Title:    "Traces are balanced by something else than the trace",
	Severity: Information,
	Why: "With this routing_key the spans of one trace go to several collectors. That is right for metrics of each " +
		"service, and wrong for tail_sampling and for anything else behind it that looks at whole traces.",
	WayOut: "Set routing_key to traceID, unless what is behind goes by service; then say so in a comment.",
	examples: fixed(receivingOTLP+`processors:
  memory_limiter:
    check_interval: 1s
    limit_percentage: 75
exporters:
  loadbalancing:
    routing_key: service
    protocol:
      otlp:
    resolver:
      dns:
        hostname: collectors.example.com
service:
  pipelines:
    traces:
      receivers: [otlp]
      processors: [memory_limiter]
      exporters: [loadbalancing]
`,
		"routing_key: service", "routing_key: traceID",
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.pipelines {
			for _, exporter := range one.exporters {
				key := exporter.text("routing_key")
				if one.signal == "traces" && exporter.is("loadbalancing") && key != "" && key != "traceID" {
					found.at(exporter.path("routing_key"), "%s spreads the spans of a trace in the pipeline %s", exporter.id, one.id)
				}
			}
		}
	},
}
