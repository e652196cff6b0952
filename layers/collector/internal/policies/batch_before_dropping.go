package policies

import "fmt"

var batchBeforeDropping = &Policy{
	Code:     "batch_before_dropping",
	Title:    "Batches are made before data is dropped",
	Severity: Warning,
	Why: "A sampler or a filter behind batch takes data out of finished batches, so that what is sent is in small and uneven " +
		"batches, and memory is spent on what is dropped anyway.",
	WayOut: "List batch behind the samplers and filters, best as the last processor.",
	Seen:   []string{"https://github.com/dash0hq/dash0-operator/pull/652"},
	examples: fixed(receivingOTLP+`processors:
  memory_limiter:
    check_interval: 1s
    limit_percentage: 75
  batch:
  probabilistic_sampler:
    sampling_percentage: 10
`+exportingOTLP+`service:
  pipelines:
    traces:
      receivers: [otlp]
      processors: [memory_limiter, batch, probabilistic_sampler]
      exporters: [otlp]
`,
		"processors: [memory_limiter, batch, probabilistic_sampler]", "processors: [memory_limiter, probabilistic_sampler, batch]",
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.pipelines {
			at := first(one.processors, isBatch)
			if at < 0 {
				continue
			}
			for _, later := range one.processors[at+1:] {
				if isSampler(later) || later.is("filter") {
					found.atPosition(append(one.path, "processors"), c.listedAt(one, "processors", one.processors[at]),
						fmt.Sprintf("%s comes before %s in the pipeline %s", one.processors[at].id, later.id, one.id))
					break
				}
			}
		}
	},
}
