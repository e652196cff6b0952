package policies

var memoryLimiterNotFirst = &Policy{
	Code:     "memory_limiter_not_first",
	Title:    "The memory limiter is not the first processor",
	Severity: Warning,
	Why: "A memory_limiter refuses data so that the receiver can tell the sender. Behind another processor it refuses what that " +
		"processor has accepted already: a batch is dropped instead of sent again.",
	WayOut: "List memory_limiter first in the pipeline's processors.",
	Seen:   []string{"https://github.com/grafana/agent-modules/pull/35"},
	examples: fixed(receivingOTLP+`processors:
  batch:
  memory_limiter:
    check_interval: 1s
    limit_percentage: 75
`+exportingOTLP+`service:
  pipelines:
    traces:
      receivers: [otlp]
      processors: [batch, memory_limiter]
      exporters: [otlp]
`,
		"processors: [batch, memory_limiter]", "processors: [memory_limiter, batch]",
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.pipelines {
			if at := first(one.processors, isMemoryLimiter); at > 0 {
				found.at(append(one.path, "processors"), "%s comes after %s in the pipeline %s",
					one.processors[at].id, one.processors[0].id, one.id)
			}
		}
	},
}
