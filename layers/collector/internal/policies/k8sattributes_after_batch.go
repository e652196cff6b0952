package policies

var k8sAttributesAfterBatch = &Policy{
	Code:     "k8sattributes_after_batch",
	Title:    "k8sattributes looks for a connection that a batch has lost",
	Severity: Warning,
	Why: "k8sattributes finds a pod by the address that the data came from. batch, tail_sampling and groupbytrace put data " +
		"of many connections together, and the address is gone: no attributes are added, and nothing tells.",
	WayOut: "List k8sattributes before batch and the samplers, or associate by a resource attribute such as k8s.pod.uid.",
	Seen:   []string{"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/29630"},
	examples: fixed(receivingOTLP+`processors:
  memory_limiter:
    check_interval: 1s
    limit_percentage: 75
  k8sattributes:
    auth_type: none
    pod_association:
      - sources:
          - from: connection
  batch:
`+exportingOTLP+`service:
  pipelines:
    traces:
      receivers: [otlp]
      processors: [memory_limiter, batch, k8sattributes]
      exporters: [otlp]
`,
		"processors: [memory_limiter, batch, k8sattributes]", "processors: [memory_limiter, k8sattributes, batch]",
	),
	check: func(c *configuration, found *findings) {
		regroups := func(one *entry) bool { return one.is("batch", "tail_sampling", "groupbytrace") }
		for _, one := range c.pipelines {
			at := first(one.processors, regroups)
			if at < 0 {
				continue
			}
			for _, later := range one.processors[at+1:] {
				if later.is("k8sattributes") && usesConnection(later) {
					found.at(append(one.path, "processors"), "%s comes after %s in the pipeline %s and goes by the connection",
						later.id, one.processors[at].id, one.id)
				}
			}
		}
	},
}

// usesConnection tells whether a k8sattributes finds pods by the connection, as it does without an association.
func usesConnection(one *entry) bool {
	associations := one.list("pod_association")
	for _, association := range associations {
		sources, _ := below(association, []string{"sources"}).([]any)
		for _, source := range sources {
			if from, _ := below(source, []string{"from"}).(string); from == "connection" {
				return true
			}
		}
	}
	return len(associations) == 0 && !one.on("passthrough")
}
