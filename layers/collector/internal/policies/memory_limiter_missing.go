package policies

var memoryLimiterMissing = &Policy{
	Code:     "memory_limiter_missing",
	Title:    "A pipeline receives data without a memory limiter",
	Severity: Warning,
	Why: "Data that arrives faster than it can be sent is held in memory. Without a memory_limiter the collector grows until " +
		"the system kills it, and everything that it held is lost.",
	WayOut: "Add a memory_limiter to processors, and list it first in every pipeline that has receivers.",
	examples: fixed(`receivers:
  otlp:
    protocols:
      grpc:
`+exportingOTLP+`service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [otlp]
`,
		"grpc:", `grpc:
processors:
  memory_limiter:
    check_interval: 1s
    limit_percentage: 75
    spike_limit_percentage: 20`,
		"receivers: [otlp]", `receivers: [otlp]
      processors: [memory_limiter]`,
	),
	check: func(c *configuration, found *findings) {
		for _, extension := range c.started {
			if extension.is("memory_limiter") {
				return // receivers may refuse data by it
			}
		}
		for _, one := range c.pipelines {
			if one.hasReceiver() && first(one.processors, isMemoryLimiter) < 0 && !c.unknown(append(one.path, "processors")...) {
				found.at(append(one.path, "processors"), "the pipeline %s has no memory_limiter", one.id)
			}
		}
	},
}

func isMemoryLimiter(one *entry) bool { return one.is("memory_limiter") }
