package policies

var splitTraces = &Policy{
	Code:     "split_traces",
	Title:    "A tail sampler gets parts of traces",
	Severity: Warning,
	Why: "tail_sampling decides on a whole trace, so all its spans must come to one instance. Before the load balancing, " +
		"or behind a round robin, each sampler sees some of the spans and decides on its own: traces lose spans, and " +
		"errors are missed.",
	WayOut: "Balance by trace first: a layer of collectors with the loadbalancing exporter and routing_key traceID, and " +
		"tail_sampling in the layer behind it.",
	examples: fixed(receivingOTLP+`processors:
  memory_limiter:
    check_interval: 1s
    limit_percentage: 75
  tail_sampling:
    policies:
      - name: errors
        type: status_code
        status_code:
          status_codes: [ERROR]
exporters:
  loadbalancing:
    routing_key: traceID
    protocol:
      otlp:
    resolver:
      dns:
        hostname: collectors.example.com
service:
  pipelines:
    traces:
      receivers: [otlp]
      processors: [memory_limiter, tail_sampling]
      exporters: [loadbalancing]
`,
		`  tail_sampling:
    policies:
      - name: errors
        type: status_code
        status_code:
          status_codes: [ERROR]
`, "",
		"processors: [memory_limiter, tail_sampling]", "processors: [memory_limiter]",
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.pipelines {
			at := first(one.processors, func(e *entry) bool { return e.is("tail_sampling", "groupbytrace") })
			if at < 0 || one.signal != "traces" {
				continue
			}
			sampler := one.processors[at].id
			for _, exporter := range one.exporters {
				key := exporter.text("routing_key")
				if exporter.is("loadbalancing") && (key == "" || key == "traceID") && !exporter.unknown("routing_key") {
					found.at(append(one.path, "processors"), "%s decides before %s brings the spans of a trace together", sampler, exporter.id)
				}
			}
			for _, before := range one.receivers {
				if before.is("roundrobin") {
					found.at(append(one.path, "receivers"), "%s spreads the spans of a trace, and %s decides on parts", before.id, sampler)
				}
			}
		}
	},
}
