package policies

var samplerDropsAll = &Policy{
	Code:     "sampler_drops_all",
	Title:    "probabilistic_sampler drops every record, or every log record without a trace ID",
	Severity: Warning,
	Why: "Without sampling_percentage it keeps nothing. It decides by the trace ID, and drops log records that have none: " +
		"those of files, of syslog, and whatever is logged outside of a span.",
	WayOut: "Set sampling_percentage. For logs, set attribute_source: record and from_attribute to an attribute that differs " +
		"between records, or fail_closed: false to keep records without a trace ID.",
	Seen: []string{"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/31946"},
	examples: fixed(receivingOTLP+`processors:
  probabilistic_sampler:
    sampling_percentage: 50
`+exportingOTLP+`service:
  pipelines:
    logs:
      receivers: [otlp]
      processors: [probabilistic_sampler]
      exporters: [otlp]
`,
		"sampling_percentage: 50", `sampling_percentage: 50
    attribute_source: record
    from_attribute: request.id`,
	),
	check: func(c *configuration, found *findings) {
		for _, pipeline := range c.pipelines {
			for _, one := range pipeline.processors {
				if !one.is("probabilistic_sampler") || one.read() == nil || one.unknown("sampling_percentage") {
					continue
				}
				switch {
				case !one.sets("sampling_percentage") && one.text("sampling_priority") == "":
					found.at(one.path(), "%s has no sampling_percentage: it drops everything", one.id)
				case pipeline.signal == "logs" && one.dropsWithoutTraceID():
					found.at(one.path(), "%s drops log records without a trace ID", one.id)
				}
			}
		}
	},
}

// dropsWithoutTraceID tells whether a sampler has nothing else to decide by, and drops what it cannot decide on.
func (e *entry) dropsWithoutTraceID() bool {
	return e.on("fail_closed") && e.text("from_attribute") == "" && e.text("sampling_priority") == "" &&
		e.number("sampling_percentage") < 100
}
